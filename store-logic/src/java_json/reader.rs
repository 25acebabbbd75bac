//! Pull reader of the dialect: the grammar, once, for [`parse`](super::parse) and for header decoders.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

use super::JavaJsonError;
use super::text::{to_text, unescape};
use super::writer::WriteOptions;

/// Longest piece of the input that an error message repeats, in bytes.
const FOUND_LIMIT: usize = 24;

/// What kind of value stands next in the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// `{`
    Object,
    /// `[`
    Array,
    /// A string in double or single quotes.
    Text,
    /// Everything else: a number, `true`, `false`, `null` or nonsense.
    Scalar,
}

/// A cursor over one document. Every method skips blanks first and stops behind what it has read.
#[derive(Debug)]
pub struct Reader<'a> {
    input: &'a [u8],
    offset: usize,
    depth_left: usize,
    saw_reference: bool,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `input` that refuses to go more than `depth_limit` containers deep.
    #[must_use]
    pub fn new(input: &'a [u8], depth_limit: usize) -> Self {
        let offset = if input.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        Self { input, offset, depth_left: depth_limit, saw_reference: false }
    }

    /// Position behind what has been read, in bytes.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Whether a `$ref` key occurred so far.
    pub(super) fn saw_reference(&self) -> bool {
        self.saw_reference
    }

    /// Looks at the kind of the next value without reading it.
    ///
    /// # Errors
    ///
    /// [`JavaJsonError::Syntax`] at the end of the input.
    pub fn peek(&mut self) -> Result<ValueKind, JavaJsonError> {
        match self.next_byte() {
            Some(b'{') => Ok(ValueKind::Object),
            Some(b'[') => Ok(ValueKind::Array),
            Some(b'"' | b'\'') => Ok(ValueKind::Text),
            Some(_) => Ok(ValueKind::Scalar),
            None => Err(self.error("a value")),
        }
    }

    /// Reads an object; `entry` gets every key and must read its value from the reader.
    ///
    /// # Errors
    ///
    /// [`JavaJsonError::Syntax`] for a broken object, or whatever `entry` returns.
    pub fn object<F>(&mut self, mut entry: F) -> Result<(), JavaJsonError>
    where
        F: FnMut(&mut Self, Cow<'a, str>) -> Result<(), JavaJsonError>,
    {
        self.open(b'{', "`{`")?;
        if self.eat(b'}') {
            return self.close();
        }
        loop {
            let key = self.key()?;
            if !self.eat(b':') {
                return Err(self.error("`:` behind a key"));
            }
            entry(self, key)?;
            if self.eat(b'}') {
                return self.close();
            }
            if !self.eat(b',') {
                return Err(self.error("`,` or `}`"));
            }
        }
    }

    /// Reads an array; `element` must read one value from the reader each time.
    ///
    /// # Errors
    ///
    /// [`JavaJsonError::Syntax`] for a broken array, or whatever `element` returns.
    pub fn array<F>(&mut self, mut element: F) -> Result<(), JavaJsonError>
    where
        F: FnMut(&mut Self) -> Result<(), JavaJsonError>,
    {
        self.open(b'[', "`[`")?;
        if self.eat(b']') {
            return self.close();
        }
        loop {
            element(self)?;
            if self.eat(b']') {
                return self.close();
            }
            if !self.eat(b',') {
                return Err(self.error("`,` or `]`"));
            }
        }
    }

    /// Reads any value.
    ///
    /// # Errors
    ///
    /// [`JavaJsonError::Syntax`] for a broken or too deeply nested value.
    pub fn value(&mut self) -> Result<Value, JavaJsonError> {
        match self.peek()? {
            ValueKind::Object => {
                let mut map = Map::new();
                self.object(|reader, key| {
                    reader.saw_reference |= key == "$ref";
                    let value = reader.value()?;
                    map.insert(key.into_owned(), value);
                    Ok(())
                })?;
                Ok(Value::Object(map))
            }
            ValueKind::Array => {
                let mut list = Vec::new();
                self.array(|reader| {
                    list.push(reader.value()?);
                    Ok(())
                })?;
                Ok(Value::Array(list))
            }
            ValueKind::Text => Ok(Value::String(self.quoted()?.into_owned())),
            ValueKind::Scalar => self.scalar(),
        }
    }

    /// Reads any value as the text Java would make of it: strings as they are, numbers and booleans as
    /// written, `null` as `None`, containers as their source text.
    ///
    /// # Errors
    ///
    /// [`JavaJsonError::Syntax`] for a broken value.
    pub fn text(&mut self) -> Result<Option<Cow<'a, str>>, JavaJsonError> {
        match self.peek()? {
            ValueKind::Text => self.quoted().map(Some),
            ValueKind::Scalar => {
                let start = self.offset;
                let value = self.scalar()?;
                Ok(if value.is_null() { None } else { Some(self.source(start)) })
            }
            ValueKind::Object | ValueKind::Array => {
                let start = self.offset;
                self.skip()?;
                Ok(Some(self.source(start)))
            }
        }
    }

    /// Reads an integer, written as a number or as text; `null` and other text are `None`.
    ///
    /// # Errors
    ///
    /// [`JavaJsonError::Syntax`] for a broken value.
    pub fn integer(&mut self) -> Result<Option<i64>, JavaJsonError> {
        Ok(self.text()?.and_then(|text| text.trim().parse().ok()))
    }

    /// Reads any value and forgets it.
    ///
    /// # Errors
    ///
    /// [`JavaJsonError::Syntax`] for a broken value.
    pub fn skip(&mut self) -> Result<(), JavaJsonError> {
        match self.peek()? {
            ValueKind::Object => self.object(|reader, _| reader.skip()),
            ValueKind::Array => self.array(Self::skip),
            ValueKind::Text => self.quoted().map(drop),
            ValueKind::Scalar => self.scalar().map(drop),
        }
    }

    /// Checks that nothing but blanks is left.
    ///
    /// # Errors
    ///
    /// [`JavaJsonError::Syntax`] when something follows the document.
    pub fn end(&mut self) -> Result<(), JavaJsonError> {
        match self.next_byte() {
            None => Ok(()),
            Some(_) => Err(self.error("the end of the document")),
        }
    }

    /// Reads a key in any of its forms: quoted, number, name or object.
    fn key(&mut self) -> Result<Cow<'a, str>, JavaJsonError> {
        match self.next_byte() {
            Some(b'"' | b'\'') => self.quoted(),
            Some(b'{') => {
                let object = self.value()?;
                WriteOptions::COMPACT.to_text(&object).map(Cow::Owned)
            }
            Some(byte) if is_bare(byte) => {
                let start = self.offset;
                self.skip_while(is_bare);
                Ok(self.source(start))
            }
            _ => Err(self.error("a key")),
        }
    }

    /// Reads a quoted string; either quote, ended by the same one.
    fn quoted(&mut self) -> Result<Cow<'a, str>, JavaJsonError> {
        let Some(quote @ (b'"' | b'\'')) = self.next_byte() else {
            return Err(self.error("a quoted string"));
        };
        let start = self.offset + 1;
        let mut end = start;
        let mut escaped = false;
        loop {
            let rest = self.input.get(end..).unwrap_or_default();
            let Some(stop) = rest.iter().position(|&byte| byte == quote || byte == b'\\') else {
                self.offset = self.input.len();
                return Err(self.error("the closing quote of a string"));
            };
            end += stop;
            if rest[stop] == quote {
                break;
            }
            escaped = true;
            end += 2;
        }
        let raw = &self.input[start..end];
        self.offset = end + 1;
        if !escaped {
            return Ok(to_text(raw));
        }
        unescape(raw).map_err(|bad| {
            self.offset = start + bad;
            self.error("an escape sequence")
        })
    }

    /// Reads a number, `true`, `false` or `null`.
    fn scalar(&mut self) -> Result<Value, JavaJsonError> {
        let start = self.offset;
        self.skip_while(|byte| is_bare(byte) || byte == b'+');
        let word = &self.input[start..self.offset];
        let value = match word {
            b"true" => Some(Value::Bool(true)),
            b"false" => Some(Value::Bool(false)),
            b"null" => Some(Value::Null),
            _ => number(word).map(Value::Number),
        };
        value.ok_or_else(|| {
            self.offset = start;
            self.error("a value")
        })
    }

    /// The input from `start` to here as text.
    fn source(&self, start: usize) -> Cow<'a, str> {
        to_text(&self.input[start..self.offset])
    }

    /// The next byte that is no blank; the cursor stays on it.
    fn next_byte(&mut self) -> Option<u8> {
        self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c | 0x08));
        self.input.get(self.offset).copied()
    }

    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.input.get(self.offset).is_some_and(|&byte| wanted(byte)) {
            self.offset += 1;
        }
    }

    fn eat(&mut self, wanted: u8) -> bool {
        let there = self.next_byte() == Some(wanted);
        if there {
            self.offset += 1;
        }
        there
    }

    fn open(&mut self, bracket: u8, name: &'static str) -> Result<(), JavaJsonError> {
        if self.next_byte() != Some(bracket) {
            return Err(self.error(name));
        }
        match self.depth_left.checked_sub(1) {
            Some(left) => self.depth_left = left,
            None => return Err(self.error("less deeply nested values")),
        }
        self.offset += 1;
        Ok(())
    }

    fn close(&mut self) -> Result<(), JavaJsonError> {
        self.depth_left += 1;
        Ok(())
    }

    fn error(&self, expected: &'static str) -> JavaJsonError {
        let rest = self.input.get(self.offset..).unwrap_or_default();
        let found = match rest {
            [] => "the end of the text".to_owned(),
            _ => format!("`{}`", rest[..rest.len().min(FOUND_LIMIT)].escape_ascii()),
        };
        JavaJsonError::Syntax { offset: self.offset.min(self.input.len()), expected, found }
    }
}

/// Bytes of an unquoted key or scalar. Bytes above ASCII belong to names in other scripts.
fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.' | b'-') || byte >= 0x80
}

/// A number as JSON has it, leading zeros and a leading plus tolerated.
fn number(word: &[u8]) -> Option<Number> {
    let text = std::str::from_utf8(word).ok()?;
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if let Ok(signed) = text.parse::<i64>() {
        return Some(signed.into());
    }
    if let Ok(unsigned) = text.parse::<u64>() {
        return Some(unsigned.into());
    }
    text.parse::<f64>().ok().and_then(Number::from_f64)
}
