//! From a time to a queue offset.

use super::ConsumeQueue;
use super::format::Unit;

/// Which of the neighbours of a time is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BoundaryType {
    /// The first message stored at the time or later. The default of the protocol.
    #[default]
    Lower,
    /// The last message stored at the time or earlier.
    Upper,
}

impl ConsumeQueue {
    /// Queue offset by store time; `store_time` looks a unit's record up in the log (`None`: no longer there, so too
    /// old). Always within the queue's range: LOWER of a time after the last message is the end, UPPER of a time before
    /// the first is the first.
    pub fn offset_by_time(
        &self,
        timestamp: i64,
        boundary: BoundaryType,
        store_time: impl Fn(&Unit) -> Option<i64>,
    ) -> u64 {
        let (min, max) = (self.min_offset(), self.max_offset());
        let time_at = |queue_offset| {
            // A place without a message is as old as the next message, and younger than all when there is none: times
            // never go back along a queue.
            let message = self.message_from(queue_offset);
            message.map_or(i64::MAX, |(_, unit)| store_time(&unit).unwrap_or(i64::MIN))
        };
        match boundary {
            BoundaryType::Lower => {
                let found = first_where(min, max, |at| time_at(at) >= timestamp);
                // Lost places behind the last message belong to the end.
                self.message_from(found).map_or(max, |_| found)
            }
            BoundaryType::Upper => {
                let is_behind = |at| self.message_from(at).is_none() || time_at(at) > timestamp;
                let behind = first_where(min, max, is_behind);
                behind.saturating_sub(1).max(min)
            }
        }
    }
}

/// First of `from..to` for which `holds` is true, given that it stays true from there on; `to` when none.
pub(crate) fn first_where(mut from: u64, mut to: u64, holds: impl Fn(u64) -> bool) -> u64 {
    while from < to {
        let middle = from + (to - from) / 2;
        if holds(middle) { to = middle } else { from = middle + 1 }
    }
    from
}
