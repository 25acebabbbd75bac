//! Quoted text: escapes in both directions.

use std::borrow::Cow;

const HEX: &[u8; 16] = b"0123456789abcdef";
const UPPER_HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Appends `text` to `out` as a standard JSON string, quotes included.
pub fn push_quoted(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut clean_from = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[clean_from..at]);
        push_escaped(out, byte);
        clean_from = at + 1;
    }
    out.extend_from_slice(&bytes[clean_from..]);
    out.push(b'"');
}

/// Appends `text` in the browser-compatible form of the route answers: pure ASCII, `/` written `\/`.
pub(super) fn push_quoted_ascii(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut units = [0_u16; 2];
    for c in text.chars() {
        match c {
            '/' => out.extend_from_slice(b"\\/"),
            '"' | '\\' | '\0'..='\u{1f}' => push_escaped(out, c as u8),
            ' '..='~' => out.push(c as u8),
            _ => {
                for unit in c.encode_utf16(&mut units) {
                    out.extend_from_slice(b"\\u");
                    for shift in [12, 8, 4, 0] {
                        out.push(UPPER_HEX[usize::from(*unit >> shift & 0xf)]);
                    }
                }
            }
        }
    }
    out.push(b'"');
}

/// Appends the escape of one ASCII byte that may not stand in a string as it is.
fn push_escaped(out: &mut Vec<u8>, byte: u8) {
    match byte {
        b'"' => out.extend_from_slice(b"\\\""),
        b'\\' => out.extend_from_slice(b"\\\\"),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        0x08 => out.extend_from_slice(b"\\b"),
        0x0c => out.extend_from_slice(b"\\f"),
        other => {
            out.extend_from_slice(b"\\u00");
            out.push(HEX[usize::from(other >> 4)]);
            out.push(HEX[usize::from(other & 0xf)]);
        }
    }
}

/// Text of bytes; what is not UTF-8 becomes U+FFFD. Checking first is much faster than always searching for
/// what to replace.
pub(super) fn to_text(raw: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(raw) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(raw),
    }
}

/// Outcome of decoding one escape: the number of bytes used behind the backslash and what they stand for.
type Escape = (usize, u32);

/// Turns the raw inside of a quoted string with escapes into text; `Err` carries the position of a bad escape in `raw`.
///
/// Bytes that are not UTF-8 and lone surrogates become U+FFFD, as a Java decoder would have them.
pub(super) fn unescape(raw: &[u8]) -> Result<Cow<'_, str>, usize> {
    let mut text = String::with_capacity(raw.len());
    let mut clean_from = 0;
    let mut at = 0;
    let mut high_surrogate = None;
    while at < raw.len() {
        if raw[at] != b'\\' {
            at += 1;
            continue;
        }
        if clean_from < at {
            flush_lone_surrogate(&mut text, &mut high_surrogate);
            text.push_str(&to_text(&raw[clean_from..at]));
        }
        let (used, unit) = decode_escape(&raw[at + 1..]).ok_or(at)?;
        push_unit(&mut text, &mut high_surrogate, unit);
        at += 1 + used;
        clean_from = at;
    }
    flush_lone_surrogate(&mut text, &mut high_surrogate);
    text.push_str(&to_text(&raw[clean_from..]));
    Ok(Cow::Owned(text))
}

/// Appends one UTF-16 unit, joining surrogate pairs.
fn push_unit(text: &mut String, high_surrogate: &mut Option<u32>, unit: u32) {
    if let Some(high) = high_surrogate.take() {
        if (0xDC00..0xE000).contains(&unit) {
            let code_point = 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00);
            text.push(char::from_u32(code_point).unwrap_or(char::REPLACEMENT_CHARACTER));
            return;
        }
        text.push(char::REPLACEMENT_CHARACTER);
    }
    if (0xD800..0xDC00).contains(&unit) {
        *high_surrogate = Some(unit);
    } else {
        text.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
}

fn flush_lone_surrogate(text: &mut String, high_surrogate: &mut Option<u32>) {
    if high_surrogate.take().is_some() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
}

/// Decodes what follows a backslash; `None` when it is no escape of the dialect.
fn decode_escape(rest: &[u8]) -> Option<Escape> {
    let simple = |c: char| Some((1, u32::from(c)));
    match rest.first()? {
        b'"' => simple('"'),
        b'\'' => simple('\''),
        b'\\' => simple('\\'),
        b'/' => simple('/'),
        b'b' => simple('\u{8}'),
        b'f' | b'F' => simple('\u{c}'),
        b'n' => simple('\n'),
        b'r' => simple('\r'),
        b't' => simple('\t'),
        b'v' => simple('\u{b}'),
        b'x' => Some((3, hex(rest.get(1..3)?)?)),
        b'u' => Some((5, hex(rest.get(1..5)?)?)),
        digit @ b'0'..=b'7' => Some((1, u32::from(digit - b'0'))),
        _ => None,
    }
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |sum, &digit| Some(sum * 16 + char::from(digit).to_digit(16)?))
}
