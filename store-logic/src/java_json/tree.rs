//! Serializer into a tree whose keys keep their kind, so that the writer can sort and quote them.

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::{JavaJsonError, WriteOptions};

/// A value on its way out.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Null,
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Double(f64),
    Text(String),
    List(Vec<Node>),
    /// Entries sorted by key, none of them null.
    Map(Vec<(Key, Node)>),
}

/// A key on its way out. The derived order is the order of writing: numbers by value, then text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Integer(i64),
    Text(String),
    /// Compact text of an object.
    Object(String),
}

impl Key {
    fn of(node: Node) -> Result<Self, JavaJsonError> {
        match node {
            Node::Text(text) => Ok(Self::Text(text)),
            Node::Signed(number) => Ok(Self::Integer(number)),
            Node::Unsigned(number) => {
                Ok(i64::try_from(number).map_or_else(|_| Self::Text(number.to_string()), Self::Integer))
            }
            Node::Bool(flag) => Ok(Self::Text(flag.to_string())),
            Node::Map(_) => {
                let mut text = Vec::new();
                WriteOptions::COMPACT.push_node(&mut text, &node, 0);
                Ok(Self::Object(String::from_utf8_lossy(&text).into_owned()))
            }
            Node::Null | Node::Double(_) | Node::List(_) => {
                Err(JavaJsonError::custom("a map key must be text, a number, a boolean or an object"))
            }
        }
    }
}

/// Builds the tree of `value`.
pub(super) fn tree_of<T: Serialize + ?Sized>(value: &T) -> Result<Node, JavaJsonError> {
    value.serialize(TreeSerializer)
}

/// Entry point of serde.
struct TreeSerializer;

/// Collects a list; with a variant name the list becomes the content of that variant.
struct ListBuilder {
    list: Vec<Node>,
    variant: Option<&'static str>,
}

/// Collects a map or object; with a variant name it becomes the content of that variant.
struct MapBuilder {
    entries: Vec<(Key, Node)>,
    key: Option<Key>,
    variant: Option<&'static str>,
}

fn wrapped(variant: Option<&'static str>, node: Node) -> Node {
    match variant {
        Some(name) => Node::Map(vec![(Key::Text(name.to_owned()), node)]),
        None => node,
    }
}

impl ListBuilder {
    fn new(len: Option<usize>, variant: Option<&'static str>) -> Self {
        Self { list: Vec::with_capacity(len.unwrap_or(0)), variant }
    }

    fn push<T: Serialize + ?Sized>(&mut self, element: &T) -> Result<(), JavaJsonError> {
        self.list.push(tree_of(element)?);
        Ok(())
    }

    fn finish(self) -> Node {
        wrapped(self.variant, Node::List(self.list))
    }
}

impl MapBuilder {
    fn new(len: Option<usize>, variant: Option<&'static str>) -> Self {
        Self { entries: Vec::with_capacity(len.unwrap_or(0)), key: None, variant }
    }

    fn insert<T: Serialize + ?Sized>(&mut self, key: Key, value: &T) -> Result<(), JavaJsonError> {
        match tree_of(value)? {
            Node::Null => {}
            node => self.entries.push((key, node)),
        }
        Ok(())
    }

    fn finish(mut self) -> Node {
        self.entries.sort_by(|(left, _), (right, _)| left.cmp(right));
        wrapped(self.variant, Node::Map(self.entries))
    }
}

/// Writes the methods for one kind of number.
macro_rules! numbers {
    ($($method:ident($kind:ty) => $node:ident;)*) => {$(
        fn $method(self, number: $kind) -> Result<Node, JavaJsonError> {
            Ok(Node::$node(number.into()))
        }
    )*};
}

impl Serializer for TreeSerializer {
    type Ok = Node;
    type Error = JavaJsonError;
    type SerializeSeq = ListBuilder;
    type SerializeTuple = ListBuilder;
    type SerializeTupleStruct = ListBuilder;
    type SerializeTupleVariant = ListBuilder;
    type SerializeMap = MapBuilder;
    type SerializeStruct = MapBuilder;
    type SerializeStructVariant = MapBuilder;

    numbers! {
        serialize_bool(bool) => Bool;
        serialize_i8(i8) => Signed;
        serialize_i16(i16) => Signed;
        serialize_i32(i32) => Signed;
        serialize_i64(i64) => Signed;
        serialize_u8(u8) => Unsigned;
        serialize_u16(u16) => Unsigned;
        serialize_u32(u32) => Unsigned;
        serialize_u64(u64) => Unsigned;
        serialize_f32(f32) => Double;
        serialize_f64(f64) => Double;
    }

    fn serialize_char(self, c: char) -> Result<Node, JavaJsonError> {
        Ok(Node::Text(c.to_string()))
    }

    fn serialize_str(self, text: &str) -> Result<Node, JavaJsonError> {
        Ok(Node::Text(text.to_owned()))
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<Node, JavaJsonError> {
        Ok(Node::List(bytes.iter().map(|&byte| Node::Unsigned(byte.into())).collect()))
    }

    fn serialize_none(self) -> Result<Node, JavaJsonError> {
        Ok(Node::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Node, JavaJsonError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Node, JavaJsonError> {
        Ok(Node::Null)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<Node, JavaJsonError> {
        Ok(Node::Null)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<Node, JavaJsonError> {
        Ok(Node::Text(variant.to_owned()))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<Node, JavaJsonError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Node, JavaJsonError> {
        Ok(wrapped(Some(variant), tree_of(value)?))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<ListBuilder, JavaJsonError> {
        Ok(ListBuilder::new(len, None))
    }

    fn serialize_tuple(self, len: usize) -> Result<ListBuilder, JavaJsonError> {
        Ok(ListBuilder::new(Some(len), None))
    }

    fn serialize_tuple_struct(self, _name: &'static str, len: usize) -> Result<ListBuilder, JavaJsonError> {
        Ok(ListBuilder::new(Some(len), None))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<ListBuilder, JavaJsonError> {
        Ok(ListBuilder::new(Some(len), Some(variant)))
    }

    fn serialize_map(self, len: Option<usize>) -> Result<MapBuilder, JavaJsonError> {
        Ok(MapBuilder::new(len, None))
    }

    fn serialize_struct(self, _name: &'static str, len: usize) -> Result<MapBuilder, JavaJsonError> {
        Ok(MapBuilder::new(Some(len), None))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<MapBuilder, JavaJsonError> {
        Ok(MapBuilder::new(Some(len), Some(variant)))
    }
}

/// Writes the impl of one of serde's list traits.
macro_rules! list_traits {
    ($($name:ident::$method:ident)*) => {$(
        impl $name for ListBuilder {
            type Ok = Node;
            type Error = JavaJsonError;

            fn $method<T: Serialize + ?Sized>(&mut self, element: &T) -> Result<(), JavaJsonError> {
                self.push(element)
            }

            fn end(self) -> Result<Node, JavaJsonError> {
                Ok(self.finish())
            }
        }
    )*};
}

list_traits! {
    SerializeSeq::serialize_element
    SerializeTuple::serialize_element
    SerializeTupleStruct::serialize_field
    SerializeTupleVariant::serialize_field
}

/// Writes the impl of one of serde's object traits.
macro_rules! object_traits {
    ($($name:ident)*) => {$(
        impl $name for MapBuilder {
            type Ok = Node;
            type Error = JavaJsonError;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), JavaJsonError> {
                self.insert(Key::Text(name.to_owned()), value)
            }

            fn end(self) -> Result<Node, JavaJsonError> {
                Ok(self.finish())
            }
        }
    )*};
}

object_traits! { SerializeStruct SerializeStructVariant }

impl SerializeMap for MapBuilder {
    type Ok = Node;
    type Error = JavaJsonError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), JavaJsonError> {
        self.key = Some(Key::of(tree_of(key)?)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JavaJsonError> {
        let key = self.key.take().ok_or_else(|| JavaJsonError::custom("a value came before its key"))?;
        self.insert(key, value)
    }

    fn end(self) -> Result<Node, JavaJsonError> {
        Ok(self.finish())
    }
}
