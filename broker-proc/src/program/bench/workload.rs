//! Messages that can be told apart and checked: the number of a message is the beginning of its body.

use anyhow::{Result, anyhow, ensure};
use serde::{Deserialize, Serialize};
use store_core::{Message, MessageStore, record_format};

/// Topic of all messages.
pub(super) const TOPIC: &str = "BenchTest";
/// Messages of one read while they are checked.
const CHECKED_AT_ONCE: u32 = 32;
/// Bits of a message number that count within its thread.
const THREAD_SHIFT: u32 = 40;
/// Begin of the property string; 16 digits and the end of the property follow.
const UNIQUE_ID: &str = "UNIQ_KEY\u{1}";

/// The number of the `index`-th message of a thread.
pub(super) fn message_number(thread: u32, index: u64) -> u64 {
    u64::from(thread) << THREAD_SHIFT | index
}

/// Body and properties of one message after the other.
#[derive(Debug)]
pub(super) struct MessageSource {
    body: Vec<u8>,
    properties: String,
}

impl MessageSource {
    /// Bodies of `size` bytes, at least 8.
    pub(super) fn new(size: u32) -> Self {
        let mut body = pattern(size as usize);
        body[..8].fill(0);
        Self { body, properties: String::with_capacity(UNIQUE_ID.len() + 17) }
    }

    /// The message of a number.
    pub(super) fn message(&mut self, number: u64, queue_id: i32, born_timestamp: i64) -> Message<'_> {
        self.body[..8].copy_from_slice(&number.to_be_bytes());
        self.properties.clear();
        self.properties.push_str(UNIQUE_ID);
        for shift in (0..64).step_by(4).rev() {
            let digit = (number >> shift & 0xF) as u8;
            self.properties.push(char::from(if digit < 10 { b'0' + digit } else { b'A' - 10 + digit }));
        }
        self.properties.push('\u{2}');
        Message {
            topic: TOPIC,
            queue_id,
            flag: 0,
            sys_flag: 0,
            born_timestamp,
            born_host: std::net::SocketAddr::from(([127, 0, 0, 1], 40_000)),
            store_host: std::net::SocketAddr::from(([127, 0, 0, 1], 10_911)),
            reconsume_times: 0,
            prepared_transaction_offset: 0,
            body: &self.body,
            properties: &self.properties,
        }
    }
}

/// Bytes that no disk compresses away and everybody can make again.
pub(super) fn pattern(len: usize) -> Vec<u8> {
    let mut state = 0_u64;
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        state += 1;
        bytes.extend_from_slice(&mixed(state).to_be_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// Spreads a number over all bits (the finalizer of SplitMix64), so that sums of them tell sets of numbers apart.
fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ bits >> 31
}

/// How many messages, and a checksum over their numbers that does not depend on their order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tally {
    pub(super) count: u64,
    sum: u64,
}

impl Tally {
    /// One more message.
    pub(super) fn add(&mut self, number: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(mixed(number));
    }

    /// Those of another tally as well.
    pub(super) fn add_all(&mut self, other: &Self) {
        self.count += other.count;
        self.sum = self.sum.wrapping_add(other.sum);
    }

    /// Of the first messages of each thread.
    pub(super) fn of_threads(counts: &[u64]) -> Self {
        let mut tally = Self::default();
        for (thread, count) in (0..).zip(counts) {
            for index in 0..*count {
                tally.add(message_number(thread, index));
            }
        }
        tally
    }

    /// The checksum, as it is shown.
    pub(super) fn checksum(&self) -> String {
        format!("{:016X}", self.sum)
    }
}

/// Takes the number out of a record and checks every byte of its body, and its CRC.
///
/// # Errors
///
/// What is wrong with the record.
pub(super) fn check_record(record: &[u8], expected: &[u8]) -> Result<u64> {
    let record_format::Decoded::Record(view) = record_format::decode(record, true)? else {
        return Err(anyhow!("expected a record, found the unused rest of a file"));
    };
    let (number, rest) =
        view.body.split_first_chunk::<8>().ok_or_else(|| anyhow!("a body without number"))?;
    let number = u64::from_be_bytes(*number);
    ensure!(rest == &expected[8..], "the body of message {number:X} is not what was put");
    Ok(number)
}

/// Reads the whole topic back and checks every message. `progress` is told of each batch.
///
/// # Errors
///
/// A message that is not what was put.
pub(super) fn read_back(
    store: &dyn MessageStore,
    queues: u32,
    size: u32,
    mut progress: impl FnMut(u64),
) -> Result<Tally> {
    let expected = pattern(size as usize);
    let mut tally = Tally::default();
    for queue_id in 0..queues {
        let queue_id = i32::try_from(queue_id)?;
        let offsets = store.offsets(TOPIC, queue_id);
        let mut offset = i64::try_from(offsets.min)?;
        while offset < i64::try_from(offsets.max)? {
            let request = store_core::GetRequest {
                topic: TOPIC,
                queue_id,
                offset,
                max_messages: CHECKED_AT_ONCE,
                filter: None,
            };
            let result = store.get(&request);
            ensure!(
                !result.messages.is_empty(),
                "queue {queue_id}, offset {offset} of {}: {}",
                offsets.max,
                result.status.name()
            );
            for record in &result.messages {
                tally.add(check_record(record, &expected)?);
            }
            progress(result.messages.len() as u64);
            offset = i64::try_from(result.next_begin_offset)?;
        }
    }
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_tells_sets_apart_and_not_orders() {
        let mut other_order = Tally::default();
        for (thread, index) in [(1, 1), (0, 0), (1, 0)] {
            other_order.add(message_number(thread, index));
        }
        assert_eq!(Tally::of_threads(&[1, 2]), other_order);
        assert_ne!(Tally::of_threads(&[2, 1]), other_order);
    }

    #[test]
    fn messages_carry_their_number() {
        let mut source = MessageSource::new(16);
        let message = source.message(0xAB12, 3, 7);
        assert_eq!(message.properties, "UNIQ_KEY\u{1}000000000000AB12\u{2}");
        assert_eq!(message.body[..8], [0, 0, 0, 0, 0, 0, 0xAB, 0x12]);
        assert_eq!(message.body[8..], pattern(16)[8..]);
    }
}
