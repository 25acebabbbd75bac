//! Typed headers: the text fields of a command under their Rust names and types.
//!
//! Every header is declared once and serves both directions: a server decodes requests and encodes answers,
//! a client the other way round. Wire names are those of Java's bean properties. Unknown fields are ignored,
//! as every peer does; several travel beside the typed ones (`ReqT`, `bname`, `Signature` and others).

mod admin;

mod client;
mod consumer_offset;
mod field;
mod message_query;
mod namesrv;
mod pop;
mod pull_message;
mod queue_offset;
mod reply;
mod send_message;
mod stats;
mod storage_mode;
mod subscription_group;
mod topic;
mod transaction;

pub use admin::*;

pub use client::*;
pub use consumer_offset::*;
pub use field::{FieldText, HeaderField};
pub use message_query::*;
pub use namesrv::*;
pub use pop::*;
pub use pull_message::*;
pub use queue_offset::*;
pub use reply::*;
pub use send_message::*;
pub use stats::*;
pub use storage_mode::*;
pub use subscription_group::*;
pub use topic::*;
pub use transaction::*;

use super::ExtFields;

/// A set of text fields with names and types.
pub trait CommandHeader: Sized {
    /// Name of the header in messages to people.
    const NAME: &'static str;

    /// Reads the header from the fields of a command.
    ///
    /// # Errors
    ///
    /// [`HeaderError`] naming the first field that is missing or malformed.
    fn decode(fields: &ExtFields) -> Result<Self, HeaderError>;

    /// Adds the fields of the header, those without a value left out.
    fn encode_into(&self, fields: &mut ExtFields);

    /// The header as a set of fields of its own.
    fn encode(&self) -> ExtFields {
        let mut fields = ExtFields::new();
        self.encode_into(&mut fields);
        fields
    }
}

/// Why fields are no header of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// A required field is not there.
    #[error("{header}: the field {field} is missing")]
    Missing {
        /// Name of the header.
        header: &'static str,
        /// Wire name of the field.
        field: &'static str,
    },
    /// A field does not have the form of its type.
    #[error("{header}: the field {field} must be {expected}, found `{found}`")]
    Malformed {
        /// Name of the header.
        header: &'static str,
        /// Wire name of the field.
        field: &'static str,
        /// What the type allows.
        expected: &'static str,
        /// The text found, shortened and escaped.
        found: String,
    },
}

/// The empty header of requests and answers without fields.
impl CommandHeader for () {
    const NAME: &'static str = "empty header";

    fn decode(_fields: &ExtFields) -> Result<Self, HeaderError> {
        Ok(())
    }

    fn encode_into(&self, _fields: &mut ExtFields) {}
}

/// Declares a header: `"wireName" field: Type` for every field, with `= value` for one that has a default.
///
/// A field of a plain type is required, an `Option` may be absent, a default stands in for an absent field.
macro_rules! remoting_header {
    (
        $(#[$doc:meta])*
        pub struct $name:ident {
            $($(#[$field_doc:meta])* $wire:literal $field:ident: $kind:ty $(= $default:expr)?,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $kind,)*
        }

        impl $crate::remoting::CommandHeader for $name {
            const NAME: &'static str = stringify!($name);

            fn decode(
                fields: &$crate::remoting::ExtFields,
            ) -> Result<Self, $crate::remoting::HeaderError> {
                Ok(Self {
                    $($field: $crate::remoting::headers::read_field!(
                        fields, Self::NAME, $wire, $kind $(, $default)?
                    ),)*
                })
            }

            fn encode_into(&self, fields: &mut $crate::remoting::ExtFields) {
                $($crate::remoting::headers::HeaderField::write(&self.$field, fields, $wire);)*
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $($field: $crate::remoting::headers::default_field!($($default)?),)*
                }
            }
        }
    };
}

/// Reads one field of a header, the last argument being the default of an absent one.
macro_rules! read_field {
    ($fields:expr, $header:expr, $wire:literal, $kind:ty) => {
        <$kind as $crate::remoting::headers::HeaderField>::read($fields, $header, $wire)?
    };
    ($fields:expr, $header:expr, $wire:literal, $kind:ty, $default:expr) => {
        <Option<$kind> as $crate::remoting::headers::HeaderField>::read($fields, $header, $wire)?
            .unwrap_or_else(|| $default)
    };
}

/// Value of a field in a header that nothing was filled into.
macro_rules! default_field {
    () => {
        Default::default()
    };
    ($default:expr) => {
        $default
    };
}

use {default_field, read_field, remoting_header};

#[cfg(test)]
mod tests;
