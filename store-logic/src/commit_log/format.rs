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
//! | 2 + n | properties | length signed; may end in a CRC of the whole record, see [`record_crc`] |
//!
//! A record never spans files. What does not fit goes to the next file, and the rest of the file begins with a *blank
//! record*: the remaining length (4) and [`BLANK_MAGIC`] (4). For that, 8 bytes always stay free behind a record. A blank
//! record whose length is not the rest of its file is none: it is damage like any other.

mod decode;
mod encode;
pub mod record_crc;

pub use decode::{Checksum, Decoded, check_blank, decode, decode_checked, has_blank_magic};
pub use encode::{EncodeError, PropertyTail, RecordLayout, RecordPlace, encode, encode_whole};

use crate::bytes::Reader;
use crate::message::{host, sys_flag};
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
/// Longest topic in bytes whose length fits the signed byte of V1.
pub const MAX_V1_TOPIC: usize = i8::MAX as usize;

/// Bytes of the smallest record: two IPv4 hosts, no body, a topic of one byte, no properties.
pub const MIN_RECORD: u64 = 92;

/// Bytes a record may have beyond the largest body.
pub const MAX_OVERHEAD: usize = 65_536;

/// Bytes of everything but body, topic and properties.
fn fixed_len(hosts: usize, v2: bool) -> usize {
    4 * 5 + 8 + 8 + 4 + 8 + hosts + 8 + 4 + 8 + 4 + if v2 { 2 } else { 1 } + 2
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
    /// The record was changed after it was stored, or it was never written whole.
    #[error("record CRC: expected {expected} as stored (least significant digit first), found {found}")]
    RecordCrc {
        /// Digits of the record.
        expected: String,
        /// Digits of the bytes.
        found: String,
    },
}

/// Size that what stands at the beginning of `bytes` claims to have; `None` when it is not even the start of a record.
pub fn claimed_size(bytes: &[u8]) -> Option<u32> {
    let mut reader = Reader::new(bytes);
    let size = u32::try_from(reader.i32()?).ok().filter(|size| *size > 0)?;
    matches!(reader.u32()?, MAGIC_V1 | MAGIC_V2).then_some(size)
}

/// True when a record of `size` bytes that stands at `phy_offset` begins so.
pub fn is_head_of(bytes: &[u8], phy_offset: u64, size: u32) -> bool {
    claimed_size(bytes) == Some(size)
        && bytes.get(PHYSICAL_OFFSET_AT..PHYSICAL_OFFSET_AT + 8) == Some(&phy_offset.to_be_bytes())
}

/// Store timestamp of a record given its first bytes; `None` when they are too few. For searches by time, which must
/// not decode whole records.
pub fn store_timestamp(record: &[u8]) -> Option<i64> {
    let at = store_timestamp_place(record)?;
    Some(i64::from_be_bytes(record.get(at..at + 8)?.try_into().ok()?))
}

/// Byte of a record at which its store timestamp stands, given its first bytes; `None` when they are too few.
pub fn store_timestamp_place(record: &[u8]) -> Option<usize> {
    let sys_flag = i32::from_be_bytes(record.get(SYS_FLAG_AT..SYS_FLAG_AT + 4)?.try_into().ok()?);
    let host = if sys_flag & sys_flag::BORN_HOST_V6 == 0 { host::V4_LEN } else { host::V6_LEN };
    Some(BORN_HOST_AT + host)
}

/// Bytes from the start of a record that [`store_timestamp`] looks at, at most.
pub const STORE_TIMESTAMP_END: usize = BORN_HOST_AT + host::V6_LEN + 8;

#[cfg(test)]
mod record_crc_tests;
#[cfg(test)]
mod tests;
