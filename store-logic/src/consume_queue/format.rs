//! A unit of a queue file: the one home of this layout.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | position of the record in the log |
//! | 8 | 4 | bytes of the record |
//! | 12 | 8 | hash of the tags, sign-extended; deliver time for `SCHEDULE_TOPIC_XXXX` |
//!
//! The unit of queue offset `q` stands at byte `20 × q` of the queue's files. A place before the first message of a
//! queue that does not begin at 0 holds a *blank unit*, (0, 0x7FFFFFFF, 0).

/// Bytes of a unit.
pub const UNIT_SIZE: u64 = 20;
/// Size field of a blank unit.
const BLANK_SIZE: i32 = i32::MAX;

const _: () = assert!(6_000_000 % UNIT_SIZE == 0, "a default file holds whole units");

/// One message of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    /// Position of the record in the log.
    pub phy_offset: u64,
    /// Bytes of the record.
    pub size: u32,
    /// Hash of the tags, or deliver time.
    pub tags_code: i64,
}

impl Unit {
    /// The unit that fills places without a message.
    pub const BLANK: Self = Self { phy_offset: 0, size: BLANK_SIZE as u32, tags_code: 0 };

    /// Bytes of the unit.
    pub fn encode(&self) -> [u8; UNIT_SIZE as usize] {
        let mut bytes = [0; UNIT_SIZE as usize];
        bytes[..8].copy_from_slice(&self.phy_offset.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.size.to_be_bytes());
        bytes[12..].copy_from_slice(&self.tags_code.to_be_bytes());
        bytes
    }

    /// Reads a unit; `None` when the bytes are none (too few, zeros, negative numbers).
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let phy_offset = i64::from_be_bytes(bytes.get(..8)?.try_into().ok()?);
        let size = i32::from_be_bytes(bytes.get(8..12)?.try_into().ok()?);
        let tags_code = i64::from_be_bytes(bytes.get(12..20)?.try_into().ok()?);
        if size <= 0 {
            return None;
        }
        Some(Self { phy_offset: u64::try_from(phy_offset).ok()?, size: size as u32, tags_code })
    }

    /// True for a place without a message.
    pub fn is_blank(&self) -> bool {
        self.phy_offset == 0 && self.size == Self::BLANK.size
    }

    /// True when the tag code is none, but a place in Apache's `consumequeue_ext` files, which hold the real one. Neither
    /// a hash nor a deliver time is ever so low.
    pub fn has_ext_address(&self) -> bool {
        self.tags_code < i64::from(i32::MIN)
    }

    /// Position behind the record.
    pub fn end_offset(&self) -> u64 {
        self.phy_offset + u64::from(self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_javas() {
        // Written by Apache's classes for a message of 129 bytes with the tag TagA.
        let bytes = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x81, 0, 0, 0, 0, 0, 0x27, 0xa8, 0x07];
        let unit = Unit { phy_offset: 0, size: 129, tags_code: 2_598_919 };
        assert_eq!(unit.encode(), bytes);
        assert_eq!(Unit::decode(&bytes), Some(unit));
    }

    #[test]
    fn zeros_and_negatives_are_no_units() {
        assert_eq!(Unit::decode(&[0; 20]), None);
        assert_eq!(Unit::decode(&[0xFF; 20]), None);
        assert_eq!(Unit::decode(&[0; 19]), None);
        assert!(Unit::decode(&Unit::BLANK.encode()).unwrap().is_blank());
    }
}
