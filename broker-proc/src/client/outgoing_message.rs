//! A message as a producer makes it.

use bytes::Bytes;
use store_core::properties::{MAX_LEN, NAME_VALUE_SEPARATOR, PROPERTY_SEPARATOR, names};

use super::ClientError;

/// Names that have a field of their own or are set by the producer.
const RESERVED: [&str; 4] =
    [names::KEYS, names::TAGS, names::WAIT_STORE_MSG_OK, names::UNIQ_CLIENT_MESSAGE_ID_KEYIDX];

/// A message to be sent. Cheap to clone as far as the body is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingMessage {
    /// Topic.
    pub topic: String,
    /// Content; must not be empty.
    pub body: Bytes,
    /// Tag that consumers may filter by.
    pub tag: Option<String>,
    /// Keys that the message can be found by.
    pub keys: Vec<String>,
    /// The user's own flag.
    pub flag: i32,
    /// Whether the broker shall answer only when the message is as safe as it is configured to make it.
    pub wait_store_msg_ok: bool,
    /// Further properties in order, such as `DELAY`.
    pub properties: Vec<(String, String)>,
}

impl OutgoingMessage {
    /// A message without tag, keys and properties.
    #[must_use]
    pub fn new(topic: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self {
            topic: topic.into(),
            body: body.into(),
            tag: None,
            keys: Vec::new(),
            flag: 0,
            wait_store_msg_ok: true,
            properties: Vec::new(),
        }
    }

    /// The property string with the unique id of the message.
    ///
    /// # Errors
    ///
    /// [`ClientError::IllegalMessage`] when the body is empty or a property cannot be written.
    pub(super) fn encode_properties(&self, unique_id: &str) -> Result<String, ClientError> {
        if self.body.is_empty() {
            return Err(self.illegal("the body is empty"));
        }
        let mut text = String::with_capacity(96);
        for (name, value) in &self.properties {
            if RESERVED.contains(&name.as_str()) {
                return Err(self.illegal(format!("the property {name} is set by the producer")));
            }
            self.push_property(&mut text, name, value)?;
        }
        if let Some(tag) = &self.tag {
            self.push_property(&mut text, names::TAGS, tag)?;
        }
        if !self.keys.is_empty() {
            self.push_property(&mut text, names::KEYS, &self.keys.join(" "))?;
        }
        self.push_property(&mut text, names::UNIQ_CLIENT_MESSAGE_ID_KEYIDX, unique_id)?;
        let wait = if self.wait_store_msg_ok { "true" } else { "false" };
        self.push_property(&mut text, names::WAIT_STORE_MSG_OK, wait)?;
        if text.len() > MAX_LEN {
            let found = text.len();
            return Err(self.illegal(format!("properties: expected at most {MAX_LEN} bytes, found {found}")));
        }
        Ok(text)
    }

    fn push_property(&self, text: &mut String, name: &str, value: &str) -> Result<(), ClientError> {
        let separators = [NAME_VALUE_SEPARATOR, PROPERTY_SEPARATOR];
        if name.is_empty() || value.is_empty() {
            return Err(self.illegal(format!("property `{name}`: expected a name and a value")));
        }
        if name.contains(separators) || value.contains(separators) {
            return Err(self.illegal(format!(
                "property `{}`: the characters U+0001 and U+0002 separate properties",
                name.escape_debug()
            )));
        }
        text.push_str(name);
        text.push(NAME_VALUE_SEPARATOR);
        text.push_str(value);
        text.push(PROPERTY_SEPARATOR);
        Ok(())
    }

    fn illegal(&self, reason: impl Into<String>) -> ClientError {
        ClientError::IllegalMessage { topic: self.topic.clone(), reason: reason.into() }
    }
}

/// Appends one entry of a batch body (`MessageDecoder.encodeMessage`): total size, two unused numbers, flag, body
/// and properties with their lengths.
pub(super) fn encode_batch_entry(message: &OutgoingMessage, properties: &str, out: &mut Vec<u8>) {
    let total = 4 * 5 + message.body.len() + 2 + properties.len();
    out.reserve(total);
    out.extend_from_slice(&(total as u32).to_be_bytes());
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(&message.flag.to_be_bytes());
    out.extend_from_slice(&(message.body.len() as u32).to_be_bytes());
    out.extend_from_slice(&message.body);
    out.extend_from_slice(&(properties.len() as u16).to_be_bytes());
    out.extend_from_slice(properties.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::{OutgoingMessage, encode_batch_entry};
    use crate::processors::{BatchEntry, decode_batch};

    #[test]
    fn properties_hold_tag_keys_id_and_wait() {
        let mut message = OutgoingMessage::new("T", "hello");
        message.tag = Some("TagA".to_owned());
        message.keys = vec!["k1".to_owned(), "k2".to_owned()];
        message.properties = vec![("colour".to_owned(), "red".to_owned())];
        message.wait_store_msg_ok = false;
        assert_eq!(
            message.encode_properties("ID").unwrap(),
            "colour\u{1}red\u{2}TAGS\u{1}TagA\u{2}KEYS\u{1}k1 k2\u{2}UNIQ_KEY\u{1}ID\u{2}WAIT\u{1}false\u{2}"
        );
    }

    #[test]
    fn what_cannot_be_read_back_is_refused() {
        let with = |name: &str, value: &str| {
            let mut message = OutgoingMessage::new("T", "hello");
            message.properties = vec![(name.to_owned(), value.to_owned())];
            message.encode_properties("ID").unwrap_err().to_string()
        };
        assert_eq!(with("TAGS", "x"), "message for topic T: the property TAGS is set by the producer");
        assert!(with("", "x").contains("expected a name and a value"));
        assert!(with("a", "").contains("expected a name and a value"));
        assert!(with("a", "b\u{2}c").contains("separate properties"));
        assert!(with("a", &"x".repeat(40_000)).contains("at most 32767 bytes"));
        let empty = OutgoingMessage::new("T", "").encode_properties("ID").unwrap_err();
        assert_eq!(empty.to_string(), "message for topic T: the body is empty");
    }

    #[test]
    fn a_batch_entry_is_what_brokers_read() {
        let mut entry = Vec::new();
        encode_batch_entry(&OutgoingMessage::new("T", "hi"), "TAGS\u{1}TagA\u{2}", &mut entry);
        let expected = b"\0\0\0\x22\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x02hi\0\x0ATAGS\x01TagA\x02";
        assert_eq!(entry, expected);
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config { cases: 100, ..Default::default() })]

        /// What the producer puts together the broker takes apart, and nothing that is cut off passes.
        #[test]
        fn batch_bodies_come_back(
            entries in proptest::collection::vec(proptest::prelude::any::<(i32, Vec<u8>, String)>(), 1..4),
        ) {
            let mut body = Vec::new();
            let mut ends = vec![0];
            for (flag, content, properties) in &entries {
                let mut message = OutgoingMessage::new("T", content.clone());
                message.flag = *flag;
                encode_batch_entry(&message, properties, &mut body);
                ends.push(body.len());
            }
            let decoded = decode_batch(&body).unwrap();
            let expected = entries.iter().map(|(flag, body, properties)| BatchEntry { flag: *flag, body, properties });
            proptest::prop_assert_eq!(decoded, expected.collect::<Vec<_>>());
            for len in 0..body.len() {
                let whole = ends.iter().position(|end| *end == len).filter(|entries| *entries > 0);
                proptest::prop_assert_eq!(decode_batch(&body[..len]).ok().map(|entries| entries.len()), whole);
            }
            for bit in 0..body.len().min(64) * 8 {
                let mut damaged = body.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                let _ = decode_batch(&damaged);
            }
        }
    }
}
