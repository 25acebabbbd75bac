//! Progress that may be saved only once the log is durable that far.

use store_core::LogPositions;

/// Holds progress back until what it counts on is durable.
///
/// Small files are saved durably, the log may be durable only later. Progress that counts on records in the log is
/// therefore held back until the log is durable that far: else a power cut could leave something behind that is neither
/// looked at again nor anywhere else.
#[derive(Debug)]
pub(crate) struct LogBackedProgress<P> {
    /// The oldest progress that could not be saved, and the end of the log it counts on. It is next, so that a busy log
    /// cannot put it off for ever.
    held: Option<(P, u64)>,
}

impl<P> Default for LogBackedProgress<P> {
    fn default() -> Self {
        Self { held: None }
    }
}

impl<P> LogBackedProgress<P> {
    /// Whether progress waits for the log.
    pub(crate) fn is_waiting(&self) -> bool {
        self.held.is_some()
    }

    /// Takes the present progress, whose records lie below `positions.end`; returns the latest known that may be saved.
    pub(crate) fn advance(&mut self, present: P, positions: LogPositions) -> Option<P> {
        if positions.end <= positions.durable {
            self.held = None;
            return Some(present);
        }
        match self.held.take() {
            Some((held, end)) if end <= positions.durable => {
                self.held = Some((present, positions.end));
                Some(held)
            }
            held => {
                self.held = held.or(Some((present, positions.end)));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(end: u64, durable: u64) -> LogPositions {
        LogPositions { end, durable }
    }

    #[test]
    fn the_oldest_is_next_and_the_latest_overtakes_it() {
        let mut progress = LogBackedProgress::default();
        assert_eq!(progress.advance('a', at(100, 99)), None);
        assert!(progress.is_waiting());
        assert_eq!(progress.advance('b', at(200, 99)), None);
        assert_eq!(progress.advance('c', at(300, 100)), Some('a'));
        assert_eq!(progress.advance('d', at(400, 299)), None, "c counts on more");
        assert_eq!(progress.advance('e', at(500, 500)), Some('e'));
        assert!(!progress.is_waiting());
    }
}
