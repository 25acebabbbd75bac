//! Header as JSON text: read with every leniency that clients need, written strictly.

use std::io::Write as _;

use store_core::java_json::{JavaJsonError, Reader, ValueKind, push_quoted};

use super::frame::FrameError;
use super::{Body, ExtFields, LanguageCode, RemotingCommand, SerializeType};

/// Deepest nesting in a header. Two levels are in use; what an unknown field holds is skipped.
const DEPTH_LIMIT: usize = 16;

/// Most fields that one header may have, in either encoding. Clients send some fifteen.
pub const MAX_FIELDS: usize = 1024;

/// Appends the header of `command`: names sorted, all field values text.
///
/// The Go client loses the whole frame when a field value is anything but text, and Java clients read fields
/// of answers without asking whether there is a map, so answers always have one.
pub fn encode(command: &RemotingCommand, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"code\":");
    push_integer(out, command.code);
    if command.ext_fields.is_some() || command.is_response() {
        out.extend_from_slice(b",\"extFields\":{");
        for (index, (name, value)) in command.fields().iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            push_quoted(out, name);
            out.push(b':');
            push_quoted(out, value);
        }
        out.push(b'}');
    }
    out.extend_from_slice(b",\"flag\":");
    push_integer(out, command.flag);
    out.extend_from_slice(b",\"language\":");
    push_quoted(out, command.language.name());
    out.extend_from_slice(b",\"opaque\":");
    push_integer(out, command.opaque);
    if let Some(remark) = &command.remark {
        out.extend_from_slice(b",\"remark\":");
        push_quoted(out, remark);
    }
    out.extend_from_slice(b",\"serializeTypeCurrentRPC\":\"JSON\",\"version\":");
    push_integer(out, command.version);
    out.push(b'}');
}

fn push_integer(out: &mut Vec<u8>, number: i32) {
    // Writing to a vector cannot fail.
    let _ = write!(out, "{number}");
}

/// Reads a header. Absent fields keep Java's defaults: zero, no text.
///
/// # Errors
///
/// [`FrameError::JsonHeader`] for text that is no object of the dialect, [`FrameError::HeaderField`] for a
/// number that is none, [`FrameError::TooManyFields`].
pub fn decode(header: &[u8]) -> Result<RemotingCommand, FrameError> {
    let mut draft = Draft { command: RemotingCommand::request(0), failure: None };
    draft.command.language = LanguageCode::Other;
    draft.command.version = 0;
    draft.command.serialize = SerializeType::Json;
    draft.command.body = Body::empty();
    let mut reader = Reader::new(header, DEPTH_LIMIT);
    let read = reader.object(|reader, name| draft.read(reader, &name)).and_then(|()| reader.end());
    match (read, draft.failure) {
        (_, Some(failure)) => Err(failure),
        (Err(error), None) => Err(FrameError::JsonHeader(error)),
        (Ok(()), None) => Ok(draft.command),
    }
}

/// A command while its header is read, and what is wrong with it apart from the grammar.
struct Draft {
    command: RemotingCommand,
    failure: Option<FrameError>,
}

impl Draft {
    fn read(&mut self, reader: &mut Reader<'_>, name: &str) -> Result<(), JavaJsonError> {
        match name {
            "code" => self.command.code = self.integer(reader, "code")?,
            "version" => self.command.version = self.integer(reader, "version")?,
            "opaque" => self.command.opaque = self.integer(reader, "opaque")?,
            "flag" => self.command.flag = self.integer(reader, "flag")?,
            "language" => {
                let text = reader.text()?;
                self.command.language =
                    text.map_or(LanguageCode::Other, |text| LanguageCode::from_text(&text));
            }
            "remark" => self.command.remark = reader.text()?.map(std::borrow::Cow::into_owned),
            "extFields" => self.command.ext_fields = self.fields(reader)?,
            _ => reader.skip()?,
        }
        Ok(())
    }

    fn integer(&mut self, reader: &mut Reader<'_>, name: &'static str) -> Result<i32, JavaJsonError> {
        let Some(text) = reader.text()? else {
            return Ok(0);
        };
        Ok(text.trim().parse().unwrap_or_else(|_| {
            let found = text.chars().take(24).collect::<String>().escape_debug().to_string();
            self.failure.get_or_insert(FrameError::HeaderField { name, found });
            0
        }))
    }

    /// Values may be numbers or booleans and become text; a null value is as good as absent.
    fn fields(&mut self, reader: &mut Reader<'_>) -> Result<Option<ExtFields>, JavaJsonError> {
        if reader.peek()? == ValueKind::Scalar {
            return reader.skip().map(|()| None);
        }
        let mut fields = ExtFields::with_capacity(16, 512);
        reader.object(|reader, name| {
            let value = reader.text()?;
            if fields.len() >= MAX_FIELDS {
                self.failure.get_or_insert(FrameError::TooManyFields { limit: MAX_FIELDS });
            } else if let Some(value) = value {
                fields.insert(&name, &value);
            }
            Ok(())
        })?;
        Ok(Some(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_FIELDS, decode, encode};
    use crate::remoting::{ExtFields, FrameError, LanguageCode, RemotingCommand};

    fn encoded(command: &RemotingCommand) -> String {
        let mut out = Vec::new();
        encode(command, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn writes_what_java_writes() {
        let mut request = RemotingCommand::request(105).with_field("topic", "T1");
        request.opaque = 7;
        assert_eq!(
            encoded(&request),
            r#"{"code":105,"extFields":{"topic":"T1"},"flag":0,"language":"JAVA","opaque":7,"serializeTypeCurrentRPC":"JSON","version":479}"#
        );
    }

    #[test]
    fn answers_always_have_a_map_and_remarks_are_escaped() {
        let mut answer = RemotingCommand::response_to(&RemotingCommand::request(1), 1).with_remark("a\"b\n");
        answer.ext_fields = None;
        assert_eq!(
            encoded(&answer),
            r#"{"code":1,"extFields":{},"flag":1,"language":"JAVA","opaque":0,"remark":"a\"b\n","serializeTypeCurrentRPC":"JSON","version":479}"#
        );
        assert!(!encoded(&RemotingCommand::request(1)).contains("extFields"));
    }

    #[test]
    fn reads_what_foreign_clients_write() {
        let command = decode(
            br#"{'code':"310",language:12,"version":121,"opaque":5,"flag":2.0e0,"x":{0:[1]},"extFields":{"a":3,"b":false,"c":1.5,"d":null,"e":"\u00e9"}}"#,
        );
        assert!(matches!(&command, Err(FrameError::HeaderField { name: "flag", .. })), "{command:?}");
        let command = decode(
            br#"{'code':"310",language:12,"version":121,"opaque":5,"flag":2,"x":{0:[1]},"extFields":{"a":3,"b":false,"c":1.5,"d":null,"e":"\u00e9"}}"#,
        )
        .unwrap();
        assert_eq!((command.code, command.version, command.opaque, command.flag), (310, 121, 5, 2));
        assert_eq!(command.language, LanguageCode::Rust);
        let expected = ExtFields::from_iter([("a", "3"), ("b", "false"), ("c", "1.5"), ("e", "é")]);
        assert_eq!(command.ext_fields, Some(expected));
        assert_eq!(command.remark, None);
    }

    #[test]
    fn unknown_languages_and_absent_fields_do_no_harm() {
        let command = decode(br#"{"language":"KLINGON","extFields":null,"remark":null}"#).unwrap();
        assert_eq!((command.code, command.language, command.ext_fields), (0, LanguageCode::Other, None));
        assert_eq!(decode(b"{}").unwrap().opaque, 0);
    }

    #[test]
    fn refuses_what_is_no_header() {
        for input in [&b""[..], b"[]", b"1", b"{\"code\":34,", b"{\"code\":34}x", b"{\"extFields\":[]}"] {
            assert!(matches!(decode(input), Err(FrameError::JsonHeader(_))), "{}", input.escape_ascii());
        }
        let many: Vec<_> = (0..=MAX_FIELDS).map(|field| format!("\"f{field}\":1")).collect();
        let text = format!("{{\"extFields\":{{{}}}}}", many.join(","));
        assert!(matches!(decode(text.as_bytes()), Err(FrameError::TooManyFields { limit: MAX_FIELDS })));
    }
}
