//! Sends encoded ahead: `SEND_MESSAGE_V2` for one message, `SEND_BATCH_MESSAGE` for several.

use super::super::workload::pattern;
use super::link::{encoded, set_opaque};
use crate::remoting::headers::SendMessageRequestHeader;
use crate::remoting::{RemotingCommand, request_code};
use anyhow::{Context as _, Result};

/// The property string of a message whose id is not set yet, as official clients send it. The id's last 16 digits become
/// the number of the message.
const PROPERTIES: &str = "UNIQ_KEY\u{1}00000000000000000000000000000000\u{2}WAIT\u{1}true\u{2}";
/// Where in the property string the number begins, and its digits.
const NUMBER_AT: usize = "UNIQ_KEY\u{1}".len() + 16;
const NUMBER_DIGITS: usize = 16;
/// Bytes of a batch entry in front of its body: length, two ignored fields, flag, length of the body.
const ENTRY_HEAD: usize = 20;

/// The encoded requests of one connection.
#[derive(Debug, Clone)]
pub(in super::super) struct SendFrames {
    /// The frame of each queue without its body.
    heads: Vec<Head>,
    /// The body of the frame: of a message, or of all messages of a batch.
    body: Vec<u8>,
    /// Messages of one request.
    batch: usize,
    /// Bytes of one batch entry.
    entry_len: usize,
}

#[derive(Debug, Clone)]
struct Head {
    bytes: Vec<u8>,
    /// Where the number's digits begin.
    number_at: usize,
}

impl SendFrames {
    /// For messages of `size` bytes (8 at least), `batch` to a request, born at `born` (ms since 1970).
    ///
    /// # Errors
    ///
    /// A request that does not fit into a frame.
    pub(in super::super) fn new(topic: &str, size: u32, queues: u32, batch: u32, born: i64) -> Result<Self> {
        let message = pattern(size as usize);
        let entry = batch_entry(&message)?;
        let body = if batch > 1 { entry.repeat(batch as usize) } else { message };
        let code = if batch > 1 { request_code::SEND_BATCH_MESSAGE } else { request_code::SEND_MESSAGE_V2 };
        let head = |queue: u32| {
            let header = SendMessageRequestHeader {
                producer_group: "stratamq-bench".to_owned(),
                topic: topic.to_owned(),
                default_topic: "TBW102".to_owned(),
                default_topic_queue_nums: 4,
                queue_id: i32::try_from(queue)?,
                born_timestamp: born,
                properties: Some(PROPERTIES.to_owned()),
                batch: batch > 1,
                ..Default::default()
            };
            let mut request = RemotingCommand::request(code).with_body(body.clone());
            request.ext_fields = Some(header.encode_v2());
            let mut bytes = encoded(request)?;
            bytes.truncate(bytes.len() - body.len());
            let mut windows = bytes.windows(PROPERTIES.len());
            let begin = windows.position(|window| window == PROPERTIES.as_bytes());
            let number_at = begin.context("a request without its properties")? + NUMBER_AT;
            Ok(Head { bytes, number_at })
        };
        let heads = (0..queues).map(head).collect::<Result<_>>()?;
        Ok(Self { heads, body, batch: batch as usize, entry_len: entry.len() })
    }

    /// Appends a request to `out`. `number` is that of its first message, the others have the next ones.
    pub(in super::super) fn append(&mut self, out: &mut Vec<u8>, opaque: u32, number: u64, queue: u32) {
        let head = &mut self.heads[queue as usize];
        set_opaque(&mut head.bytes, opaque);
        write_digits(&mut head.bytes[head.number_at..], number);
        if self.batch > 1 {
            for (number, entry) in (number..).zip(self.body.chunks_exact_mut(self.entry_len)) {
                entry[ENTRY_HEAD..ENTRY_HEAD + 8].copy_from_slice(&number.to_be_bytes());
                let properties_at = entry.len() - PROPERTIES.len();
                write_digits(&mut entry[properties_at + NUMBER_AT..], number);
            }
        } else {
            self.body[..8].copy_from_slice(&number.to_be_bytes());
        }
        out.extend_from_slice(&head.bytes);
        out.extend_from_slice(&self.body);
    }
}

fn batch_entry(message: &[u8]) -> Result<Vec<u8>> {
    let len = ENTRY_HEAD + message.len() + 2 + PROPERTIES.len();
    let mut entry = Vec::with_capacity(len);
    entry.extend_from_slice(&u32::try_from(len)?.to_be_bytes());
    entry.extend_from_slice(&[0; 12]);
    entry.extend_from_slice(&u32::try_from(message.len())?.to_be_bytes());
    entry.extend_from_slice(message);
    entry.extend_from_slice(&u16::try_from(PROPERTIES.len())?.to_be_bytes());
    entry.extend_from_slice(PROPERTIES.as_bytes());
    Ok(entry)
}

fn write_digits(out: &mut [u8], number: u64) {
    let shifts = (0..64).step_by(4).rev();
    for (digit, shift) in out[..NUMBER_DIGITS].iter_mut().zip(shifts) {
        *digit = b"0123456789ABCDEF"[(number >> shift & 0xF) as usize];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processors::decode_batch;
    use crate::remoting::{FrameLimits, frame};
    use bytes::BytesMut;

    fn decoded(frames: &mut SendFrames, number: u64, queue: u32) -> RemotingCommand {
        let mut out = Vec::new();
        frames.append(&mut out, 9, number, queue);
        frame::decode(&mut BytesMut::from(&out[..]), FrameLimits::SERVER).unwrap().unwrap()
    }

    #[test]
    fn a_send_carries_number_and_queue() {
        let mut frames = SendFrames::new("T", 16, 12, 1, 77).unwrap();
        for (number, queue) in [(1, 0), (0xABC, 11)] {
            let command = decoded(&mut frames, number, queue);
            assert_eq!((command.code, command.opaque), (request_code::SEND_MESSAGE_V2, 9));
            let header = SendMessageRequestHeader::decode_v2(command.ext_fields.as_ref().unwrap()).unwrap();
            assert_eq!((header.queue_id, header.born_timestamp, header.batch), (queue as i32, 77, false));
            let id = format!("UNIQ_KEY\u{1}{number:032X}\u{2}WAIT\u{1}true\u{2}");
            assert_eq!(header.properties.unwrap(), id);
            assert_eq!(command.body.to_bytes()[..8], number.to_be_bytes());
        }
    }

    #[test]
    fn each_message_of_a_batch_has_its_own_number() {
        let mut frames = SendFrames::new("T", 8, 1, 3, 0).unwrap();
        let command = decoded(&mut frames, 5, 0);
        assert_eq!(command.code, request_code::SEND_BATCH_MESSAGE);
        let body = command.body.to_bytes();
        let entries = decode_batch(&body).unwrap();
        assert_eq!(entries.len(), 3);
        for (number, entry) in (5_u64..).zip(entries) {
            assert_eq!(entry.body, number.to_be_bytes());
            assert!(entry.properties.starts_with(&format!("UNIQ_KEY\u{1}{number:032X}\u{2}")));
        }
    }
}
