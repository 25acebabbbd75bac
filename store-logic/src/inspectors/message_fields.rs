//! A record as fields: short for lists, whole for one message.

use crate::commit_log::format::MessageView;
use crate::dispatch::{DeliverTime, DispatchRequest, RecordHead, SCHEDULE_TOPIC};
use crate::message::properties::{self, Properties, names};
use crate::message::{message_id, sys_flag};
use store_mmap::inspect::{FieldValue, Fields};

/// Bits of the sysFlag that tell how a body is compressed (`MessageSysFlag.COMPRESSION_TYPE_COMPARATOR`).
const COMPRESSION_MASK: i32 = 0x700;

/// Leaves the deliver time of delayed messages open: their queue units are not asked for.
struct Undelayed;

impl DeliverTime for Undelayed {
    fn deliver_timestamp(&self, _level: i32, _store_timestamp: i64) -> i64 {
        0
    }

    fn max_level(&self) -> i32 {
        0
    }
}

/// What a record tells queue and index. The tag code is the hash of the tags, also for a delayed message.
pub fn facts<'a>(phy_offset: u64, view: &MessageView<'a>) -> DispatchRequest<'a> {
    facts_of_parts(&RecordHead::new(phy_offset, view), view.topic, view.properties)
}

/// The same of a record of which only these parts are at hand.
pub fn facts_of_parts<'a>(head: &RecordHead, topic: &'a str, properties: &'a str) -> DispatchRequest<'a> {
    let mut request = DispatchRequest::of_parts(head, topic, properties, &Undelayed);
    if topic != SCHEDULE_TOPIC {
        return request;
    }
    request.tags_code = crate::message::tags_code::tags_code(request.tags);
    request
}

/// A record in a few fields: where it is, what it is called, how long it is.
pub fn record_fields(phy_offset: u64, view: &MessageView<'_>) -> Fields {
    let facts = facts(phy_offset, view);
    let mut fields = Fields::new()
        .with("offset", phy_offset)
        .with("size", view.total_size)
        .with("storeTime", FieldValue::Millis(view.store_timestamp))
        .with("topic", view.topic)
        .with("queueId", view.queue_id)
        .with("queueOffset", view.queue_offset);
    for (name, value) in [("uniqKey", facts.uniq_key), ("keys", facts.keys), ("tags", facts.tags)] {
        if let Some(value) = value {
            fields.push(name, value);
        }
    }
    if let Some(kind) = transaction_name(view.sys_flag) {
        fields.push("transaction", kind);
    }
    fields.with("bodyLength", view.body.len() as u64)
}

/// A record with all it holds. The body stands there as `body` when it is plain text, else as `bodyBase64`.
pub fn message_fields(phy_offset: u64, view: &MessageView<'_>) -> Fields {
    let mut fields = Fields::new()
        .with("msgId", unique_id(phy_offset, view))
        .with("offsetMsgId", message_id::encode(&view.store_host, phy_offset))
        .with("topic", view.topic)
        .with("queueId", view.queue_id)
        .with("queueOffset", view.queue_offset)
        .with("physicalOffset", phy_offset)
        .with("size", view.total_size)
        .with("version", view.version)
        .with("bodyCrc", view.body_crc)
        .with("flag", view.flag)
        .with("sysFlag", view.sys_flag)
        .with("bornTime", FieldValue::Millis(view.born_timestamp))
        .with("bornHost", view.born_host.to_string())
        .with("storeTime", FieldValue::Millis(view.store_timestamp))
        .with("storeHost", view.store_host.to_string())
        .with("reconsumeTimes", view.reconsume_times)
        .with("preparedTransactionOffset", view.prepared_transaction_offset);
    if let Some(kind) = transaction_name(view.sys_flag) {
        fields.push("transaction", kind);
    }
    let mut pairs = Fields::new();
    for (name, value) in Properties::parse(view.properties).iter() {
        pairs.push(name.to_owned(), value);
    }
    fields.push("properties", pairs);
    if view.properties.len() != view.properties_bytes.len() {
        fields.push("propertiesBase64", view.properties_bytes.to_vec());
    }
    fields.push("bodyLength", view.body.len() as u64);
    push_body(&mut fields, view);
    fields
}

/// The id the client gave, or else the one the broker did.
fn unique_id(phy_offset: u64, view: &MessageView<'_>) -> String {
    match properties::get(view.properties, names::UNIQ_CLIENT_MESSAGE_ID_KEYIDX) {
        Some(id) => id.to_owned(),
        None => message_id::encode(&view.store_host, phy_offset),
    }
}

fn push_body(fields: &mut Fields, view: &MessageView<'_>) {
    let compression = compression_name(view.sys_flag);
    if let Some(name) = compression {
        fields.push("compression", name);
    }
    match std::str::from_utf8(view.body) {
        Ok(text) if compression.is_none() => fields.push("body", text),
        _ => fields.push("bodyBase64", view.body.to_vec()),
    }
}

/// How the body is compressed; `None` when it is not.
fn compression_name(flag: i32) -> Option<&'static str> {
    if flag & sys_flag::COMPRESSED == 0 {
        return None;
    }
    Some(match (flag & COMPRESSION_MASK) >> 8 {
        0 | 3 => "zlib",
        1 => "lz4",
        2 => "zstd",
        _ => "unknown",
    })
}

fn transaction_name(flag: i32) -> Option<&'static str> {
    match sys_flag::transaction(flag) {
        sys_flag::TRANSACTION_PREPARED => Some("prepared"),
        sys_flag::TRANSACTION_COMMIT => Some("commit"),
        sys_flag::TRANSACTION_ROLLBACK => Some("rollback"),
        _ => None,
    }
}
