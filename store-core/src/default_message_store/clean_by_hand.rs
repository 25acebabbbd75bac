//! Cleaning that an administrator asks for (`deleteExpiredCommitLog`).

use super::Shared;
use crate::sync::Ordering;

/// Rounds of cleaning that one request of an administrator is good for.
const ROUNDS_BY_HAND: u32 = 20;

impl Shared {
    /// Lets expired log files go at any hour for some rounds.
    pub(crate) fn clean_by_hand(&self) {
        self.rounds_by_hand.store(ROUNDS_BY_HAND, Ordering::Release);
    }

    /// True when a round that begins now was asked for; the round is used up then.
    pub(crate) fn take_round_by_hand(&self) -> bool {
        let used = |left: u32| left.checked_sub(1);
        self.rounds_by_hand.fetch_update(Ordering::AcqRel, Ordering::Acquire, used).is_ok()
    }
}
