use crate::env::UnixMillis;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use std::borrow::Cow;
use std::fmt;

/// Names and values in the order they were added: what an inspector says of a file or an entry.
///
/// As JSON it is an object. Numbers of 64 bits become text there, because many readers of JSON would round them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields(Vec<(Cow<'static, str>, FieldValue)>);

/// One value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldValue {
    /// Text; control characters are escaped when shown to people.
    Text(String),
    /// A number of at most 32 bits.
    Number(i64),
    /// A number of up to 64 bits: text in JSON.
    Wide(i128),
    /// Epoch milliseconds: a date to people, text in JSON.
    Millis(UnixMillis),
    /// Yes or no.
    Flag(bool),
    /// Bytes, shown as base64.
    Bytes(Vec<u8>),
    /// Several values.
    List(Vec<FieldValue>),
    /// Named values.
    Fields(Fields),
}

impl Fields {
    /// No fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// The fields with one more.
    #[must_use]
    pub fn with(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<FieldValue>) -> Self {
        self.push(name, value);
        self
    }

    /// Adds a field.
    pub fn push(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<FieldValue>) {
        self.0.push((name.into(), value.into()));
    }

    /// Adds all fields of `other` behind these.
    pub fn extend(&mut self, other: Fields) {
        self.0.extend(other.0);
    }

    /// The first value of a name.
    pub fn get(&self, name: &str) -> Option<&FieldValue> {
        self.0.iter().find(|field| field.0 == name).map(|field| &field.1)
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &FieldValue)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value))
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

macro_rules! value_from {
    ($($source:ty => $variant:ident as $target:ty),* $(,)?) => {
        $(impl From<$source> for FieldValue {
            fn from(value: $source) -> Self {
                Self::$variant(<$target>::from(value))
            }
        })*
    };
}

value_from! {
    &str => Text as String,
    String => Text as String,
    u8 => Number as i64,
    u16 => Number as i64,
    i32 => Number as i64,
    u32 => Number as i64,
    i64 => Wide as i128,
    u64 => Wide as i128,
    bool => Flag as bool,
    Vec<u8> => Bytes as Vec<u8>,
    Vec<FieldValue> => List as Vec<FieldValue>,
    Fields => Fields as Fields,
}

/// As one piece of text for people.
impl fmt::Display for FieldValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write_escaped(f, text),
            Self::Number(number) => number.fmt(f),
            Self::Wide(number) => number.fmt(f),
            Self::Millis(millis) => match jiff::Timestamp::from_millisecond(*millis) {
                Ok(time) if *millis > 0 => write!(f, "{time:.3}"),
                _ => millis.fmt(f),
            },
            Self::Flag(flag) => f.write_str(if *flag { "yes" } else { "no" }),
            Self::Bytes(bytes) => f.write_str(&base64(bytes)),
            Self::List(values) => {
                for (number, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if number == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
            Self::Fields(fields) => write!(f, "{{{fields}}}"),
        }
    }
}

/// On one line: `name=value name=value`. Text with blanks stands in quotes.
impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (name, value)) in self.iter().enumerate() {
            if number > 0 {
                f.write_str(" ")?;
            }
            match value {
                FieldValue::Text(text) if text.contains(' ') || text.is_empty() => {
                    write!(f, "{name}=\"{value}\"")?;
                }
                _ => write!(f, "{name}={value}")?,
            }
        }
        Ok(())
    }
}

fn write_escaped(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    for char in text.chars() {
        if char.is_control() { write!(f, "{}", char.escape_default())? } else { write!(f, "{char}")? }
    }
    Ok(())
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl Serialize for FieldValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(number) => serializer.serialize_i64(*number),
            Self::Wide(number) => serializer.collect_str(number),
            Self::Millis(millis) => serializer.collect_str(millis),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::Bytes(bytes) => serializer.serialize_str(&base64(bytes)),
            Self::List(values) => {
                let mut list = serializer.serialize_seq(Some(values.len()))?;
                for value in values {
                    list.serialize_element(value)?;
                }
                list.end()
            }
            Self::Fields(fields) => fields.serialize(serializer),
        }
    }
}
