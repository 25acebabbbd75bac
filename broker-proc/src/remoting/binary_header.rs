//! Header in the compact form that Java calls ROCKETMQ. All numbers are big endian.

use super::frame::FrameError;
use super::json_header::MAX_FIELDS;
use super::{Body, ExtFields, LanguageCode, RemotingCommand, SerializeType};

/// Whether `command` can be written in this form at all: code and version have only 16 bits.
///
/// Java cuts larger codes to 16 bits, so that POP requests arrive as unknown ones. A command that does not
/// fit is written as JSON instead, which a peer accepts on any frame.
#[must_use]
pub fn fits(command: &RemotingCommand) -> bool {
    let name_limit = i16::MAX.unsigned_abs().into();
    i16::try_from(command.code).is_ok()
        && i16::try_from(command.version).is_ok()
        && command.fields().iter().all(|(name, _)| name.len() <= name_limit)
}

/// Appends the header of `command`, which must [fit](fits): what does not is cut to 16 bits.
pub fn encode(command: &RemotingCommand, out: &mut Vec<u8>) {
    push_i16(out, command.code);
    out.push(command.language.code());
    push_i16(out, command.version);
    out.extend_from_slice(&command.opaque.to_be_bytes());
    out.extend_from_slice(&command.flag.to_be_bytes());
    push_text(out, command.remark.as_deref().unwrap_or_default());
    let length_at = out.len();
    out.extend_from_slice(&[0; 4]);
    for (name, value) in command.fields().iter() {
        push_i16(out, i32::try_from(name.len()).unwrap_or(i32::MAX));
        out.extend_from_slice(name.as_bytes());
        push_text(out, value);
    }
    let fields_len = length(out.len() - length_at - 4);
    out[length_at..length_at + 4].copy_from_slice(&fields_len);
}

fn push_i16(out: &mut Vec<u8>, number: i32) {
    let [_, _, high, low] = number.to_be_bytes();
    out.extend_from_slice(&[high, low]);
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&length(text.len()));
    out.extend_from_slice(text.as_bytes());
}

/// A length on the wire. Frames end at 16 MiB, so larger ones are refused before they are sent.
fn length(len: usize) -> [u8; 4] {
    u32::try_from(len).unwrap_or(u32::MAX).to_be_bytes()
}

/// Reads a header.
///
/// # Errors
///
/// [`FrameError::BinaryHeader`] when a length inside does not fit what is left,
/// [`FrameError::TooManyFields`].
pub fn decode(header: &[u8]) -> Result<RemotingCommand, FrameError> {
    let mut rest = Rest { bytes: header, len: header.len() };
    let code = rest.i16("code")?;
    let language = LanguageCode::from_code(rest.array::<1>("language")?[0]);
    let version = rest.i16("version")?;
    let opaque = i32::from_be_bytes(rest.array("opaque")?);
    let flag = i32::from_be_bytes(rest.array("flag")?);
    let remark = rest.long_text("remark")?;
    let fields = rest.block("extFields")?;
    if !rest.bytes.is_empty() {
        return Err(rest.error("the end of the header", rest.bytes.len()));
    }
    Ok(RemotingCommand {
        code,
        language,
        version,
        opaque,
        flag,
        remark: (!remark.is_empty()).then(|| String::from_utf8_lossy(remark).into_owned()),
        ext_fields: decode_fields(fields)?,
        serialize: SerializeType::RocketMq,
        body: Body::empty(),
    })
}

/// Reads the entries of the field block. Java reads an empty value as null; here it stays an empty text.
fn decode_fields(block: &[u8]) -> Result<Option<ExtFields>, FrameError> {
    if block.is_empty() {
        return Ok(None);
    }
    let mut fields = ExtFields::with_capacity(16, block.len());
    let mut rest = Rest { bytes: block, len: block.len() };
    while !rest.bytes.is_empty() {
        if fields.len() >= MAX_FIELDS {
            return Err(FrameError::TooManyFields { limit: MAX_FIELDS });
        }
        let name = rest.short_text("field name")?;
        let value = rest.long_text("field value")?;
        fields.insert(&String::from_utf8_lossy(name), &String::from_utf8_lossy(value));
    }
    Ok(Some(fields))
}

/// The part of a header that is still to be read.
struct Rest<'a> {
    bytes: &'a [u8],
    len: usize,
}

impl<'a> Rest<'a> {
    fn take(&mut self, len: usize, what: &'static str) -> Result<&'a [u8], FrameError> {
        let (taken, rest) = self.bytes.split_at_checked(len).ok_or_else(|| self.error(what, len))?;
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], FrameError> {
        let (taken, rest) = self.bytes.split_first_chunk::<N>().ok_or_else(|| self.error(what, N))?;
        self.bytes = rest;
        Ok(*taken)
    }

    fn i16(&mut self, what: &'static str) -> Result<i32, FrameError> {
        Ok(i16::from_be_bytes(self.array(what)?).into())
    }

    fn short_text(&mut self, what: &'static str) -> Result<&'a [u8], FrameError> {
        let len = self.i16(what)?;
        self.take_signed(len, what)
    }

    fn long_text(&mut self, what: &'static str) -> Result<&'a [u8], FrameError> {
        let len = i32::from_be_bytes(self.array(what)?);
        self.take_signed(len, what)
    }

    fn block(&mut self, what: &'static str) -> Result<&'a [u8], FrameError> {
        self.long_text(what)
    }

    fn take_signed(&mut self, len: i32, what: &'static str) -> Result<&'a [u8], FrameError> {
        match usize::try_from(len) {
            Ok(len) => self.take(len, what),
            Err(_) => Err(FrameError::BinaryHeader {
                what,
                offset: self.offset(),
                wanted: len.into(),
                left: self.bytes.len(),
            }),
        }
    }

    fn offset(&self) -> usize {
        self.len - self.bytes.len()
    }

    fn error(&self, what: &'static str, wanted: usize) -> FrameError {
        FrameError::BinaryHeader {
            what,
            offset: self.offset(),
            wanted: i64::try_from(wanted).unwrap_or(i64::MAX),
            left: self.bytes.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{decode, encode, fits};
    use crate::remoting::{ExtFields, FrameError, LanguageCode, RemotingCommand, SerializeType};

    /// `code 105, JAVA, version 479, opaque 7, no flag, no remark, topic=T1`.
    const ROUTE_QUERY: &[u8] =
        b"\x00\x69\x00\x01\xDF\0\0\0\x07\0\0\0\0\0\0\0\0\0\0\0\x0D\0\x05topic\0\0\0\x02T1";

    fn route_query() -> RemotingCommand {
        let mut command = RemotingCommand::request(105).with_field("topic", "T1");
        command.opaque = 7;
        command.serialize = SerializeType::RocketMq;
        command
    }

    #[test]
    fn both_ways_byte_by_byte() {
        let mut out = Vec::new();
        encode(&route_query(), &mut out);
        assert_eq!(out, ROUTE_QUERY);
        assert_eq!(decode(ROUTE_QUERY).unwrap(), route_query());
    }

    #[test]
    fn remark_negative_numbers_and_empty_values_survive() {
        let mut command = RemotingCommand::response_to(&route_query(), -1).with_remark("straße");
        command.ext_fields = Some(ExtFields::from_iter([("a", ""), ("", "b")]));
        command.language = LanguageCode::NodeJs;
        let mut out = Vec::new();
        encode(&command, &mut out);
        assert_eq!(decode(&out).unwrap(), command);
    }

    #[test]
    fn codes_beyond_sixteen_bits_do_not_fit() {
        for (code, expected) in
            [(10, true), (32_767, true), (32_768, false), (200_050, false), (-32_768, true)]
        {
            assert_eq!(fits(&RemotingCommand::request(code)), expected, "{code}");
        }
        let mut wrapped = Vec::new();
        encode(&RemotingCommand::request(200_050), &mut wrapped);
        assert_eq!(decode(&wrapped).unwrap().code, 3442, "what a Java peer makes of POP_MESSAGE");
        assert!(!fits(&RemotingCommand::request(1).with_field(&"n".repeat(32_768), "")));
    }

    #[test]
    fn every_cut_and_every_wrong_length_is_refused() {
        for len in 0..ROUTE_QUERY.len() {
            assert!(decode(&ROUTE_QUERY[..len]).is_err(), "cut at {len}");
        }
        for (at, what) in [(13, "remark"), (17, "extFields"), (21, "field name"), (28, "field value")] {
            let mut bad = ROUTE_QUERY.to_vec();
            bad[at] = 0xff;
            match decode(&bad) {
                Err(FrameError::BinaryHeader { what: named, wanted, .. }) => {
                    assert_eq!(named, what);
                    assert!(wanted < 0);
                }
                other => panic!("{what}: {other:?}"),
            }
        }
        let longer = [ROUTE_QUERY, b"x"].concat();
        assert!(decode(&longer).unwrap_err().to_string().contains("the end of the header"));
    }
}
