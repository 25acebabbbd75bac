//! JSON in the dialect of RocketMQ's Java programs (fastjson): read it tolerantly, write it strictly.
//!
//! Java writes documents that no standard parser accepts: map keys that are numbers stand bare
//! (`{0:250}`) and map keys that are objects stand as objects (`{{"brokerName":"b"}:5}`). Older and foreign
//! clients add single quotes, unquoted names, numbers as text and enum constants as ordinals. [`from_slice`]
//! understands all of these; what is written ([`to_vec`], [`to_string_pretty`]) is standard JSON with quoted
//! keys, except for object keys, for which every known reader expects the bare form.
//!
//! ```
//! # use store_logic::java_json;
//! let offsets: std::collections::BTreeMap<i32, i64> = java_json::from_slice(b"{0:250,'1':7}")?;
//! assert_eq!(offsets[&1], 7);
//! assert_eq!(java_json::to_vec(&offsets)?, br#"{"0":250,"1":7}"#);
//! # Ok::<(), java_json::JavaJsonError>(())
//! ```

mod error;
mod lenient;
mod reader;
mod reference;
mod text;
mod tree;
mod writer;

#[cfg(test)]
mod tests;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use error::JavaJsonError;
pub use reader::{Reader, ValueKind};
pub use text::push_quoted;
pub use writer::WriteOptions;

/// Deepest nesting that [`parse`] follows. RocketMQ's own documents stay below ten.
pub const DEFAULT_DEPTH_LIMIT: usize = 64;

/// Reads one document of the dialect into a JSON value, at most [`DEFAULT_DEPTH_LIMIT`] levels deep.
///
/// Bare, single-quoted and object keys become text keys; the key of an object is its compact JSON text with
/// sorted names. A repeated key keeps its last value, `{"$ref":"$.path"}` is replaced by what it points at.
///
/// # Errors
///
/// [`JavaJsonError::Syntax`] with the byte offset when the text is not of the dialect or nested too deeply.
pub fn parse(input: &[u8]) -> Result<Value, JavaJsonError> {
    parse_with_depth(input, DEFAULT_DEPTH_LIMIT)
}

/// Like [`parse`] with a depth limit of the caller's choice.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_with_depth(input: &[u8], depth_limit: usize) -> Result<Value, JavaJsonError> {
    let mut reader = Reader::new(input, depth_limit);
    let mut value = reader.value()?;
    reader.end()?;
    if reader.saw_reference() {
        reference::resolve(&mut value);
    }
    Ok(value)
}

/// Reads one document into `T` with the leniency of a Java bean reader.
///
/// Numbers and booleans may be text and the other way round, enum constants may be ordinals, an explicit
/// `null` property counts as absent (so `#[serde(default)]` applies) and map keys may be structs.
///
/// # Errors
///
/// [`JavaJsonError::Syntax`] as [`parse`], [`JavaJsonError::Shape`] when a value does not fit `T`.
pub fn from_slice<T: DeserializeOwned>(input: &[u8]) -> Result<T, JavaJsonError> {
    from_value(parse(input)?)
}

/// Turns an already parsed value into `T` with the leniency of [`from_slice`].
///
/// # Errors
///
/// [`JavaJsonError::Shape`] when a value does not fit `T`.
pub fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, JavaJsonError> {
    T::deserialize(lenient::LenientValue(value))
}

/// Writes `value` on one line: names sorted, null properties left out, integer keys quoted, struct keys as
/// bare objects.
///
/// # Errors
///
/// [`JavaJsonError::Write`] when `value` has a map key that is neither text, number, boolean nor object.
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, JavaJsonError> {
    WriteOptions::COMPACT.to_vec(value)
}

/// Writes `value` as Java writes its configuration files: TAB indent, `"key":value` without a blank, empty
/// containers as `{}` and `[]`, lists of numbers on one line, no newline at the end. Otherwise as [`to_vec`].
///
/// # Errors
///
/// As [`to_vec`].
pub fn to_string_pretty<T: Serialize + ?Sized>(value: &T) -> Result<String, JavaJsonError> {
    WriteOptions::PRETTY.to_text(value)
}
