//! Layout of written documents.

use std::io::Write as _;

use serde::Serialize;

use super::JavaJsonError;
use super::text::{push_quoted, push_quoted_ascii};
use super::tree::{Key, Node, tree_of};

/// How a document is laid out. Names are always sorted and null properties always left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteOptions {
    /// One property a line, indented by TABs, instead of everything on one line.
    pub pretty: bool,
    /// Integer keys without quotes (`{0:1}`), as the Java name server answers old requesters. Not valid JSON.
    pub bare_integer_keys: bool,
    /// Only ASCII: `/` as `\/`, everything beyond as `\uXXXX`, as the Java name server answers new requesters.
    pub browser_compatible: bool,
}

impl WriteOptions {
    /// One line, quoted keys.
    pub const COMPACT: Self = Self { pretty: false, bare_integer_keys: false, browser_compatible: false };
    /// Layout of Java's configuration files, with quoted keys.
    pub const PRETTY: Self = Self { pretty: true, ..Self::COMPACT };
    /// One line, integer keys bare.
    pub const BARE_KEYS: Self = Self { bare_integer_keys: true, ..Self::COMPACT };
    /// One line, quoted keys, only ASCII.
    pub const BROWSER_COMPATIBLE: Self = Self { browser_compatible: true, ..Self::COMPACT };

    /// Writes `value` in this layout.
    ///
    /// # Errors
    ///
    /// [`JavaJsonError::Write`] when a map key is neither text, number, boolean nor object.
    pub fn to_vec<T: Serialize + ?Sized>(self, value: &T) -> Result<Vec<u8>, JavaJsonError> {
        let mut out = Vec::new();
        self.push_node(&mut out, &tree_of(value)?, 0);
        Ok(out)
    }

    /// Writes `value` in this layout as text.
    ///
    /// # Errors
    ///
    /// As [`WriteOptions::to_vec`].
    pub fn to_text<T: Serialize + ?Sized>(self, value: &T) -> Result<String, JavaJsonError> {
        String::from_utf8(self.to_vec(value)?)
            .map_err(|error| JavaJsonError::Write { reason: error.to_string() })
    }

    /// Appends one node; `indent` is the level of the line that it starts on.
    pub(super) fn push_node(self, out: &mut Vec<u8>, node: &Node, indent: usize) {
        match node {
            Node::Null => out.extend_from_slice(b"null"),
            Node::Bool(true) => out.extend_from_slice(b"true"),
            Node::Bool(false) => out.extend_from_slice(b"false"),
            Node::Signed(number) => push_display(out, number),
            Node::Unsigned(number) => push_display(out, number),
            Node::Double(number) => push_double(out, *number),
            Node::Text(text) => self.push_text(out, text),
            Node::List(list) => self.push_list(out, list, indent),
            Node::Map(entries) => self.push_map(out, entries, indent),
        }
    }

    fn push_text(self, out: &mut Vec<u8>, text: &str) {
        if self.browser_compatible {
            push_quoted_ascii(out, text);
        } else {
            push_quoted(out, text);
        }
    }

    fn push_list(self, out: &mut Vec<u8>, list: &[Node], indent: usize) {
        let numbers_only =
            list.iter().all(|node| matches!(node, Node::Signed(_) | Node::Unsigned(_) | Node::Double(_)));
        let layout = if numbers_only { Self { pretty: false, ..self } } else { self };
        out.push(b'[');
        for (index, node) in list.iter().enumerate() {
            layout.push_separator(out, index, indent + 1);
            layout.push_node(out, node, indent + 1);
        }
        layout.push_end(out, list.is_empty(), indent);
        out.push(b']');
    }

    fn push_map(self, out: &mut Vec<u8>, entries: &[(Key, Node)], indent: usize) {
        out.push(b'{');
        for (index, (key, node)) in entries.iter().enumerate() {
            self.push_separator(out, index, indent + 1);
            match key {
                Key::Integer(number) if self.bare_integer_keys => push_display(out, number),
                Key::Integer(number) => {
                    out.push(b'"');
                    push_display(out, number);
                    out.push(b'"');
                }
                Key::Text(text) => self.push_text(out, text),
                Key::Object(text) => out.extend_from_slice(text.as_bytes()),
            }
            out.push(b':');
            self.push_node(out, node, indent + 1);
        }
        self.push_end(out, entries.is_empty(), indent);
        out.push(b'}');
    }

    fn push_separator(self, out: &mut Vec<u8>, index: usize, indent: usize) {
        if index > 0 {
            out.push(b',');
        }
        self.push_line(out, indent);
    }

    fn push_end(self, out: &mut Vec<u8>, empty: bool, indent: usize) {
        if !empty {
            self.push_line(out, indent);
        }
    }

    fn push_line(self, out: &mut Vec<u8>, indent: usize) {
        if self.pretty {
            out.push(b'\n');
            out.resize(out.len() + indent, b'\t');
        }
    }
}

fn push_display(out: &mut Vec<u8>, value: &impl std::fmt::Display) {
    // Writing to a vector cannot fail.
    let _ = write!(out, "{value}");
}

/// Java writes doubles with at least one decimal and has no way to write NaN or infinity but null.
fn push_double(out: &mut Vec<u8>, number: f64) {
    if number.is_finite() {
        let _ = write!(out, "{number:?}");
    } else {
        out.extend_from_slice(b"null");
    }
}
