//! The record of a message, field by field: the one home of this layout.
//!
//! | bytes | field | note |
//! |---|---|---|
//! | 4 | total size | of the whole record, this field included |
//! | 4 | magic | [`MAGIC_V1`], or [`MAGIC_V2`] when the topic needs a 2-byte length |
//! | 4 | body CRC | [`crate::bytes::crc32`] of the stored body |
//! | 4 | queue id | |
//! | 4 | flag | the application's |
//! | 8 | queue offset | at [`QUEUE_OFFSET_AT`] |
//! | 8 | physical offset | at [`PHYSICAL_OFFSET_AT`]; position of byte 0 in the log |
//! | 4 | sysFlag | at [`SYS_FLAG_AT`] |
//! | 8 | born timestamp | |
//! | 8/20 | born host | 20 with [`sys_flag::BORN_HOST_V6`] |
//! | 8 | store timestamp | |
//! | 8/20 | store host | 20 with [`sys_flag::STORE_HOST_V6`] |
//! | 4 | reconsume times | |
//! | 8 | prepared transaction offset | |
//! | 4 + n | body | |
//! | 1/2 + n | topic | length signed, 1 byte in V1, 2 in V2 |
//! | 2 + n | properties | length signed |
//!
//! A record never spans files. What does not fit goes to the next file, and the rest of the file begins with a *blank
//! record*: the remaining length (4) and [`BLANK_MAGIC`] (4). For that, 8 bytes always stay free behind a record. A blank
//! record whose length is not the rest of its file is none: it is damage like any other.

use crate::bytes::{Reader, crc32};
use crate::message::{Message, host, properties, sys_flag};
use std::net::SocketAddr;

/// Record whose topic length has 1 byte.
pub const MAGIC_V1: u32 = 0xDAA3_20A7;
/// Record whose topic length has 2 bytes.
pub const MAGIC_V2: u32 = 0xDAA3_20AB;
/// Rest of a file.
pub const BLANK_MAGIC: u32 = 0xCBD4_3194;
/// Bytes of a blank record that mean something.
pub const BLANK_LEN: usize = 8;

/// Position of the queue offset.
pub const QUEUE_OFFSET_AT: usize = 20;
/// Position of the physical offset.
pub const PHYSICAL_OFFSET_AT: usize = 28;
/// Position of the sysFlag.
pub const SYS_FLAG_AT: usize = 36;
/// Position of the born host.
const BORN_HOST_AT: usize = 48;
/// Longest topic whose length fits the signed byte of V1.
const MAX_V1_TOPIC: usize = i8::MAX as usize;

/// Bytes of the smallest record: two IPv4 hosts, no body, a topic of one byte, no properties.
pub const MIN_RECORD: u64 = 92;

/// Bytes a record may have beyond the largest body.
pub const MAX_OVERHEAD: usize = 65_536;

/// Why a message cannot become a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// Body beyond `maxMessageSize`.
    #[error("message body: expected at most {limit} bytes, found {found}")]
    BodyTooLarge {
        /// Limit in bytes.
        limit: usize,
        /// Length in bytes.
        found: usize,
    },
    /// Property string beyond what its length field can say.
    #[error("message properties: expected at most {} bytes, found {found}", properties::MAX_LEN)]
    PropertiesTooLong {
        /// Length in bytes.
        found: usize,
    },
    /// Topic beyond what its length field can say, or empty.
    #[error("topic: expected 1 to 32767 bytes, found {found}")]
    TopicLength {
        /// Length in bytes.
        found: usize,
    },
    /// Records beyond what one log file holds.
    #[error("record: expected at most {limit} bytes, what one log file holds, found {found}")]
    RecordTooLarge {
        /// Limit in bytes.
        limit: u64,
        /// Length in bytes.
        found: u64,
    },
}

/// Where the fields lie that are filled in once the record's place is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordLayout {
    /// Bytes of the whole record.
    pub total_size: usize,
    /// Position of the store timestamp.
    store_timestamp_at: usize,
}

/// Appends the record of `message` to `out`; queue offset, physical offset and store timestamp are 0 until
/// [`RecordLayout::place`].
///
/// # Errors
///
/// [`EncodeError`], with `out` unchanged.
pub fn encode(
    message: &Message<'_>,
    max_body: usize,
    out: &mut Vec<u8>,
) -> Result<RecordLayout, EncodeError> {
    let v2 = check_lengths(message, max_body)?;
    let born_host = host::canonical(message.born_host);
    let store_host = host::canonical(message.store_host);
    let hosts = host::encoded_len(&born_host) + host::encoded_len(&store_host);
    let total_size =
        fixed_len(hosts, v2) + message.body.len() + message.topic.len() + message.properties.len();
    let v6_bits = v6_bit(&born_host, sys_flag::BORN_HOST_V6) | v6_bit(&store_host, sys_flag::STORE_HOST_V6);

    out.reserve(total_size);
    out.extend_from_slice(&(total_size as u32).to_be_bytes());
    out.extend_from_slice(&if v2 { MAGIC_V2 } else { MAGIC_V1 }.to_be_bytes());
    out.extend_from_slice(&crc32(message.body).to_be_bytes());
    out.extend_from_slice(&message.queue_id.to_be_bytes());
    out.extend_from_slice(&message.flag.to_be_bytes());
    out.extend_from_slice(&[0; 16]); // queue offset and physical offset
    out.extend_from_slice(&(message.sys_flag | v6_bits).to_be_bytes());
    out.extend_from_slice(&message.born_timestamp.to_be_bytes());
    host::encode(&born_host, out);
    out.extend_from_slice(&[0; 8]); // store timestamp
    host::encode(&store_host, out);
    out.extend_from_slice(&message.reconsume_times.to_be_bytes());
    out.extend_from_slice(&message.prepared_transaction_offset.to_be_bytes());
    out.extend_from_slice(&(message.body.len() as u32).to_be_bytes());
    out.extend_from_slice(message.body);
    encode_topic(message.topic, v2, out);
    out.extend_from_slice(&(message.properties.len() as u16).to_be_bytes());
    out.extend_from_slice(message.properties.as_bytes());
    Ok(RecordLayout { total_size, store_timestamp_at: BORN_HOST_AT + host::encoded_len(&born_host) })
}

/// Bytes of everything but body, topic and properties.
fn fixed_len(hosts: usize, v2: bool) -> usize {
    4 * 5 + 8 + 8 + 4 + 8 + hosts + 8 + 4 + 8 + 4 + if v2 { 2 } else { 1 } + 2
}

fn check_lengths(message: &Message<'_>, max_body: usize) -> Result<bool, EncodeError> {
    if message.body.len() > max_body {
        return Err(EncodeError::BodyTooLarge { limit: max_body, found: message.body.len() });
    }
    if message.properties.len() > properties::MAX_LEN {
        return Err(EncodeError::PropertiesTooLong { found: message.properties.len() });
    }
    let topic = message.topic.len();
    if topic == 0 || topic > i16::MAX as usize {
        return Err(EncodeError::TopicLength { found: topic });
    }
    Ok(topic > MAX_V1_TOPIC)
}

fn v6_bit(host: &SocketAddr, bit: i32) -> i32 {
    if host.is_ipv6() { bit } else { 0 }
}

fn encode_topic(topic: &str, v2: bool, out: &mut Vec<u8>) {
    if v2 {
        out.extend_from_slice(&(topic.len() as u16).to_be_bytes());
    } else {
        out.push(topic.len() as u8);
    }
    out.extend_from_slice(topic.as_bytes());
}

impl RecordLayout {
    /// Fills in the fields that depend on the record's place. `record` is the encoded record.
    ///
    /// # Panics
    ///
    /// If `record` is shorter than this layout.
    pub fn place(&self, record: &mut [u8], queue_offset: u64, phy_offset: u64, store_timestamp: i64) {
        record[QUEUE_OFFSET_AT..QUEUE_OFFSET_AT + 8].copy_from_slice(&queue_offset.to_be_bytes());
        record[PHYSICAL_OFFSET_AT..PHYSICAL_OFFSET_AT + 8].copy_from_slice(&phy_offset.to_be_bytes());
        let at = self.store_timestamp_at;
        record[at..at + 8].copy_from_slice(&store_timestamp.to_be_bytes());
    }
}

/// The blank record for `remaining` bytes of a file.
pub fn blank(remaining: u32) -> [u8; BLANK_LEN] {
    let mut bytes = [0; BLANK_LEN];
    bytes[..4].copy_from_slice(&remaining.to_be_bytes());
    bytes[4..].copy_from_slice(&BLANK_MAGIC.to_be_bytes());
    bytes
}

/// A stored record, borrowed from the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageView<'a> {
    /// Bytes of the whole record.
    pub total_size: u32,
    /// 1 or 2.
    pub version: u8,
    /// CRC of the body as stored.
    pub body_crc: u32,
    /// Queue of the topic.
    pub queue_id: i32,
    /// The application's flag.
    pub flag: i32,
    /// Position in the queue.
    pub queue_offset: i64,
    /// Position in the log, as the record says.
    pub physical_offset: i64,
    /// Bits of [`sys_flag`].
    pub sys_flag: i32,
    /// When the producer made it.
    pub born_timestamp: i64,
    /// Where the producer sat.
    pub born_host: SocketAddr,
    /// When it was stored.
    pub store_timestamp: i64,
    /// Broker that stored it.
    pub store_host: SocketAddr,
    /// How often consumers have sent it back.
    pub reconsume_times: i32,
    /// Log position of the half message.
    pub prepared_transaction_offset: i64,
    /// Content.
    pub body: &'a [u8],
    /// Topic.
    pub topic: &'a str,
    /// Property string; bytes that are not UTF-8 make it empty (see [`MessageView::properties_bytes`]).
    pub properties: &'a str,
    /// Property string as stored.
    pub properties_bytes: &'a [u8],
}

/// What stands at a place of the log instead of a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Zeros: nothing was ever written here.
    #[error("nothing written here")]
    Nothing,
    /// Fewer bytes than a record needs.
    #[error("expected {expected} bytes, found {found}")]
    Short {
        /// Bytes that should be there.
        expected: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// Neither a record nor a blank.
    #[error("expected magic DAA320A7, DAA320AB or CBD43194 at byte 4, found {found:08X}")]
    Magic {
        /// What stands in its place.
        found: u32,
    },
    /// A field contradicts the record's total size or cannot be.
    #[error("field {field}: expected {expected}, found {found}")]
    Field {
        /// Which one.
        field: &'static str,
        /// What would be right.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// The body was changed after it was stored.
    #[error("body CRC: expected {expected:08X} as stored, found {found:08X} over the body")]
    BodyCrc {
        /// From the record.
        expected: u32,
        /// Of the bytes.
        found: u32,
    },
}

/// What stands at a place of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decoded<'a> {
    /// A record.
    Record(MessageView<'a>),
    /// The rest of the file is unused.
    Blank,
}

/// Reads what stands at the beginning of `bytes`: the rest of a log file from some position on, or exactly one record.
///
/// A blank record must say that it is as long as `bytes`; a reader that does not have the whole rest at hand uses
/// [`check_blank`].
///
/// # Errors
///
/// The first [`Fault`] met; any input is fine.
pub fn decode(bytes: &[u8], check_body_crc: bool) -> Result<Decoded<'_>, Fault> {
    let mut reader = Reader::new(bytes);
    let (Some(total_size), Some(magic)) = (reader.i32(), reader.u32()) else {
        return Err(Fault::Short { expected: BLANK_LEN as u64, found: bytes.len() as u64 });
    };
    let v2 = match magic {
        MAGIC_V1 => false,
        MAGIC_V2 => true,
        BLANK_MAGIC => return check_blank(bytes, bytes.len() as u64).map(|()| Decoded::Blank),
        0 if total_size == 0 => return Err(Fault::Nothing),
        found => return Err(Fault::Magic { found }),
    };
    let smallest = fixed_len(2 * host::V4_LEN, v2);
    let Some(record) = usize::try_from(total_size).ok().filter(|size| *size >= smallest) else {
        return Err(field("totalSize", format!("at least {smallest}"), total_size));
    };
    let Some(bytes) = bytes.get(..record) else {
        return Err(Fault::Short { expected: record as u64, found: bytes.len() as u64 });
    };
    decode_fields(bytes, v2, check_body_crc).map(Decoded::Record)
}

/// Checks the blank record at the beginning of `head`, of which `rest` bytes are left in its file.
///
/// # Errors
///
/// Fewer than [`BLANK_LEN`] bytes, another magic, or a length that is not `rest`.
pub fn check_blank(head: &[u8], rest: u64) -> Result<(), Fault> {
    let mut reader = Reader::new(head);
    let (Some(total_size), Some(magic)) = (reader.i32(), reader.u32()) else {
        return Err(Fault::Short { expected: BLANK_LEN as u64, found: head.len() as u64 });
    };
    if magic != BLANK_MAGIC {
        return Err(Fault::Magic { found: magic });
    }
    if u64::try_from(total_size) != Ok(rest) {
        return Err(field(
            "totalSize of the blank record",
            format!("{rest}, the rest of the file"),
            total_size,
        ));
    }
    Ok(())
}

/// True when what stands at the beginning of `head` has the magic of a blank record.
pub fn has_blank_magic(head: &[u8]) -> bool {
    head.get(4..BLANK_LEN).is_some_and(|magic| magic == BLANK_MAGIC.to_be_bytes())
}

fn field(field: &'static str, expected: impl ToString, found: impl ToString) -> Fault {
    Fault::Field { field, expected: expected.to_string(), found: found.to_string() }
}

fn decode_fields(bytes: &[u8], v2: bool, check_body_crc: bool) -> Result<MessageView<'_>, Fault> {
    let short =
        || Fault::Short { expected: fixed_len(2 * host::V6_LEN, v2) as u64, found: bytes.len() as u64 };
    let mut reader = Reader::new(bytes);
    reader.take(8).ok_or_else(short)?;
    let body_crc = reader.u32().ok_or_else(short)?;
    let queue_id = reader.i32().ok_or_else(short)?;
    let flag = reader.i32().ok_or_else(short)?;
    let queue_offset = reader.i64().ok_or_else(short)?;
    let physical_offset = reader.i64().ok_or_else(short)?;
    let sys_flag = reader.i32().ok_or_else(short)?;
    let born_timestamp = reader.i64().ok_or_else(short)?;
    let born_host = decode_host(&mut reader, sys_flag & sys_flag::BORN_HOST_V6 != 0, "bornHost")?;
    let store_timestamp = reader.i64().ok_or_else(short)?;
    let store_host = decode_host(&mut reader, sys_flag & sys_flag::STORE_HOST_V6 != 0, "storeHost")?;
    let reconsume_times = reader.i32().ok_or_else(short)?;
    let prepared_transaction_offset = reader.i64().ok_or_else(short)?;
    let body_len = i64::from(reader.i32().ok_or_else(short)?);
    let body = take(&mut reader, "bodyLength", body_len)?;
    if check_body_crc && !body.is_empty() {
        check_crc(body_crc, body)?;
    }
    let topic_len =
        if v2 { reader.i16().map(i64::from) } else { reader.u8().map(|len| i64::from(len as i8)) };
    let topic = take(&mut reader, "topicLength", topic_len.ok_or_else(short)?)?;
    let topic = std::str::from_utf8(topic).map_err(|_| field("topic", "UTF-8", "other bytes"))?;
    let properties_len = i64::from(reader.i16().ok_or_else(short)?);
    let properties_bytes = take(&mut reader, "propertiesLength", properties_len)?;
    if reader.remaining() != 0 {
        return Err(field("totalSize", reader.position(), bytes.len()));
    }
    Ok(MessageView {
        total_size: bytes.len() as u32,
        version: if v2 { 2 } else { 1 },
        body_crc,
        queue_id,
        flag,
        queue_offset,
        physical_offset,
        sys_flag,
        born_timestamp,
        born_host,
        store_timestamp,
        store_host,
        reconsume_times,
        prepared_transaction_offset,
        body,
        topic,
        properties: std::str::from_utf8(properties_bytes).unwrap_or(""),
        properties_bytes,
    })
}

fn decode_host(reader: &mut Reader<'_>, v6: bool, name: &'static str) -> Result<SocketAddr, Fault> {
    host::decode(reader, v6).ok_or_else(|| field(name, "an address and a port up to 65535", "other bytes"))
}

fn take<'a>(reader: &mut Reader<'a>, name: &'static str, len: i64) -> Result<&'a [u8], Fault> {
    let left = reader.remaining();
    let bytes = usize::try_from(len).ok().and_then(|len| reader.take(len));
    bytes.ok_or_else(|| field(name, format!("0 to {left}"), len))
}

fn check_crc(expected: u32, body: &[u8]) -> Result<(), Fault> {
    let found = crc32(body);
    if found == expected { Ok(()) } else { Err(Fault::BodyCrc { expected, found }) }
}

/// Size that what stands at the beginning of `bytes` claims to have; `None` when it is not even the start of a record.
pub fn claimed_size(bytes: &[u8]) -> Option<u32> {
    let mut reader = Reader::new(bytes);
    let size = u32::try_from(reader.i32()?).ok().filter(|size| *size > 0)?;
    matches!(reader.u32()?, MAGIC_V1 | MAGIC_V2).then_some(size)
}

/// Store timestamp of a record given its first bytes; `None` when they are too few. For searches by time, which must
/// not decode whole records.
pub fn store_timestamp(record: &[u8]) -> Option<i64> {
    let sys_flag = i32::from_be_bytes(record.get(SYS_FLAG_AT..SYS_FLAG_AT + 4)?.try_into().ok()?);
    let host = if sys_flag & sys_flag::BORN_HOST_V6 == 0 { host::V4_LEN } else { host::V6_LEN };
    let at = BORN_HOST_AT + host;
    Some(i64::from_be_bytes(record.get(at..at + 8)?.try_into().ok()?))
}

/// Bytes from the start of a record that [`store_timestamp`] looks at, at most.
pub const STORE_TIMESTAMP_END: usize = BORN_HOST_AT + host::V6_LEN + 8;

#[cfg(test)]
mod tests;
