use broker_proc::remoting::Body;
use store_core::properties;
use store_core::record_format::{Decoded, decode};

/// What a test wants to know of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMessage {
    pub topic: String,
    pub queue_id: i32,
    pub queue_offset: i64,
    pub physical_offset: i64,
    pub flag: i32,
    pub sys_flag: i32,
    pub born_timestamp: i64,
    pub born_host: std::net::SocketAddr,
    pub store_timestamp: i64,
    pub store_host: std::net::SocketAddr,
    pub reconsume_times: i32,
    pub body: String,
    pub properties: String,
}

impl StoredMessage {
    /// Value of a property, empty when it is not there.
    pub fn property(&self, name: &str) -> &str {
        properties::get(&self.properties, name).unwrap_or("")
    }
}

/// The records of the body of an answer, their checksums checked.
pub fn stored_messages(body: &Body) -> Vec<StoredMessage> {
    let bytes = body.to_bytes();
    let mut rest = &bytes[..];
    let mut messages = Vec::new();
    while !rest.is_empty() {
        let view = match decode(rest, true) {
            Ok(Decoded::Record(view)) => view,
            other => panic!("record {} of the body: {other:?}", messages.len()),
        };
        messages.push(StoredMessage {
            topic: view.topic.to_owned(),
            queue_id: view.queue_id,
            queue_offset: view.queue_offset,
            physical_offset: view.physical_offset,
            flag: view.flag,
            sys_flag: view.sys_flag,
            born_timestamp: view.born_timestamp,
            born_host: view.born_host,
            store_timestamp: view.store_timestamp,
            store_host: view.store_host,
            reconsume_times: view.reconsume_times,
            body: String::from_utf8_lossy(view.body).into_owned(),
            properties: view.properties.to_owned(),
        });
        rest = &rest[usize::try_from(view.total_size).unwrap()..];
    }
    messages
}
