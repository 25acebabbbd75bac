//! Deserializer with the leniency of a Java bean reader.

use serde::de::value::StringDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use super::{JavaJsonError, WriteOptions, parse};

/// A parsed value that converts between text, numbers and booleans as the reader asks.
pub(super) struct LenientValue(pub(super) Value);

/// Ends with the error that names what was found.
fn mismatch<T>(value: &Value, expected: &dyn serde::de::Expected) -> Result<T, JavaJsonError> {
    let found = match value {
        Value::Null => Unexpected::Other("null"),
        Value::Bool(flag) => Unexpected::Bool(*flag),
        Value::Number(_) => Unexpected::Other("a number"),
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    };
    Err(JavaJsonError::invalid_type(found, expected))
}

/// Hands an integer to the visitor, which checks the range.
fn visit_integer<'de, V: Visitor<'de>>(value: &Value, visitor: V) -> Result<V::Value, JavaJsonError> {
    if let Some(signed) = value.as_i64() {
        return visitor.visit_i64(signed);
    }
    if let Some(unsigned) = value.as_u64() {
        return visitor.visit_u64(unsigned);
    }
    let text = value.as_str().map(str::trim);
    if let Some(signed) = text.and_then(|text| text.parse().ok()) {
        return visitor.visit_i64(signed);
    }
    if let Some(unsigned) = text.and_then(|text| text.parse().ok()) {
        return visitor.visit_u64(unsigned);
    }
    mismatch(value, &visitor)
}

fn visit_double<'de, V: Visitor<'de>>(value: &Value, visitor: V) -> Result<V::Value, JavaJsonError> {
    let double = match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    match double {
        Some(double) => visitor.visit_f64(double),
        None => mismatch(value, &visitor),
    }
}

/// Writes the methods that all take an integer in the same way.
macro_rules! lenient_integers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JavaJsonError> {
            visit_integer(&self.0, visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for LenientValue {
    type Error = JavaJsonError;

    lenient_integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JavaJsonError> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(flag),
            Value::Number(number) => number.deserialize_any(visitor).map_err(JavaJsonError::custom),
            Value::String(text) => visitor.visit_string(text),
            Value::Array(list) => visitor.visit_seq(Elements { rest: list.into_iter(), index: 0 }),
            Value::Object(map) => visitor.visit_map(Entries::new(map)),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JavaJsonError> {
        match &self.0 {
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::String(text) if text.eq_ignore_ascii_case("true") => visitor.visit_bool(true),
            Value::String(text) if text.eq_ignore_ascii_case("false") => visitor.visit_bool(false),
            Value::Number(number) if number.as_i64() == Some(1) => visitor.visit_bool(true),
            Value::Number(number) if number.as_i64() == Some(0) => visitor.visit_bool(false),
            other => mismatch(other, &visitor),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JavaJsonError> {
        visit_double(&self.0, visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JavaJsonError> {
        visit_double(&self.0, visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JavaJsonError> {
        match self.0 {
            Value::String(text) => visitor.visit_string(text),
            Value::Null => mismatch(&Value::Null, &visitor),
            other => visitor.visit_string(WriteOptions::COMPACT.to_text(&other)?),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JavaJsonError> {
        self.deserialize_string(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JavaJsonError> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, JavaJsonError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, JavaJsonError> {
        match self.0 {
            Value::String(name) => visitor.visit_enum(constant(name, variants)),
            Value::Number(ordinal) => visitor.visit_enum(constant(ordinal.to_string(), variants)),
            Value::Object(map) => visitor.visit_enum(Tagged(map)),
            other => mismatch(&other, &visitor),
        }
    }

    forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// Names the constant that a client wrote as its ordinal; other names stay as they are.
fn constant(name: String, variants: &'static [&'static str]) -> StringDeserializer<JavaJsonError> {
    let by_ordinal = name.parse::<usize>().ok().and_then(|ordinal| variants.get(ordinal));
    by_ordinal.map_or(name, |&variant| variant.to_owned()).into_deserializer()
}

impl<'de> IntoDeserializer<'de, JavaJsonError> for LenientValue {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The elements of a list, one after the other.
struct Elements {
    rest: std::vec::IntoIter<Value>,
    index: usize,
}

impl<'de> SeqAccess<'de> for Elements {
    type Error = JavaJsonError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, JavaJsonError> {
        let Some(element) = self.rest.next() else {
            return Ok(None);
        };
        let index = self.index;
        self.index += 1;
        seed.deserialize(LenientValue(element)).map(Some).map_err(|error| error.under(&index.to_string()))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// The entries of an object; those whose value is null are passed over.
struct Entries {
    rest: serde_json::map::IntoIter,
    current: Option<(String, Value)>,
}

impl Entries {
    fn new(map: serde_json::Map<String, Value>) -> Self {
        Self { rest: map.into_iter(), current: None }
    }
}

impl<'de> MapAccess<'de> for Entries {
    type Error = JavaJsonError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, JavaJsonError> {
        let Some((key, value)) = self.rest.by_ref().find(|(_, value)| !value.is_null()) else {
            return Ok(None);
        };
        let read = seed.deserialize(LenientKey(key.clone())).map_err(|error| error.under(&key))?;
        self.current = Some((key, value));
        Ok(Some(read))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, JavaJsonError> {
        let (key, value) = self
            .current
            .take()
            .ok_or_else(|| JavaJsonError::custom("a value was asked for before its key"))?;
        seed.deserialize(LenientValue(value)).map_err(|error| error.under(&key))
    }
}

/// A map key: text that stands for a number, a boolean, a constant or a whole object.
struct LenientKey(String);

/// Writes the methods that read a key through the value of the same text.
macro_rules! keys_as_values {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JavaJsonError> {
            LenientValue(Value::String(self.0)).$method(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for LenientKey {
    type Error = JavaJsonError;

    keys_as_values! {
        deserialize_any deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64
        deserialize_str deserialize_string deserialize_identifier deserialize_ignored_any
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JavaJsonError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, JavaJsonError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, JavaJsonError> {
        LenientValue(parse(self.0.as_bytes())?).deserialize_struct(name, fields, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JavaJsonError> {
        LenientValue(parse(self.0.as_bytes())?).deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, JavaJsonError> {
        visitor.visit_enum(constant(self.0, variants))
    }

    forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf unit unit_struct seq tuple tuple_struct
    }
}

/// An enum variant with content: `{"Variant":content}`.
struct Tagged(serde_json::Map<String, Value>);

/// Content of a [`Tagged`] variant.
struct TaggedContent(Value);

impl<'de> EnumAccess<'de> for Tagged {
    type Error = JavaJsonError;
    type Variant = TaggedContent;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, TaggedContent), JavaJsonError> {
        let mut entries = self.0.into_iter();
        match (entries.next(), entries.next()) {
            (Some((name, content)), None) => {
                let variant = seed.deserialize(LenientKey(name))?;
                Ok((variant, TaggedContent(content)))
            }
            _ => Err(JavaJsonError::custom("expected an object with one variant name")),
        }
    }
}

impl<'de> VariantAccess<'de> for TaggedContent {
    type Error = JavaJsonError;

    fn unit_variant(self) -> Result<(), JavaJsonError> {
        Deserialize::deserialize(LenientValue(self.0))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, JavaJsonError> {
        seed.deserialize(LenientValue(self.0))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, JavaJsonError> {
        LenientValue(self.0).deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, JavaJsonError> {
        LenientValue(self.0).deserialize_map(visitor)
    }
}
