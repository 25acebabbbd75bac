//! `expected.json`: what Java read in a store and what it made of it.

use crate::other_queues::{BatchQueueDump, ExtDump};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Expected {
    #[serde(default)]
    pub config: BTreeMap<String, String>,
    #[serde(default)]
    pub commitlog: Vec<LogEntry>,
    #[serde(default)]
    pub consumequeue: Vec<QueueDump>,
    #[serde(default)]
    pub batchconsumequeue: Vec<BatchQueueDump>,
    #[serde(default, rename = "consumequeue_ext")]
    pub consumequeue_ext: Vec<ExtDump>,
    #[serde(default)]
    pub index: Vec<IndexDump>,
    pub checkpoint: Option<BTreeMap<String, i64>>,
    pub abort: bool,
    #[serde(rename = "java_open")]
    pub java_open: JavaOpen,
    /// Everything else, which has to be in the table of later releases; but `files` only lists names and sums.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum LogEntry {
    Message(Box<MessageDump>),
    Blank { phy: u64, size: u32, file_rest: u64 },
    Zero { phy: u64, length: u64 },
    Unreadable { phy: u64 },
}

/// A record; the dumps of the damaged stores have only the first few fields.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageDump {
    pub phy: u64,
    pub size: u32,
    pub topic: String,
    pub queue_id: i32,
    pub queue_offset: i64,
    pub version: Option<String>,
    #[serde(rename = "bodyCRC")]
    pub body_crc: Option<u32>,
    pub flag: Option<i32>,
    pub physical_offset: Option<i64>,
    pub sys_flag: Option<i32>,
    pub born_timestamp: Option<i64>,
    pub born_host: Option<String>,
    pub store_timestamp: Option<i64>,
    pub store_host: Option<String>,
    pub reconsume_times: Option<i32>,
    pub prepared_transaction_offset: Option<i64>,
    pub body_length: Option<usize>,
    pub body_hex: Option<String>,
    pub body_sha256: Option<String>,
    pub properties_length: Option<usize>,
    pub properties_raw: Option<String>,
    pub properties_sha256: Option<String>,
    pub properties: Option<BTreeMap<String, String>>,
    pub tags_code: Option<i64>,
    pub msg_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueueDump {
    pub topic: String,
    pub queue_id: i32,
    /// `name:size`.
    pub files: Vec<String>,
    /// Queue offset, position, size, tag code.
    pub units: Vec<(u64, u64, u32, i64)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IndexDump {
    pub file: String,
    pub begin_timestamp: i64,
    pub end_timestamp: i64,
    pub begin_phy_offset: u64,
    pub end_phy_offset: u64,
    pub hash_slot_count: u32,
    pub index_count: u32,
    /// Slot → newest entry.
    pub slots: BTreeMap<String, u32>,
    /// Number, key hash, position, seconds, previous entry.
    pub entries: Vec<(u32, u32, u64, i32, u32)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JavaOpen {
    pub load: bool,
    pub min_phy_offset: Option<u64>,
    pub max_phy_offset: Option<u64>,
    pub flushed_where: Option<u64>,
    #[serde(default)]
    pub queues: Vec<OpenQueue>,
    #[serde(default)]
    pub index_lookups: Vec<IndexLookup>,
    /// Topic, queue, time, LOWER, UPPER.
    #[serde(default, rename = "offsetByTime_topic_queue_time_lower_upper")]
    pub offset_by_time: Vec<(String, i32, i64, u64, u64)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenQueue {
    pub topic: String,
    pub queue_id: i32,
    pub min: u64,
    pub max: u64,
    /// Queue offset, position, size.
    #[serde(default, rename = "messages_qo_phy_size")]
    pub messages: Vec<(i64, u64, u32)>,
    /// Offset asked for → `STATUS:next`.
    #[serde(default, rename = "get_status_next")]
    pub get_status_next: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexLookup {
    pub topic: String,
    pub key: String,
    pub key_hash: u32,
    /// Newest first, by hash alone.
    pub phy: Vec<u64>,
}

impl Expected {
    /// Records of the log dump.
    pub fn messages(&self) -> impl Iterator<Item = &MessageDump> {
        self.commitlog.iter().filter_map(|entry| match entry {
            LogEntry::Message(message) => Some(&**message),
            _ => None,
        })
    }
}

impl OpenQueue {
    pub fn name(&self) -> String {
        format!("{}:{}", self.topic, self.queue_id)
    }
}
