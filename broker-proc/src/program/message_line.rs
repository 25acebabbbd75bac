//! A message as one line of output.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use clap::ValueEnum;
use serde::{Serialize, Serializer};

use crate::client::{Compression, ReceivedMessage, SendResult};
use crate::remoting::protocol::MessageQueue;

/// What can stand before the body of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MessageField {
    /// Id that the producer gave to the message
    Id,
    /// Queue, `TOPIC@BROKER:NUMBER`
    Queue,
    /// Offset in the queue
    Offset,
    /// Tag
    Tag,
    /// Keys
    Keys,
    /// Time of storage, RFC 3339
    Time,
}

/// Line for a message that was sent: `msgId queueId queueOffset status`.
#[must_use]
pub fn sent_line(result: &SendResult) -> String {
    format!("{} {} {} {}", result.msg_id, result.queue.queue_id, result.queue_offset, result.status)
}

/// The same as a JSON object. Numbers of 64 bits are text, as many readers of JSON would round them.
#[must_use]
pub fn sent_json(result: &SendResult) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Sent<'a> {
        msg_id: &'a str,
        offset_msg_id: &'a str,
        topic: &'a str,
        broker_name: &'a str,
        queue_id: i32,
        #[serde(serialize_with = "as_text")]
        queue_offset: i64,
        status: &'static str,
    }
    json(&Sent {
        msg_id: &result.msg_id,
        offset_msg_id: &result.offset_msg_id,
        topic: &result.queue.topic,
        broker_name: &result.queue.broker_name,
        queue_id: result.queue.queue_id,
        queue_offset: result.queue_offset,
        status: result.status.name(),
    })
}

/// Line for a message of `queue`: the fields asked for and the body, separated by tabs.
///
/// Control characters are written as escapes, so that a message is one line and does nothing to a terminal. A body
/// that is not text stands there as `base64:…`, one whose compression is unknown to the client as `base64(LZ4):…`.
#[must_use]
pub fn received_line(message: &ReceivedMessage, queue: &MessageQueue, fields: &[MessageField]) -> String {
    let mut line = String::new();
    for field in fields {
        match field {
            MessageField::Id => push_escaped(&mut line, &message.msg_id),
            MessageField::Queue => push_escaped(&mut line, &queue.to_string()),
            MessageField::Offset => push_escaped(&mut line, &message.queue_offset.to_string()),
            MessageField::Tag => push_escaped(&mut line, message.tag().unwrap_or("-")),
            MessageField::Keys => push_escaped(&mut line, message.keys().unwrap_or("-")),
            MessageField::Time => push_escaped(&mut line, &time(message.store_timestamp)),
        }
        line.push('\t');
    }
    match (message.compression, std::str::from_utf8(&message.body)) {
        (Some(compression), _) => {
            // Writing to a string cannot fail.
            let _ = write!(line, "base64({}):", compression_name(compression));
            BASE64.encode_string(&message.body, &mut line);
        }
        (None, Ok(text)) => push_escaped(&mut line, text),
        (None, Err(_)) => {
            line.push_str("base64:");
            BASE64.encode_string(&message.body, &mut line);
        }
    }
    line
}

/// A message of `queue` as a JSON object. The body is `body` when it is text and `bodyBase64` when not.
#[must_use]
pub fn received_json(message: &ReceivedMessage, queue: &MessageQueue) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Received<'a> {
        msg_id: &'a str,
        offset_msg_id: &'a str,
        topic: &'a str,
        broker_name: &'a str,
        queue_id: i32,
        #[serde(serialize_with = "as_text")]
        queue_offset: i64,
        #[serde(serialize_with = "as_text")]
        born_timestamp: i64,
        #[serde(serialize_with = "as_text")]
        store_timestamp: i64,
        born_host: String,
        reconsume_times: i32,
        flag: i32,
        properties: BTreeMap<&'a str, &'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        body: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        body_base64: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        compression: Option<&'static str>,
    }
    let body = std::str::from_utf8(&message.body).ok().filter(|_| message.compression.is_none());
    json(&Received {
        msg_id: &message.msg_id,
        offset_msg_id: &message.offset_msg_id,
        topic: &message.topic,
        broker_name: &queue.broker_name,
        queue_id: message.queue_id,
        queue_offset: message.queue_offset,
        born_timestamp: message.born_timestamp,
        store_timestamp: message.store_timestamp,
        born_host: message.born_host.to_string(),
        reconsume_times: message.reconsume_times,
        flag: message.flag,
        properties: message.properties.iter().collect(),
        body,
        body_base64: body.is_none().then(|| BASE64.encode(&message.body)),
        compression: message.compression.map(compression_name),
    })
}

fn json<T: Serialize>(value: &T) -> String {
    // These objects have text keys and no values that JSON cannot express.
    serde_json::to_string(value).unwrap_or_default()
}

fn as_text<S: Serializer>(number: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}

fn push_escaped(line: &mut String, text: &str) {
    for char in text.chars() {
        if char.is_control() { line.extend(char.escape_default()) } else { line.push(char) }
    }
}

fn time(millis: i64) -> String {
    jiff::Timestamp::from_millisecond(millis).map_or_else(|_| millis.to_string(), |time| format!("{time:.3}"))
}

fn compression_name(compression: Compression) -> &'static str {
    match compression {
        Compression::Lz4 => "LZ4",
        Compression::Zstd => "ZSTD",
        Compression::Unknown => "unknown",
    }
}

#[cfg(test)]
mod tests;
