use std::collections::VecDeque;
use std::time::Duration;

/// Bytes of a body beyond which no further offset is put into it (`transactionOpMsgMaxSize`).
const MAX_BODY: usize = 4096;
/// Longest wait of an offset for others (`transactionOpBatchInterval`).
const INTERVAL: Duration = Duration::from_secs(3);
/// Behind every offset of a body.
const SEPARATOR: char = ',';

/// Half offsets of finished transactions that are not in an op record yet. Times are of the monotonic clock.
#[derive(Debug, Default)]
pub struct OpBatch {
    offsets: VecDeque<u64>,
    /// Length of the body of all offsets.
    body_len: usize,
    /// When the oldest of them came, or the last attempt to write failed.
    since: Duration,
}

impl OpBatch {
    /// Adds an offset; tells whether the writer must look at the batch sooner than it planned.
    pub fn add(&mut self, half_offset: u64, now: Duration) -> bool {
        let (was_empty, was_full) = (self.offsets.is_empty(), self.is_full());
        if was_empty {
            self.since = now;
        }
        self.offsets.push_back(half_offset);
        self.body_len += body_len_of(half_offset);
        was_empty || (self.is_full() && !was_full)
    }

    fn is_full(&self) -> bool {
        self.body_len > MAX_BODY
    }

    /// How long until a record must be written; `None`: there is nothing to write.
    pub fn due_in(&self, now: Duration) -> Option<Duration> {
        if self.offsets.is_empty() {
            return None;
        }
        let waits = if self.is_full() { Duration::ZERO } else { INTERVAL };
        Some(waits.saturating_sub(now.saturating_sub(self.since)))
    }

    /// Body of the next record and the number of offsets in it; `None`: there is nothing to write.
    pub fn next_body(&self) -> Option<(String, usize)> {
        let mut body = String::new();
        let mut count = 0;
        for offset in &self.offsets {
            if body.len() > MAX_BODY {
                break;
            }
            body.push_str(&offset.to_string());
            body.push(SEPARATOR);
            count += 1;
        }
        (count > 0).then_some((body, count))
    }

    /// The oldest `count` offsets are in a record now.
    pub fn written(&mut self, count: usize) {
        for offset in self.offsets.drain(..count.min(self.offsets.len())) {
            self.body_len -= body_len_of(offset);
        }
    }

    /// The store did not take the record: the next attempt is due after the usual wait.
    pub fn not_written(&mut self, now: Duration) {
        self.since = now;
    }
}

fn body_len_of(offset: u64) -> usize {
    offset.checked_ilog10().unwrap_or(0) as usize + 2
}

/// Offsets in the body of an op record. Old releases write one without a separator behind it; what is no number is left
/// out.
pub(super) fn offsets_in(body: &[u8]) -> impl Iterator<Item = u64> {
    body.split(|byte| *byte == SEPARATOR as u8)
        .filter_map(|text| std::str::from_utf8(text).ok()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: Duration = Duration::from_secs(100);

    #[test]
    fn offsets_wait_for_others_but_not_for_long() {
        let mut batch = OpBatch::default();
        assert_eq!((batch.due_in(T0), batch.next_body()), (None, None));
        assert!(batch.add(0, T0), "the writer must wake for the first");
        assert!(!batch.add(12, T0 + Duration::from_secs(1)));
        assert_eq!(batch.due_in(T0 + Duration::from_secs(1)), Some(Duration::from_secs(2)));
        assert_eq!(batch.due_in(T0 + Duration::from_secs(9)), Some(Duration::ZERO));
        assert_eq!(batch.next_body(), Some(("0,12,".to_owned(), 2)));
        batch.not_written(T0 + Duration::from_secs(3));
        assert_eq!(batch.due_in(T0 + Duration::from_secs(3)), Some(INTERVAL));
        batch.written(2);
        assert_eq!((batch.due_in(T0), batch.body_len), (None, 0));
    }

    #[test]
    fn a_full_body_is_due_at_once_and_split() {
        let mut batch = OpBatch::default();
        let woken = (1_000..2_000).filter(|offset| batch.add(*offset, T0)).count();
        assert_eq!(woken, 2, "for the first and when it became full");
        assert_eq!(batch.due_in(T0), Some(Duration::ZERO));
        let (body, count) = batch.next_body().unwrap();
        assert_eq!((body.len(), count), (4100, 820));
        batch.written(count);
        let (body, count) = batch.next_body().unwrap();
        assert!(body.starts_with("1820,") && body.ends_with(",1999,"));
        assert_eq!((count, batch.body_len), (180, 900));
        assert_eq!(batch.due_in(T0), Some(INTERVAL));
    }

    #[test]
    fn lengths_are_those_of_the_text() {
        for offset in [0, 9, 10, 99, 100, u64::MAX] {
            assert_eq!(body_len_of(offset), offset.to_string().len() + 1, "{offset}");
        }
    }

    #[test]
    fn reads_bodies_of_all_releases() {
        assert_eq!(offsets_in(b"0,1,2,3,4,").collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert_eq!(offsets_in(b"17").collect::<Vec<_>>(), [17]);
        assert_eq!(offsets_in(b",x,-1,\xFF,5,").collect::<Vec<_>>(), [5]);
        assert_eq!(offsets_in(b"").count(), 0);
    }
}
