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
    text.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// Code of a TAGS value as queue units hold it: the hash, sign-extended; 0 without tags.
pub fn tags_code(tags: Option<&str>) -> i64 {
    tags.map_or(0, |tags| i64::from(java_string_hash(tags)))
}
