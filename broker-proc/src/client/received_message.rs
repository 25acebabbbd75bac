//! A message as a consumer gets it.

use std::io::{self, Read as _};
use std::net::SocketAddr;

use crate::processors::decode_batch;
use bytes::Bytes;
use flate2::read::ZlibDecoder;
use store_core::properties::{Properties, names};
use store_core::record_format::{self, Decoded, Fault, MessageView};
use store_core::{UnixMillis, message_id, sys_flag};

/// Most bytes that a compressed body may grow to; brokers take no more than 4 MiB by default, compressed.
const MAX_INFLATED: u64 = 128 * 1024 * 1024;
/// Bits of the sysFlag that tell the compression (`MessageSysFlag.COMPRESSION_TYPE_COMPARATOR`).
const COMPRESSION_MASK: i32 = 0x700;
/// Bits of a record whose body is a batch, one message behind the other.
const INNER_BATCH: i32 = sys_flag::INNER_BATCH | sys_flag::NEED_UNWRAP;
/// Topics with this prefix hold messages to be consumed again.
pub(super) const RETRY_TOPIC_PREFIX: &str = "%RETRY%";

/// How a body is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// LZ4 frames.
    Lz4,
    /// A Zstandard stream.
    Zstd,
    /// None that this version knows.
    Unknown,
}

/// Why pulled bytes are no messages.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A record is damaged.
    #[error("record at byte {at}: {fault}")]
    Fault {
        /// Position in the pulled bytes.
        at: usize,
        /// What is wrong there.
        fault: Fault,
    },
    /// The body of an inner batch holds no messages.
    #[error("record at byte {at}: inner batch: {found}")]
    InnerBatch {
        /// Position in the pulled bytes.
        at: usize,
        /// What is wrong.
        found: String,
    },
    /// A body that should be compressed with zlib is not.
    #[error("record at byte {at}: zlib body: {source}")]
    Inflate {
        /// Position in the pulled bytes.
        at: usize,
        /// What is wrong.
        source: io::Error,
    },
}

/// A message pulled from a broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedMessage {
    /// Topic that it was sent to, also when it comes from a retry topic.
    pub topic: String,
    /// Queue that it was pulled from.
    pub queue_id: i32,
    /// Its offset in the queue.
    pub queue_offset: i64,
    /// Id that the producer gave to it, or the offset id when it gave none.
    pub msg_id: String,
    /// Id by which the broker finds it.
    pub offset_msg_id: String,
    /// The user's own flag.
    pub flag: i32,
    /// How often it was consumed in vain.
    pub reconsume_times: i32,
    /// When the producer made it.
    pub born_timestamp: UnixMillis,
    /// Where the producer sat.
    pub born_host: SocketAddr,
    /// When the broker stored it.
    pub store_timestamp: UnixMillis,
    /// Properties.
    pub properties: Properties,
    /// Content, uncompressed unless `compression` says otherwise.
    pub body: Bytes,
    /// Compression that this client cannot undo: the body is as it was stored.
    pub compression: Option<Compression>,
}

impl ReceivedMessage {
    /// The tag.
    #[must_use]
    pub fn tag(&self) -> Option<&str> {
        self.properties.get(names::TAGS)
    }

    /// The keys, separated by blanks.
    #[must_use]
    pub fn keys(&self) -> Option<&str> {
        self.properties.get(names::KEYS)
    }

    fn new(record: &MessageView<'_>, pulled: &Bytes) -> io::Result<Self> {
        let properties = Properties::parse(record.properties);
        let offset_msg_id = message_id::encode(&record.store_host, record.physical_offset as u64);
        let unique_id = properties.get(names::UNIQ_CLIENT_MESSAGE_ID_KEYIDX);
        let origin = properties.get(names::RETRY_TOPIC);
        let (body, compression) = body(record, pulled)?;
        Ok(Self {
            topic: origin
                .filter(|_| record.topic.starts_with(RETRY_TOPIC_PREFIX))
                .unwrap_or(record.topic)
                .into(),
            queue_id: record.queue_id,
            queue_offset: record.queue_offset,
            msg_id: unique_id.unwrap_or(&offset_msg_id).to_owned(),
            offset_msg_id,
            flag: record.flag,
            reconsume_times: record.reconsume_times,
            born_timestamp: record.born_timestamp,
            born_host: record.born_host,
            store_timestamp: record.store_timestamp,
            properties,
            body,
            compression,
        })
    }
}

/// Reads the messages of a pull answer, one record behind the other; inner batches are taken apart. Bodies refer to `pulled` and are not copied.
///
/// # Errors
///
/// [`RecordError`] of the first record that cannot be read.
pub fn decode_records(pulled: &Bytes) -> Result<Vec<ReceivedMessage>, RecordError> {
    let mut messages = Vec::new();
    let mut at = 0;
    while at < pulled.len() {
        let record = match record_format::decode(&pulled[at..], true) {
            Ok(Decoded::Record(record)) => record,
            // The rest of a log file is not part of any answer.
            Ok(Decoded::Blank) => {
                let fault = Fault::Magic { found: record_format::BLANK_MAGIC };
                return Err(RecordError::Fault { at, fault });
            }
            Err(fault) => return Err(RecordError::Fault { at, fault }),
        };
        let message = ReceivedMessage::new(&record, pulled);
        let message = message.map_err(|source| RecordError::Inflate { at, source })?;
        if record.sys_flag & INNER_BATCH == INNER_BATCH {
            unwrap(&message, &mut messages).map_err(|found| RecordError::InnerBatch { at, found })?;
        } else {
            messages.push(message);
        }
        at += record.total_size as usize;
    }
    Ok(messages)
}

/// Takes the messages out of an inner batch. What its own properties do not say, the record does.
fn unwrap(batch: &ReceivedMessage, messages: &mut Vec<ReceivedMessage>) -> Result<(), String> {
    for (queue_offset, entry) in (batch.queue_offset..).zip(decode_batch(&batch.body)?) {
        let properties = Properties::parse(entry.properties);
        let unique_id = properties.get(names::UNIQ_CLIENT_MESSAGE_ID_KEYIDX);
        messages.push(ReceivedMessage {
            queue_offset,
            msg_id: unique_id.unwrap_or(&batch.offset_msg_id).to_owned(),
            flag: entry.flag,
            body: batch.body.slice_ref(entry.body),
            properties,
            ..batch.clone()
        });
    }
    Ok(())
}

fn body(record: &MessageView<'_>, pulled: &Bytes) -> io::Result<(Bytes, Option<Compression>)> {
    let stored = || pulled.slice_ref(record.body);
    if record.sys_flag & sys_flag::COMPRESSED == 0 {
        return Ok((stored(), None));
    }
    // 0 is what clients wrote before there was a choice.
    match (record.sys_flag & COMPRESSION_MASK) >> 8 {
        0 | 3 => Ok((inflate(record.body, MAX_INFLATED)?, None)),
        1 => Ok((stored(), Some(Compression::Lz4))),
        2 => Ok((stored(), Some(Compression::Zstd))),
        _ => Ok((stored(), Some(Compression::Unknown))),
    }
}

fn inflate(compressed: &[u8], limit: u64) -> io::Result<Bytes> {
    let mut inflated = Vec::new();
    let read = ZlibDecoder::new(compressed).take(limit + 1).read_to_end(&mut inflated)?;
    if read as u64 > limit {
        return Err(io::Error::other(format!("grows beyond {limit} bytes")));
    }
    Ok(inflated.into())
}

#[cfg(test)]
mod tests;
