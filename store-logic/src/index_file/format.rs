//! Layout of an index file: the one home of it.
//!
//! | offset | bytes | header field |
//! |---|---|---|
//! | 0 | 8 | store time of the first entry |
//! | 8 | 8 | store time of the last entry |
//! | 16 | 8 | record of the first entry |
//! | 24 | 8 | record of the last entry |
//! | 32 | 4 | slots in use |
//! | 36 | 4 | number of the next entry, from 1 on |
//!
//! Then one 4-byte slot per hash value (the newest entry of the chain, 0 without one), then entries of 20 bytes; entry 0
//! is never used:
//!
//! | offset | bytes | entry field |
//! |---|---|---|
//! | 0 | 4 | hash of the key |
//! | 4 | 8 | position of the record |
//! | 12 | 4 | whole seconds since the store time of the first entry |
//! | 16 | 4 | previous entry of the chain, 0 at its end |
//!
//! How many slots and entries there are is *not* in the file: it is configuration and must not change.

use crate::bytes::Reader;
use crate::message::tags_code::java_string_hash_of;

/// Bytes of the header.
pub const HEADER_SIZE: u64 = 40;
/// Bytes of a slot.
pub const SLOT_SIZE: u64 = 4;
/// Bytes of an entry.
pub const ENTRY_SIZE: u64 = 20;

/// Position of a header field.
pub const BEGIN_TIMESTAMP_AT: u64 = 0;
/// Position of a header field.
pub const END_TIMESTAMP_AT: u64 = 8;
/// Position of a header field.
pub const BEGIN_PHY_OFFSET_AT: u64 = 16;
/// Position of a header field.
pub const END_PHY_OFFSET_AT: u64 = 24;
/// Position of a header field.
pub const HASH_SLOT_COUNT_AT: u64 = 32;
/// Position of a header field.
pub const INDEX_COUNT_AT: u64 = 36;

const _: () =
    assert!(HEADER_SIZE % SLOT_SIZE == 0 && ENTRY_SIZE % 4 == 0, "slots and entry fields are 4-aligned");

/// Position of the previous entry's number within an entry.
pub const PREVIOUS_AT: u64 = 16;

/// Number of slots and entries of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexGeometry {
    /// `maxHashSlotNum`.
    pub slots: u32,
    /// `maxIndexNum`; one less can be used.
    pub entries: u32,
}

impl IndexGeometry {
    /// Bytes of a file.
    pub fn file_size(&self) -> u64 {
        self.entry_at(self.entries)
    }

    /// Position of a slot.
    pub fn slot_at(&self, slot: u32) -> u64 {
        HEADER_SIZE + SLOT_SIZE * u64::from(slot)
    }

    /// Position of an entry.
    pub fn entry_at(&self, number: u32) -> u64 {
        HEADER_SIZE + SLOT_SIZE * u64::from(self.slots) + ENTRY_SIZE * u64::from(number)
    }

    /// Slot of a key hash.
    pub fn slot_of(&self, key_hash: u32) -> u32 {
        key_hash % self.slots
    }
}

/// One entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexEntry {
    /// Hash of the key.
    pub key_hash: u32,
    /// Position of the record.
    pub phy_offset: u64,
    /// Seconds since the file's first entry.
    pub time_diff: i32,
    /// Previous entry of the chain.
    pub previous: u32,
}

impl IndexEntry {
    /// Reads an entry; `None` when there are too few bytes.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        Some(Self {
            key_hash: reader.u32()?,
            phy_offset: reader.i64()? as u64,
            time_diff: reader.i32()?,
            previous: reader.u32()?,
        })
    }
}

/// Hash of an index key: Java's string hash without its sign; the one value that has no positive twin becomes 0.
///
/// ```
/// use store_logic::index_file::format::key_hash;
/// assert_eq!(key_hash("TopicA#k1"), 1_903_240_649);
/// assert_eq!(key_hash("polygenelubricants"), 0);
/// ```
pub fn key_hash(key: &str) -> u32 {
    key_hash_of(&[key])
}

/// Hash of the index key that the parts make: those of [`key_of`] and [`tags_key_of`] are `[topic, "#", key]` and
/// `[topic, "#T#", tags]`.
pub fn key_hash_of(parts: &[&str]) -> u32 {
    match java_string_hash_of(parts) {
        i32::MIN => 0,
        hash => hash.unsigned_abs(),
    }
}

/// The key string of a message key or unique id.
pub fn key_of(topic: &str, key: &str) -> String {
    format!("{topic}#{key}")
}

/// The key string of a message's tags (Apache 5.5.0).
pub fn tags_key_of(topic: &str, tags: &str) -> String {
    format!("{topic}#T#{tags}")
}

/// Seconds between the first entry's store time and this one's, as an entry holds them.
pub fn time_diff(begin_timestamp: i64, store_timestamp: i64) -> i32 {
    if begin_timestamp <= 0 {
        return 0;
    }
    let seconds = store_timestamp.saturating_sub(begin_timestamp) / 1000;
    i32::try_from(seconds.max(0)).unwrap_or(i32::MAX)
}
