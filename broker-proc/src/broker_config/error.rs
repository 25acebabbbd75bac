use std::fmt;
use std::io;

use super::properties::PropertiesError;

/// A configuration the broker does not start with. Every message names the file, and the line where there is one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{file}: cannot read the configuration: {cause}")]
    Read {
        /// File that was asked for.
        file: String,
        /// What the system said; part of the message, so not a source to be printed again.
        cause: io::Error,
    },
    /// The text is not a properties file.
    #[error("{file}:{}: {}", .cause.line, .cause.problem)]
    Syntax {
        /// File the text came from.
        file: String,
        /// Where and what; part of the message too.
        cause: PropertiesError,
    },
    /// A key has a value that it cannot have.
    #[error("{file}:{line}: {key}={value}: expected {expected}")]
    Value {
        /// File.
        file: String,
        /// Line of the entry, from 1.
        line: usize,
        /// Key.
        key: String,
        /// The value found.
        value: String,
        /// What is allowed.
        expected: String,
    },
    /// A setting that Apache supports, this release does not, and that must not be passed over in silence.
    #[error(
        "{file}:{line}: {key}={value} is not supported by this release: {reason}; remove the line to start without it"
    )]
    Refused {
        /// File.
        file: String,
        /// Line of the entry, from 1.
        line: usize,
        /// Key.
        key: String,
        /// The value found.
        value: String,
        /// Why ignoring it would be wrong.
        reason: &'static str,
    },
    /// Two settings that contradict each other.
    #[error("{file}: {problem}")]
    Conflict {
        /// File.
        file: String,
        /// The contradiction and the way out.
        problem: String,
    },
}

/// Something in the configuration that the operator should know, although the broker starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigWarning {
    /// File.
    pub file: String,
    /// Line, from 1; `None` when the warning is about something that is not in the file.
    pub line: Option<usize>,
    /// Key it is about.
    pub key: String,
    /// What is the matter.
    pub kind: WarningKind,
}

/// Kinds of [`ConfigWarning`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WarningKind {
    /// Nobody knows this key.
    UnknownKey {
        /// The known key that looks most like it.
        hint: Option<&'static str>,
    },
    /// Apache knows the key, but it does nothing here.
    NoEffect,
    /// The key was set before; this line counts.
    SetAgain {
        /// Line of the earlier entry.
        first_line: usize,
    },
    /// The value was changed or is read in an unexpected way; the text says how.
    Adjusted(String),
    /// The broker can be reached from other machines; the text says what that means.
    Exposed(String),
}

impl fmt::Display for ConfigWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, key, kind } = self;
        match line {
            Some(line) => write!(f, "{file}:{line}: {key}: ")?,
            None => write!(f, "{file}: {key}: ")?,
        }
        match kind {
            WarningKind::UnknownKey { hint: Some(hint) } => {
                write!(f, "unknown key, ignored; did you mean `{hint}`?")
            }
            WarningKind::UnknownKey { hint: None } => write!(f, "unknown key, ignored"),
            WarningKind::NoEffect => write!(f, "accepted, has no effect in this release"),
            WarningKind::SetAgain { first_line } => {
                write!(f, "already set in line {first_line}; this line counts")
            }
            WarningKind::Adjusted(text) | WarningKind::Exposed(text) => f.write_str(text),
        }
    }
}
