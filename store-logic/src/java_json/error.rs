//! What can go wrong while reading or writing the dialect.

use std::fmt::Display;

/// Failure of a read or write; names what was expected and what was found instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JavaJsonError {
    /// The text is not of the dialect.
    #[error("JSON text at byte {offset}: expected {expected}, found {found}")]
    Syntax {
        /// Position in the input, in bytes from its start.
        offset: usize,
        /// What the grammar allows at that place.
        expected: &'static str,
        /// What stands there, escaped for a log line.
        found: String,
    },
    /// The text is fine, but a value in it does not fit the wanted type.
    #[error("JSON value at {}: {reason}", if path.is_empty() { "the top" } else { path.as_str() })]
    Shape {
        /// Names from the top of the document to the value, separated by dots.
        path: String,
        /// What was wanted and what was there.
        reason: String,
    },
    /// A value cannot be expressed in the dialect.
    #[error("value cannot be written as JSON: {reason}")]
    Write {
        /// What stands in the way.
        reason: String,
    },
}

impl JavaJsonError {
    /// Position of a syntax error in bytes; `None` for the other kinds.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        match self {
            Self::Syntax { offset, .. } => Some(*offset),
            Self::Shape { .. } | Self::Write { .. } => None,
        }
    }

    /// Puts `name` in front of the path of a shape error, called once a level on the way up.
    pub(super) fn under(self, name: &str) -> Self {
        match self {
            Self::Shape { path, reason } if path.is_empty() => Self::Shape { path: name.to_owned(), reason },
            Self::Shape { path, reason } => Self::Shape { path: format!("{name}.{path}"), reason },
            other => other,
        }
    }
}

impl serde::de::Error for JavaJsonError {
    fn custom<T: Display>(message: T) -> Self {
        Self::Shape { path: String::new(), reason: message.to_string() }
    }
}

impl serde::ser::Error for JavaJsonError {
    fn custom<T: Display>(message: T) -> Self {
        Self::Write { reason: message.to_string() }
    }
}
