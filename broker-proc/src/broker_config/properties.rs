//! Reader of Java `.properties` text, following `java.util.Properties.load`.

use std::fmt;

/// One `key=value` entry and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Key with its escapes resolved.
    pub key: String,
    /// Value with its escapes resolved; trailing blanks are kept, as Java keeps them.
    pub value: String,
    /// Number of the line on which the entry begins, from 1.
    pub line: usize,
}

/// The entries of one file in file order. A key may occur more than once; the last one counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Properties {
    entries: Vec<Property>,
}

/// Text that is not a properties file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertiesError {
    /// Line on which the entry at fault begins, from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: String,
}

impl fmt::Display for PropertiesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl std::error::Error for PropertiesError {}

impl Properties {
    /// Reads properties text.
    ///
    /// Comments begin with `#` or `!`; `=`, `:` or blanks separate key and value; a backslash at the end of a line
    /// continues it; `\t \n \r \f \uXXXX` are escapes and a backslash before any other character is dropped.
    ///
    /// # Errors
    /// A `\u` escape without four hexadecimal digits, or half a surrogate pair.
    pub fn parse(text: &str) -> Result<Self, PropertiesError> {
        let mut entries = Vec::new();
        for (line, content) in logical_lines(text) {
            let (raw_key, raw_value) = split_entry(&content);
            let at_line = |problem| PropertiesError { line, problem };
            let key = unescape(raw_key).map_err(at_line)?;
            let value = unescape(raw_value).map_err(at_line)?;
            entries.push(Property { key, value, line });
        }
        Ok(Self { entries })
    }

    /// All entries in file order.
    pub fn entries(&self) -> &[Property] {
        &self.entries
    }

    /// Puts the entries of `later` behind these, so that they count.
    pub(super) fn append(&mut self, later: Self) {
        self.entries.extend(later.entries);
    }

    /// The entry that counts for `key`: the last one.
    pub fn get(&self, key: &str) -> Option<&Property> {
        self.entries.iter().rev().find(|property| property.key == key)
    }
}

/// Joins continued lines and drops comments and blank lines; yields the number of the first line of each.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut logical = Vec::new();
    let mut lines = natural_lines(text).into_iter().enumerate();
    while let Some((index, line)) = lines.next() {
        let line = line.trim_start_matches(is_blank);
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        let mut joined = line.to_owned();
        while is_continued(&joined) {
            joined.pop();
            match lines.next() {
                Some((_, next)) => joined.push_str(next.trim_start_matches(is_blank)),
                None => break,
            }
        }
        logical.push((index + 1, joined));
    }
    logical
}

/// Splits at `\n`, `\r` and `\r\n`, all of which end a line in Java.
fn natural_lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(end) = rest.find(['\n', '\r']) {
        lines.push(&rest[..end]);
        let terminator = if rest[end..].starts_with("\r\n") { 2 } else { 1 };
        rest = &rest[end + terminator..];
    }
    lines.push(rest);
    lines
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{c}')
}

/// A line goes on when it ends in an odd number of backslashes.
fn is_continued(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Splits at the first separator that is not escaped; one `=` or `:` among blanks belongs to the separator.
fn split_entry(line: &str) -> (&str, &str) {
    let mut escaped = false;
    let mut key_end = line.len();
    for (index, c) in line.char_indices() {
        if !escaped && (c == '=' || c == ':' || is_blank(c)) {
            key_end = index;
            break;
        }
        escaped = c == '\\' && !escaped;
    }
    let after_blanks = line[key_end..].trim_start_matches(is_blank);
    let value = after_blanks.strip_prefix(['=', ':']).unwrap_or(after_blanks);
    (&line[..key_end], value.trim_start_matches(is_blank))
}

/// Resolves escapes. Works on UTF-16 units because `\uXXXX` names one unit of a possible surrogate pair.
fn unescape(raw: &str) -> Result<String, String> {
    if !raw.contains('\\') {
        return Ok(raw.to_owned());
    }
    let mut units = Vec::with_capacity(raw.len());
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
            continue;
        }
        match chars.next() {
            Some('u') => {
                let digits: String = chars.by_ref().take(4).collect();
                units.push(parse_unit(&digits)?);
            }
            Some(escaped) => units.extend_from_slice(simple_escape(escaped).encode_utf16(&mut [0; 2])),
            None => break,
        }
    }
    String::from_utf16(&units).map_err(|_| format!("`{raw}` holds half a surrogate pair"))
}

fn parse_unit(digits: &str) -> Result<u16, String> {
    let four_hex = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let unit = if four_hex { u16::from_str_radix(digits, 16).ok() } else { None };
    unit.ok_or_else(|| format!("malformed \\uxxxx escape `\\u{digits}`: expected four hexadecimal digits"))
}

fn simple_escape(c: char) -> char {
    match c {
        't' => '\t',
        'n' => '\n',
        'r' => '\r',
        'f' => '\u{c}',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String, usize)> {
        let properties = Properties::parse(text).expect("parse");
        properties.entries.into_iter().map(|p| (p.key, p.value, p.line)).collect()
    }

    fn one(text: &str) -> (String, String) {
        let mut all = pairs(text);
        assert_eq!(all.len(), 1, "{all:?}");
        let (key, value, _) = all.remove(0);
        (key, value)
    }

    #[test]
    fn every_separator() {
        let expected = ("brokerId".to_owned(), "0".to_owned());
        for text in
            ["brokerId=0", "brokerId:0", "brokerId 0", "brokerId = 0", " \tbrokerId\t:  0", "brokerId   0"]
        {
            assert_eq!(one(text), expected, "{text:?}");
        }
        assert_eq!(one("a==b"), ("a".to_owned(), "=b".to_owned()), "only the first = separates");
        assert_eq!(one("a : = b"), ("a".to_owned(), "= b".to_owned()));
        assert_eq!(one("novalue"), ("novalue".to_owned(), String::new()));
        assert_eq!(one("empty="), ("empty".to_owned(), String::new()));
    }

    #[test]
    fn comments_blank_lines_and_line_numbers() {
        let text = "# one\r\n\r\n  ! two\rfirst=1\n \t \nsecond=2 # kept";
        assert_eq!(
            pairs(text),
            [("first".to_owned(), "1".to_owned(), 4), ("second".to_owned(), "2 # kept".to_owned(), 6)]
        );
    }

    #[test]
    fn continuation() {
        let text = "levels=1s \\\n    5s \\\r\n\t10s\nnext=1";
        assert_eq!(
            pairs(text),
            [("levels".to_owned(), "1s 5s 10s".to_owned(), 1), ("next".to_owned(), "1".to_owned(), 4)]
        );
        assert_eq!(
            one("path=c:\\\\"),
            ("path".to_owned(), "c:\\".to_owned()),
            "an even number does not continue"
        );
        assert_eq!(one("a=1\\"), ("a".to_owned(), "1".to_owned()), "a continuation at the end of the file");
        assert_eq!(pairs("a=1\\\n\nb=2").len(), 2, "a blank line ends the continuation");
        assert_eq!(one("a=1\\\n#2"), ("a".to_owned(), "1#2".to_owned()), "no comment inside an entry");
    }

    #[test]
    fn escapes() {
        assert_eq!(one("a\\ b\\=c\\:d=x\\ty"), ("a b=c:d".to_owned(), "x\ty".to_owned()));
        assert_eq!(one("a=\\u4e2d\\u6587\\uD83D\\uDE00").1, "中文😀");
        assert_eq!(one("a=\\n\\r\\f\\q\\\\").1, "\n\r\u{c}q\\");
        assert_eq!(one("a=é\\u0041").1, "éA");
    }

    #[test]
    fn bad_escapes_name_the_line() {
        for text in ["\na=\\u12", "\na=\\u12G4", "\na=\\uD83D", "\n\\u+123=1"] {
            let error = Properties::parse(text).expect_err(text);
            assert_eq!(error.line, 2, "{error}");
        }
    }

    #[test]
    fn trailing_blanks_stay_and_the_last_entry_counts() {
        let properties = Properties::parse("a=1 \na=2\t").expect("parse");
        assert_eq!(properties.entries()[0].value, "1 ");
        assert_eq!(properties.get("a").map(|p| (p.value.as_str(), p.line)), Some(("2\t", 2)));
        assert_eq!(properties.get("b"), None);
    }
}
