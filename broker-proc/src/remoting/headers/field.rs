//! How one field becomes text and back.

use super::HeaderError;
use crate::remoting::ExtFields;

/// Longest piece of a malformed value that an error repeats, in characters.
const FOUND_LIMIT: usize = 40;

/// A type that has a text form in headers.
pub trait FieldText: Sized {
    /// What its text looks like, for error messages.
    const EXPECTED: &'static str;

    /// Whether an empty text means that there is no value.
    const EMPTY_IS_ABSENT: bool = true;

    /// Value of a text; `None` when the text is malformed.
    fn from_text(text: &str) -> Option<Self>;

    /// Sets the field `name` to the text of the value.
    fn push(&self, fields: &mut ExtFields, name: &str);
}

impl FieldText for String {
    const EXPECTED: &'static str = "text";
    const EMPTY_IS_ABSENT: bool = false;

    fn from_text(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }

    fn push(&self, fields: &mut ExtFields, name: &str) {
        fields.insert(name, self);
    }
}

impl FieldText for bool {
    const EXPECTED: &'static str = "true or false";

    /// As in Java, everything but `true` in any case is false.
    fn from_text(text: &str) -> Option<Self> {
        Some(text.eq_ignore_ascii_case("true"))
    }

    fn push(&self, fields: &mut ExtFields, name: &str) {
        fields.insert(name, if *self { "true" } else { "false" });
    }
}

/// Implements the text form of integers: decimal.
macro_rules! integer_text {
    ($($kind:ty: $expected:literal;)*) => {$(
        impl FieldText for $kind {
            const EXPECTED: &'static str = $expected;

            fn from_text(text: &str) -> Option<Self> {
                text.parse().ok()
            }

            fn push(&self, fields: &mut ExtFields, name: &str) {
                fields.insert_display(name, self);
            }
        }
    )*};
}

integer_text! {
    i32: "a 32-bit integer";
    i64: "a 64-bit integer";
}

/// A field of a header: a plain type is required, an `Option` is not.
pub trait HeaderField: Sized {
    /// Reads the field `name` of the header `header`.
    ///
    /// # Errors
    ///
    /// [`HeaderError::Missing`] and [`HeaderError::Malformed`].
    fn read(fields: &ExtFields, header: &'static str, name: &'static str) -> Result<Self, HeaderError>;

    /// Sets the field `name` when there is a value.
    fn write(&self, fields: &mut ExtFields, name: &str);
}

impl<T: FieldText> HeaderField for T {
    fn read(fields: &ExtFields, header: &'static str, name: &'static str) -> Result<Self, HeaderError> {
        Option::<T>::read(fields, header, name)?.ok_or(HeaderError::Missing { header, field: name })
    }

    fn write(&self, fields: &mut ExtFields, name: &str) {
        self.push(fields, name);
    }
}

impl<T: FieldText> HeaderField for Option<T> {
    fn read(fields: &ExtFields, header: &'static str, name: &'static str) -> Result<Self, HeaderError> {
        let Some(text) = fields.get(name) else {
            return Ok(None);
        };
        if text.is_empty() && T::EMPTY_IS_ABSENT {
            return Ok(None);
        }
        match T::from_text(text) {
            Some(value) => Ok(Some(value)),
            None => Err(HeaderError::Malformed {
                header,
                field: name,
                expected: T::EXPECTED,
                found: text.chars().take(FOUND_LIMIT).collect::<String>().escape_debug().to_string(),
            }),
        }
    }

    fn write(&self, fields: &mut ExtFields, name: &str) {
        if let Some(value) = self {
            value.push(fields, name);
        }
    }
}
