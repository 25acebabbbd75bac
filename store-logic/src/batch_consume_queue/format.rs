//! A unit of a batch queue file: the one home of this layout (`BatchConsumeQueue`).
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | position of the record in the log |
//! | 8 | 4 | bytes of the record |
//! | 12 | 8 | hash of the tags, sign-extended |
//! | 20 | 8 | store time of the record, milliseconds |
//! | 28 | 8 | queue offset of the first message in the record |
//! | 36 | 2 | messages in the record |
//! | 38 | 4 | position in a compacted log, −1 without one |
//! | 42 | 4 | zero |
//!
//! Big endian. The files are named by the byte offset of their first unit, which tells nothing about queue offsets: a
//! unit stands for as many of them as its record has messages.

use crate::consume_queue::Unit;

/// Bytes of a unit.
pub const UNIT_SIZE: u64 = 46;
/// `compactedOffset` of a record that is in no compacted log.
pub const NOT_COMPACTED: i32 = -1;

/// Where the queue offset of the first message stands.
pub const BASE_OFFSET_AT: usize = 28;

const _: () = assert!(13_800_000 % UNIT_SIZE == 0, "a default file holds whole units");

/// One record of a batch queue: one message or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchUnit {
    /// Position of the record in the log.
    pub phy_offset: u64,
    /// Bytes of the record.
    pub size: u32,
    /// Hash of the tags.
    pub tags_code: i64,
    /// Store time of the record, milliseconds.
    pub store_timestamp: i64,
    /// Queue offset of its first message.
    pub base_offset: u64,
    /// Messages in it, at least 1.
    pub batch_size: u16,
    /// Position in a compacted log; [`NOT_COMPACTED`] without one.
    pub compacted_offset: i32,
}

impl BatchUnit {
    /// Bytes of the unit.
    pub fn encode(&self) -> [u8; UNIT_SIZE as usize] {
        let mut bytes = [0; UNIT_SIZE as usize];
        bytes[..8].copy_from_slice(&self.phy_offset.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.size.to_be_bytes());
        bytes[12..20].copy_from_slice(&self.tags_code.to_be_bytes());
        bytes[20..28].copy_from_slice(&self.store_timestamp.to_be_bytes());
        bytes[28..36].copy_from_slice(&self.base_offset.to_be_bytes());
        bytes[36..38].copy_from_slice(&self.batch_size.to_be_bytes());
        bytes[38..42].copy_from_slice(&self.compacted_offset.to_be_bytes());
        bytes
    }

    /// Reads a unit; `None` when the bytes are none: too few, a negative position or base, no size, no message.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let long = |at: usize| Some(i64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let int = |at: usize| Some(i32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let batch_size = i16::from_be_bytes(bytes.get(36..38)?.try_into().ok()?);
        let size = int(8)?;
        if size <= 0 || batch_size <= 0 || bytes.len() < UNIT_SIZE as usize {
            return None;
        }
        Some(Self {
            phy_offset: u64::try_from(long(0)?).ok()?,
            size: size.unsigned_abs(),
            tags_code: long(12)?,
            store_timestamp: long(20)?,
            base_offset: u64::try_from(long(BASE_OFFSET_AT)?).ok()?,
            batch_size: batch_size.unsigned_abs(),
            compacted_offset: int(38)?,
        })
    }

    /// What an ordinary queue would say of the record.
    pub fn place(&self) -> Unit {
        Unit { phy_offset: self.phy_offset, size: self.size, tags_code: self.tags_code }
    }

    /// Position behind the record.
    pub fn end_offset(&self) -> u64 {
        self.phy_offset.saturating_add(u64::from(self.size))
    }

    /// Queue offset behind its last message.
    pub fn next_offset(&self) -> u64 {
        self.base_offset.saturating_add(u64::from(self.batch_size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: BatchUnit = BatchUnit {
        phy_offset: 0x0102_0304_0506_0708,
        size: 172,
        tags_code: -2,
        store_timestamp: 1_700_000_000_000,
        base_offset: 7,
        batch_size: 3,
        compacted_offset: NOT_COMPACTED,
    };

    #[test]
    fn fields_stand_where_java_puts_them() {
        let bytes = UNIT.encode();
        assert_eq!(bytes[..12], [1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 172]);
        assert_eq!(bytes[28..46], [0, 0, 0, 0, 0, 0, 0, 7, 0, 3, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]);
        assert_eq!(BatchUnit::decode(&bytes), Some(UNIT));
    }

    #[test]
    fn what_java_takes_for_no_unit_is_none() {
        let broken = |at: usize, value: u8| {
            let mut bytes = UNIT.encode();
            bytes[at] = value;
            BatchUnit::decode(&bytes)
        };
        assert_eq!(BatchUnit::decode(&[0; 46]), None);
        assert_eq!(BatchUnit::decode(&UNIT.encode()[..45]), None);
        for sign in [0, 8, 28, 36] {
            assert_eq!(broken(sign, 0x80), None, "byte {sign}");
        }
    }
}
