use super::op_batch::OpBatch;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Finished transactions and copies that are remembered although the checks have passed them.
const REMEMBERED: usize = 100_000;

/// What is known of the half messages: which are finished, and which are copies of which. All numbers are offsets in the
/// half topic.
#[derive(Debug, Default)]
pub struct TransactionState {
    /// Newest offsets of finished transactions. Those at or above `checked_to` are all here.
    finished: BTreeSet<u64>,
    /// From a half message to a later copy of it.
    copies: BTreeMap<u64, u64>,
    /// The checks are done with everything below.
    checked_to: u64,
    /// Finished, and not in an op record yet.
    ops: OpBatch,
}

impl TransactionState {
    /// The newest copy of a half message, itself when there is none.
    fn newest(&self, offset: u64) -> u64 {
        let mut newest = offset;
        while let Some(copy) = self.copies.get(&newest) {
            newest = *copy;
        }
        newest
    }

    /// Whether the transaction of a half message is known to be finished.
    pub fn is_finished(&self, offset: u64) -> bool {
        self.finished.contains(&self.newest(offset))
    }

    /// Notes that a transaction is finished, by whichever of its offsets; tells whether the check service must be woken
    /// to write it down.
    pub fn finish(&mut self, offset: u64, now: Duration) -> bool {
        let newest = self.newest(offset);
        self.finished.insert(newest);
        let mut wake = self.ops.add(newest, now);
        if newest != offset {
            // A broker that does not know the copies looks for the offset the producer knows.
            wake |= self.ops.add(offset, now);
        }
        wake
    }

    /// Notes what an op record says.
    pub fn finished_before(&mut self, offset: u64) {
        self.finished.insert(self.newest(offset));
    }

    /// Notes that a half message has been appended again.
    pub fn copied(&mut self, offset: u64, copy: u64) {
        let newest = self.newest(offset);
        // Copies lie behind what they are copies of; anything else would lead in circles.
        if newest < copy {
            self.copies.insert(newest, copy);
            if self.finished.contains(&newest) {
                self.finished.insert(copy);
            }
        }
    }

    /// Notes how far the checks are, and forgets what has become old.
    pub fn set_checked_to(&mut self, offset: u64) {
        self.checked_to = offset;
        while self.finished.len() > REMEMBERED && self.finished.first().is_some_and(|first| *first < offset) {
            self.finished.pop_first();
        }
        while self.copies.len() > REMEMBERED {
            self.copies.pop_first();
        }
    }

    /// Offsets that are to be written into op records.
    pub fn ops(&mut self) -> &mut OpBatch {
        &mut self.ops
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::ZERO;

    #[test]
    fn a_half_message_and_its_copies_are_one_transaction() {
        for finished_by in [2, 7, 9] {
            let mut state = TransactionState::default();
            state.copied(2, 7);
            state.copied(7, 9);
            assert!(!state.is_finished(2));
            state.finish(finished_by, NOW);
            assert!([2, 7, 9].into_iter().all(|offset| state.is_finished(offset)), "by {finished_by}");
            assert!(!state.is_finished(3));
        }
    }

    #[test]
    fn op_records_name_the_newest_copy_and_what_the_producer_knows() {
        let mut state = TransactionState::default();
        state.copied(2, 7);
        assert!(state.finish(2, NOW));
        state.finish(5, NOW);
        assert_eq!(state.ops().next_body(), Some(("7,2,5,".to_owned(), 3)));
    }

    #[test]
    fn op_records_count_for_copies_too() {
        let mut state = TransactionState::default();
        state.finished_before(4);
        assert!(state.is_finished(4));
        state.copied(3, 8);
        state.finished_before(3);
        assert!(state.is_finished(8));
        state.copied(4, 11);
        assert!(state.is_finished(11), "what is finished stays so");
    }

    #[test]
    fn copies_never_lead_in_circles() {
        let mut state = TransactionState::default();
        state.copied(5, 5);
        state.copied(9, 5);
        state.copied(5, 9);
        state.copied(9, 5);
        assert_eq!((state.newest(5), state.newest(9)), (9, 9));
    }

    #[test]
    fn only_what_has_been_checked_is_forgotten() {
        let mut state = TransactionState::default();
        let count = REMEMBERED as u64 + 10;
        for offset in 0..count {
            state.finished_before(offset);
            state.copied(count + offset, 2 * count + offset);
        }
        state.set_checked_to(5);
        assert_eq!((state.finished.first(), state.finished.len()), (Some(&5), REMEMBERED + 5));
        state.set_checked_to(count);
        assert_eq!(state.finished.len(), REMEMBERED);
        assert_eq!(state.copies.len(), REMEMBERED);
    }
}
