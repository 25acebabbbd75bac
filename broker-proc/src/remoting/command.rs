//! One request or answer.

use std::sync::OnceLock;

use serde::Serialize;
use serde::de::DeserializeOwned;
use store_core::java_json::{self, JavaJsonError};

use super::headers::{CommandHeader, HeaderError};
use super::{Body, ExtFields, LanguageCode, SerializeType, mq_version, request_code, response_code};

/// Bit of [`RemotingCommand::flag`]: the frame is an answer.
const RESPONSE: i32 = 1;
/// Bit of [`RemotingCommand::flag`]: the request wants no answer.
const ONEWAY: i32 = 2;

/// Room that a header gets for its fields and their text: an answer to a send has six, with some 200 bytes.
const HEADER_FIELDS: usize = 8;
const HEADER_TEXT: usize = 256;

/// A request or an answer, as it travels in one frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemotingCommand {
    /// Request code, or response code when the flag says answer.
    pub code: i32,
    /// Language of the sender.
    pub language: LanguageCode,
    /// Version of the sender, see [`mq_version`].
    pub version: i32,
    /// Number of the request on its connection; an answer repeats it.
    pub opaque: i32,
    /// Bit 0: answer, bit 1: no answer wanted.
    pub flag: i32,
    /// Text for people, mostly why a request failed.
    pub remark: Option<String>,
    /// The text fields; `None` is not the same as no fields for a Java peer.
    pub ext_fields: Option<ExtFields>,
    /// Encoding of the header: how it came, or how it shall go.
    pub serialize: SerializeType,
    /// What follows the header.
    pub body: Body,
}

impl RemotingCommand {
    fn new(code: i32, flag: i32) -> Self {
        Self {
            code,
            language: LanguageCode::Java,
            version: mq_version::CURRENT,
            opaque: 0,
            flag,
            remark: None,
            ext_fields: None,
            serialize: SerializeType::Json,
            body: Body::empty(),
        }
    }

    /// A request without fields and body. The connection that sends it gives it its number.
    #[must_use]
    pub fn request(code: i32) -> Self {
        Self::new(code, 0)
    }

    /// A request with the fields of `header`.
    #[must_use]
    pub fn request_with<H: CommandHeader>(code: i32, header: &H) -> Self {
        Self::request(code).with_header(header)
    }

    /// The answer to `request`: its number, its header encoding and an empty set of fields.
    ///
    /// Java answers in its own configured encoding whatever the request had; answering in kind is what every
    /// client understands.
    #[must_use]
    pub fn response_to(request: &Self, code: i32) -> Self {
        Self {
            opaque: request.opaque,
            serialize: request.serialize,
            ext_fields: Some(ExtFields::new()),
            ..Self::new(code, RESPONSE)
        }
    }

    /// The answer to a request whose code nobody serves.
    #[must_use]
    pub fn not_supported(request: &Self) -> Self {
        Self::response_to(request, response_code::REQUEST_CODE_NOT_SUPPORTED)
            .with_remark(format!(" request type {} not supported", request.code))
    }

    /// The answer `SYSTEM_ERROR` with a reason.
    #[must_use]
    pub fn system_error(request: &Self, remark: impl Into<String>) -> Self {
        Self::response_to(request, response_code::SYSTEM_ERROR).with_remark(remark)
    }

    /// Sets the text for people.
    #[must_use]
    pub fn with_remark(mut self, remark: impl Into<String>) -> Self {
        self.remark = Some(remark.into());
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Body>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets the body to the JSON text of `value`.
    ///
    /// # Errors
    ///
    /// [`JavaJsonError::Write`] as [`java_json::to_vec`].
    pub fn with_json_body<T: Serialize + ?Sized>(self, value: &T) -> Result<Self, JavaJsonError> {
        Ok(self.with_body(java_json::to_vec(value)?))
    }

    /// Adds the fields of `header`.
    #[must_use]
    pub fn with_header<H: CommandHeader>(mut self, header: &H) -> Self {
        let fields = self.ext_fields.get_or_insert_with(ExtFields::new);
        fields.reserve(HEADER_FIELDS, HEADER_TEXT);
        header.encode_into(fields);
        self
    }

    /// Adds one field.
    #[must_use]
    pub fn with_field(mut self, name: &str, value: &str) -> Self {
        self.ext_fields.get_or_insert_with(ExtFields::new).insert(name, value);
        self
    }

    /// Marks a request as one that wants no answer.
    #[must_use]
    pub fn oneway(mut self) -> Self {
        self.flag |= ONEWAY;
        self
    }

    /// Whether this is an answer.
    #[must_use]
    pub fn is_response(&self) -> bool {
        self.flag & RESPONSE != 0
    }

    /// Whether this is a request that wants no answer.
    #[must_use]
    pub fn is_oneway(&self) -> bool {
        self.flag & ONEWAY != 0
    }

    /// Turns this into the answer to `request` as far as the connection is concerned, so that a handler
    /// cannot send an answer to the wrong place.
    pub(super) fn address_to(&mut self, opaque: i32, serialize: SerializeType) {
        self.opaque = opaque;
        self.serialize = serialize;
        self.flag |= RESPONSE;
    }

    /// The fields; none when the header had no map.
    #[must_use]
    pub fn fields(&self) -> &ExtFields {
        static NONE: OnceLock<ExtFields> = OnceLock::new();
        self.ext_fields.as_ref().unwrap_or_else(|| NONE.get_or_init(ExtFields::new))
    }

    /// Value of one field.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.ext_fields.as_ref()?.get(name)
    }

    /// Reads the fields as a typed header.
    ///
    /// # Errors
    ///
    /// [`HeaderError`] naming the field that is missing or malformed.
    pub fn decode_header<H: CommandHeader>(&self) -> Result<H, HeaderError> {
        H::decode(self.fields())
    }

    /// Reads the body as JSON of the Java dialect.
    ///
    /// # Errors
    ///
    /// [`JavaJsonError`] naming the place; an empty body is an error too.
    pub fn decode_body<T: DeserializeOwned>(&self) -> Result<T, JavaJsonError> {
        java_json::from_slice(&self.body.to_bytes())
    }

    /// Name of the code for messages to people: the table's name or the number.
    #[must_use]
    pub fn code_name(&self) -> String {
        let known =
            if self.is_response() { response_code::name(self.code) } else { request_code::name(self.code) };
        known.map_or_else(|| self.code.to_string(), |name| format!("{name} ({})", self.code))
    }
}

#[cfg(test)]
mod tests {
    use super::RemotingCommand;
    use crate::remoting::{SerializeType, request_code, response_code};

    #[test]
    fn answers_go_where_the_request_came_from() {
        let mut request = RemotingCommand::request(request_code::PULL_MESSAGE);
        request.opaque = 77;
        request.serialize = SerializeType::RocketMq;
        assert!(!request.is_response() && !request.is_oneway() && request.clone().oneway().is_oneway());
        let answer = RemotingCommand::response_to(&request, response_code::PULL_NOT_FOUND).with_remark("x");
        assert!(answer.is_response());
        assert_eq!((answer.opaque, answer.serialize), (77, SerializeType::RocketMq));
        assert!(answer.ext_fields.is_some(), "Java clients need the map");
    }

    #[test]
    fn unknown_requests_get_the_text_tools_know() {
        let answer = RemotingCommand::not_supported(&RemotingCommand::request(4711));
        assert_eq!(answer.code, 3);
        assert_eq!(answer.remark.as_deref(), Some(" request type 4711 not supported"));
        assert_eq!(answer.code_name(), "REQUEST_CODE_NOT_SUPPORTED (3)");
        assert_eq!(RemotingCommand::request(4711).code_name(), "4711");
    }

    #[test]
    fn a_missing_map_reads_as_no_fields() {
        let request = RemotingCommand::request(request_code::HEART_BEAT);
        assert_eq!((request.fields().len(), request.field("x")), (0, None));
        assert_eq!(request.with_field("x", "1").field("x"), Some("1"));
    }
}
