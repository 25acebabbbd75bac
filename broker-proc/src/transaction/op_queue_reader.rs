use super::op_batch::offsets_in;
use super::{HALF_QUEUE, TransactionState};
use crate::topic_validator::RMQ_SYS_TRANS_OP_HALF_TOPIC;
use std::collections::VecDeque;
use store_core::properties::{get, names};
use store_core::record_format::{Decoded, decode};
use store_core::{GetRequest, MessageStore};

/// Records read at once.
const BATCH: u32 = 32;
/// Tag of records that say "finished".
pub(super) const REMOVE_TAG: &str = "d";

/// Reads the op records in order and knows which of them still matter.
#[derive(Debug)]
pub(super) struct OpQueueReader {
    /// Offset of the next record.
    next: u64,
    /// Records read whose half messages the checks may not have passed yet: offset and largest half offset.
    outstanding: VecDeque<(u64, u64)>,
}

impl OpQueueReader {
    /// A reader that begins with the record at `next`.
    pub(super) fn new(next: u64) -> Self {
        Self { next, outstanding: VecDeque::new() }
    }

    /// Takes some records in; `false` when there are no more.
    pub(super) fn read_some(&mut self, store: &dyn MessageStore, state: &mut TransactionState) -> bool {
        let Ok(offset) = i64::try_from(self.next) else { return false };
        let topic = RMQ_SYS_TRANS_OP_HALF_TOPIC;
        let request = GetRequest { topic, queue_id: HALF_QUEUE, offset, max_messages: BATCH, filter: None };
        let found = store.get(&request);
        if found.messages.is_empty() {
            // Expired records are skipped; a queue that is shorter than it was is read on at its end.
            let moved = found.next_begin_offset != self.next && found.max_offset > 0;
            if moved {
                self.next = found.next_begin_offset;
            }
            return moved;
        }
        for record in &found.messages {
            self.take(record, state);
        }
        true
    }

    fn take(&mut self, record: &[u8], state: &mut TransactionState) {
        let Ok(Decoded::Record(view)) = decode(record, false) else {
            tracing::error!(op_offset = self.next, "an op record cannot be read and is skipped");
            self.next += 1;
            return;
        };
        let op_offset = u64::try_from(view.queue_offset).unwrap_or(self.next);
        self.next = op_offset + 1;
        if get(view.properties, names::TAGS) != Some(REMOVE_TAG) {
            return;
        }
        let mut largest = None;
        for half_offset in offsets_in(view.body) {
            state.finished_before(half_offset);
            largest = largest.max(Some(half_offset));
        }
        if let Some(largest) = largest {
            self.outstanding.push_back((op_offset, largest));
        }
    }

    /// First record that whoever continues the checks at `checked_to` must read.
    pub(super) fn needed_from(&mut self, checked_to: u64) -> u64 {
        while self.outstanding.front().is_some_and(|(_, largest)| *largest < checked_to) {
            self.outstanding.pop_front();
        }
        self.outstanding.front().map_or(self.next, |(op_offset, _)| *op_offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store_core::Message;
    use store_core::record_format::{RecordPlace, encode_whole};

    /// An op record as it is stored.
    fn op_record(op_offset: u64, body: &[u8], tag: &str) -> Vec<u8> {
        let properties = format!("TAGS\u{1}{tag}\u{2}");
        let message = Message {
            topic: RMQ_SYS_TRANS_OP_HALF_TOPIC,
            queue_id: 0,
            flag: 0,
            sys_flag: 0,
            born_timestamp: 0,
            born_host: "127.0.0.1:1".parse().unwrap(),
            store_host: "127.0.0.1:2".parse().unwrap(),
            reconsume_times: 0,
            prepared_transaction_offset: 0,
            body,
            properties: &properties,
        };
        let place = RecordPlace { queue_offset: op_offset, phy_offset: 0, store_timestamp: 0 };
        encode_whole(&message, body.len(), false, &place).unwrap()
    }

    #[test]
    fn records_matter_until_the_checks_have_passed_them() {
        let mut state = TransactionState::default();
        let mut reader = OpQueueReader::new(0);
        // The end of Apache's recorded store.
        for (op_offset, body) in ["0,1,2,3,4,", "9,8,", "13,"].into_iter().enumerate() {
            reader.take(&op_record(op_offset as u64, body.as_bytes(), "d"), &mut state);
        }
        assert!([0, 1, 2, 3, 4, 8, 9, 13].into_iter().all(|offset| state.is_finished(offset)));
        assert!([5, 6, 7, 10, 11, 12, 14].into_iter().all(|offset| !state.is_finished(offset)));
        let needed: Vec<u64> = [4, 5, 9, 10, 13, 14].into_iter().map(|at| reader.needed_from(at)).collect();
        assert_eq!(needed, [0, 1, 1, 2, 2, 3]);
    }

    #[test]
    fn other_records_are_passed() {
        let mut state = TransactionState::default();
        let mut reader = OpQueueReader::new(0);
        reader.take(&op_record(0, b"5,", "x"), &mut state);
        reader.take(&op_record(1, b"", "d"), &mut state);
        reader.take(b"no record", &mut state);
        assert!(!state.is_finished(5));
        assert_eq!(reader.needed_from(0), 3);
    }
}
