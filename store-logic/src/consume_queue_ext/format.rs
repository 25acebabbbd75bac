//! A unit of a queue's extension file: the one home of this layout (`ConsumeQueueExt.CqExtUnit`), and the addresses by
//! which queue units point at it.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | bytes of the unit |
//! | 2 | 8 | hash of the tags |
//! | 10 | 8 | store time of the record, milliseconds |
//! | 18 | 2 | bytes of the bitmap |
//! | 20 | n | bitmap of the filters that the message passes; bit i is bit i % 8 of byte i / 8 |
//!
//! Big endian. Where the next unit does not fit, with 4 bytes to spare, −1 in 2 bytes closes the file.

/// Bytes of a unit without its bitmap.
pub const HEAD_SIZE: usize = 20;
/// Bytes at a file's end that no unit takes.
pub const END_BLANK: u64 = 4;
/// Stands where the next unit would be when it is in the next file.
pub const END_MARK: [u8; 2] = (-1_i16).to_be_bytes();
/// Largest unit.
pub const MAX_UNIT_SIZE: usize = i16::MAX as usize;
/// An address is an offset in the extension files, this far down: no hash and no deliver time is so low.
const ADDRESS_BASE: i64 = i64::MIN;

/// The tag code that says "look at `offset` of the extension files".
pub fn address_of(offset: u64) -> i64 {
    // Offsets stay far below 2^63.
    ADDRESS_BASE.saturating_add_unsigned(offset)
}

/// The offset that a tag code points at; `None` when it is a tag code.
pub fn offset_of(tags_code: i64) -> Option<u64> {
    (tags_code < i64::from(i32::MIN)).then(|| tags_code.wrapping_sub(ADDRESS_BASE).unsigned_abs())
}

/// What a queue unit has no room for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExtUnit {
    /// Hash of the tags.
    pub tags_code: i64,
    /// Store time of the record, milliseconds.
    pub store_timestamp: i64,
    /// Filters that the message passes.
    pub bitmap: Vec<u8>,
}

/// What stands at a place of an extension file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExtPlace {
    /// A unit.
    Unit(ExtUnit),
    /// The rest of the file is not used.
    End,
}

impl ExtUnit {
    /// Bytes of the unit.
    pub fn size(&self) -> usize {
        HEAD_SIZE + self.bitmap.len()
    }

    /// The unit's bytes; `None` when the bitmap is too long for one.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let size = i16::try_from(self.size()).ok()?;
        let bitmap = i16::try_from(self.bitmap.len()).ok()?;
        let mut bytes = Vec::with_capacity(self.size());
        bytes.extend_from_slice(&size.to_be_bytes());
        bytes.extend_from_slice(&self.tags_code.to_be_bytes());
        bytes.extend_from_slice(&self.store_timestamp.to_be_bytes());
        bytes.extend_from_slice(&bitmap.to_be_bytes());
        bytes.extend_from_slice(&self.bitmap);
        Some(bytes)
    }

    /// Reads what stands at the beginning of `bytes`; `None` when that is neither a unit nor the end mark.
    pub fn decode(bytes: &[u8]) -> Option<ExtPlace> {
        let short = |at: usize| Some(i16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
        let long = |at: usize| Some(i64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let size = short(0)?;
        if size == -1 {
            return Some(ExtPlace::End);
        }
        let size = usize::try_from(size).ok()?;
        let bitmap = usize::try_from(short(18)?).ok()?;
        if size < HEAD_SIZE || size != HEAD_SIZE + bitmap {
            return None;
        }
        let bitmap = bytes.get(HEAD_SIZE..size)?.to_vec();
        Some(ExtPlace::Unit(Self { tags_code: long(2)?, store_timestamp: long(10)?, bitmap }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_tag_codes() {
        assert_eq!(address_of(0), i64::MIN);
        assert_eq!(offset_of(address_of(34)), Some(34));
        assert_eq!(offset_of(-2_147_483_649), Some(9_223_372_034_707_292_159));
        for tags_code in [i64::from(i32::MIN), -1, 0, 2_598_919, 1_700_000_000_000] {
            assert_eq!(offset_of(tags_code), None, "{tags_code}");
        }
    }

    #[test]
    fn a_unit_comes_back_and_nothing_else_is_one() {
        let unit = ExtUnit { tags_code: -7, store_timestamp: 1_700_000_000_000, bitmap: vec![1, 0x80, 3] };
        let bytes = unit.encode().unwrap();
        assert_eq!((bytes.len(), &bytes[..2], &bytes[18..]), (23, &[0, 23][..], &[0, 3, 1, 0x80, 3][..]));
        assert_eq!(ExtUnit::decode(&bytes), Some(ExtPlace::Unit(unit.clone())));
        assert_eq!(ExtUnit::decode(&END_MARK), Some(ExtPlace::End));
        for cut in [0, 1, 19, 22] {
            assert_eq!(ExtUnit::decode(&bytes[..cut]), None, "{cut} bytes");
        }
        assert_eq!(ExtUnit::decode(&[0; 64]), None);
        assert_eq!(ExtUnit { bitmap: vec![0; MAX_UNIT_SIZE], ..unit }.encode(), None);
    }
}
