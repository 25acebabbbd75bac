//! The CRC of a whole record, which Apache keeps as the last property of its record (`enabledAppendPropCRC`).
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `__CRC32#` |
//! | 1 | 0x01 |
//! | 10 | decimal digits, least significant first, filled up with `0` |
//! | 1 | 0x02 |
//!
//! The CRC ([`crate::bytes::crc32`]) covers all bytes of the record before these 20. It is computed when the record has
//! got its place, for it covers that as well. 0 is a CRC like any other.

use super::Fault;
use crate::message::properties::{NAME_VALUE_SEPARATOR, PROPERTY_SEPARATOR, names};

/// Bytes of the property.
pub const LEN: usize = NAME.len() + 1 + DIGITS + 1;

const NAME: &str = names::CRC32;
const DIGITS: usize = 10;

/// The property of a CRC.
///
/// ```
/// use store_logic::commit_log::format::record_crc;
/// assert_eq!(&record_crc::encode(1_800_325_642), b"__CRC32#\x012465230081\x02");
/// ```
pub fn encode(mut crc: u32) -> [u8; LEN] {
    let mut bytes = [0; LEN];
    bytes[..NAME.len()].copy_from_slice(NAME.as_bytes());
    bytes[NAME.len()] = NAME_VALUE_SEPARATOR as u8;
    for digit in &mut bytes[NAME.len() + 1..LEN - 1] {
        *digit = b'0' + (crc % 10) as u8;
        crc /= 10;
    }
    bytes[LEN - 1] = PROPERTY_SEPARATOR as u8;
    bytes
}

/// The stored digits of a record that ends in the property; `None` when it does not.
pub fn stored(record: &[u8]) -> Option<&[u8]> {
    let property = &record[record.len().checked_sub(LEN)?..];
    let rest = property.strip_prefix(NAME.as_bytes())?.strip_prefix(&[NAME_VALUE_SEPARATOR as u8])?;
    rest.strip_suffix(&[PROPERTY_SEPARATOR as u8])
}

/// Checks a record against the CRC at its end; one without is right.
///
/// # Errors
///
/// [`Fault::RecordCrc`].
pub fn check(record: &[u8]) -> Result<(), Fault> {
    let Some(digits) = stored(record) else { return Ok(()) };
    let right = encode(crate::bytes::crc32(&record[..record.len() - LEN]));
    let found = &right[NAME.len() + 1..LEN - 1];
    if digits == found {
        return Ok(());
    }
    let text = |digits| String::from_utf8_lossy(digits).into_owned();
    Err(Fault::RecordCrc { expected: text(digits), found: text(found) })
}
