use super::{HALF_QUEUE, TRANSACTION_GROUP};
use crate::broker_context::BrokerContext;
use crate::consumer_offset_manager::CommitOutcome;
use crate::log_backed_progress::LogBackedProgress;
use crate::topic_validator::{RMQ_SYS_TRANS_HALF_TOPIC, RMQ_SYS_TRANS_OP_HALF_TOPIC};
use store_core::LogPositions;

/// How far a round of checks has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Checked {
    /// Everything below in the half topic is finished, given up, or copied to a later place.
    pub(super) half: u64,
    /// First op record that whoever continues there must read.
    pub(super) op: u64,
    /// End of the log after the round: commits and copies it counts on lie below.
    pub(super) log_end: u64,
}

/// Which progress may be saved: what it counts on, commits and copies in the log, is durable.
#[derive(Debug)]
pub(super) struct CheckProgress {
    /// What is saved.
    saved: Checked,
    held: LogBackedProgress<Checked>,
}

impl CheckProgress {
    /// Where an earlier run, of this broker or of Apache's, left off.
    pub(super) fn load(context: &BrokerContext) -> Self {
        let load = |topic: &str| {
            let range = context.store.offsets(topic, HALF_QUEUE);
            let saved = context.offsets.query_offset(TRANSACTION_GROUP, topic, HALF_QUEUE);
            let saved = saved.and_then(|offset| u64::try_from(offset).ok());
            if let Some(saved) = saved.filter(|saved| *saved > range.max) {
                // The log has lost its end; what comes now gets those offsets again and must not be passed over.
                tracing::warn!(
                    topic,
                    saved,
                    end = range.max,
                    "transactions: the queue ends before its saved progress"
                );
            }
            saved.map_or(range.min, |saved| saved.max(range.min).min(range.max))
        };
        let saved = Checked {
            half: load(RMQ_SYS_TRANS_HALF_TOPIC),
            op: load(RMQ_SYS_TRANS_OP_HALF_TOPIC),
            log_end: 0,
        };
        Self { saved, held: LogBackedProgress::default() }
    }

    /// What is saved.
    pub(super) fn saved(&self) -> Checked {
        self.saved
    }

    /// Takes the progress of a round; returns what may be saved now that the log is durable up to `flushed`.
    pub(super) fn advance(&mut self, checked: Checked, flushed: u64) -> Option<Checked> {
        let positions = LogPositions { end: checked.log_end, durable: flushed };
        let ready = self.held.advance(checked, positions);
        let ready = ready.filter(|ready| (ready.half, ready.op) != (self.saved.half, self.saved.op))?;
        self.saved = ready;
        Some(ready)
    }
}

/// Makes progress the consumer offsets of the group.
pub(super) fn commit(context: &BrokerContext, checked: Checked) {
    let now = context.now();
    for (topic, offset) in
        [(RMQ_SYS_TRANS_HALF_TOPIC, checked.half), (RMQ_SYS_TRANS_OP_HALF_TOPIC, checked.op)]
    {
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        if context.offsets.commit_offset(TRANSACTION_GROUP, topic, HALF_QUEUE, offset, now)
            != CommitOutcome::Stored
        {
            tracing::warn!(topic, offset, "the progress of transaction checks was not taken");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(half: u64, log_end: u64) -> Checked {
        Checked { half, op: half / 2, log_end }
    }

    fn progress() -> CheckProgress {
        CheckProgress { saved: at(0, 0), held: LogBackedProgress::default() }
    }

    #[test]
    fn durable_progress_is_saved_at_once() {
        let mut progress = progress();
        assert_eq!(progress.advance(at(4, 100), 100), Some(at(4, 100)));
        assert_eq!(progress.advance(at(4, 200), 200), None, "nothing has changed");
    }

    #[test]
    fn progress_waits_for_the_log() {
        let mut progress = progress();
        assert_eq!(progress.advance(at(4, 100), 99), None);
        assert_eq!(progress.saved(), at(0, 0));
        assert_eq!(progress.advance(at(6, 200), 99), None, "the first is still held back");
        assert_eq!(progress.advance(at(8, 300), 150), Some(at(4, 100)));
        assert_eq!(progress.advance(at(8, 300), 299), None);
        assert_eq!(progress.advance(at(8, 300), 300), Some(at(8, 300)));
    }

    #[test]
    fn a_busy_log_does_not_put_it_off_for_ever() {
        let mut progress = progress();
        let saved =
            (1..20).filter_map(|round| progress.advance(at(round, round * 100), round * 100 - 50)).count();
        assert!(saved > 5, "{saved} of 19");
    }
}
