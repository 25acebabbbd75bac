//! Java's string hash, which tag codes and index keys are made of.

/// `String.hashCode()`: over UTF-16 code units, wrapping at 32 bits.
///
/// ```
/// use store_logic::message::tags_code::java_string_hash;
/// assert_eq!(java_string_hash("TagA"), 2_598_919);
/// assert_eq!(java_string_hash("标签"), 857_175);
/// assert_eq!(java_string_hash("😀"), 1_772_899);
/// ```
pub fn java_string_hash(text: &str) -> i32 {
    java_string_hash_of(&[text])
}

/// Hash of the string that the parts make one behind the other, without putting it together.
///
/// ```
/// use store_logic::message::tags_code::{java_string_hash, java_string_hash_of};
/// assert_eq!(java_string_hash_of(&["Tag", "A"]), java_string_hash("TagA"));
/// ```
pub fn java_string_hash_of(parts: &[&str]) -> i32 {
    parts.iter().fold(0, |hash, part| {
        if part.is_ascii() { ascii(hash, part.as_bytes()) } else { part.encode_utf16().fold(hash, next) }
    })
}

/// Four at a time: what one byte adds does not have to wait for the one before.
fn ascii(hash: i32, bytes: &[u8]) -> i32 {
    let mut steps = bytes.chunks_exact(4);
    let hash = steps.by_ref().fold(hash, |hash, step| {
        let powers = [29_791, 961, 31, 1];
        let added: i32 = step.iter().zip(powers).map(|(byte, power)| i32::from(*byte) * power).sum();
        hash.wrapping_mul(923_521).wrapping_add(added)
    });
    steps.remainder().iter().fold(hash, |hash, byte| next(hash, u16::from(*byte)))
}

fn next(hash: i32, unit: u16) -> i32 {
    hash.wrapping_mul(31).wrapping_add(i32::from(unit))
}

/// Code of a TAGS value as queue units hold it: the hash, sign-extended; 0 without tags.
pub fn tags_code(tags: Option<&str>) -> i64 {
    tags.map_or(0, |tags| i64::from(java_string_hash(tags)))
}
