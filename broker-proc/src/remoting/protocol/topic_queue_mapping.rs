//! Mappings of static topics: logical queues spread over brokers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Mapping of one static topic on one broker, without its items.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TopicQueueMappingInfo {
    /// Name of the topic.
    pub topic: Option<String>,
    /// Scope of the mapping.
    pub scope: Option<String>,
    /// Number of logical queues.
    pub total_queues: i32,
    /// Name of the broker.
    pub bname: Option<String>,
    /// Version of the mapping, in milliseconds since 1970.
    pub epoch: i64,
    /// Whether the mapping is being changed.
    pub dirty: bool,
    /// Logical queue → physical queue, for those that this broker leads.
    pub curr_id_map: BTreeMap<i32, i32>,
}

/// Mapping of one static topic on one broker with its items.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TopicQueueMappingDetail {
    /// Name of the topic.
    pub topic: Option<String>,
    /// Scope of the mapping.
    pub scope: Option<String>,
    /// Number of logical queues.
    pub total_queues: i32,
    /// Name of the broker.
    pub bname: Option<String>,
    /// Version of the mapping, in milliseconds since 1970.
    pub epoch: i64,
    /// Whether the mapping is being changed.
    pub dirty: bool,
    /// Logical queue → physical queue.
    pub curr_id_map: BTreeMap<i32, i32>,
    /// Logical queue → the pieces it consists of.
    pub hosted_queues: BTreeMap<i32, Vec<LogicQueueMappingItem>>,
}

/// One piece of a logical queue.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct LogicQueueMappingItem {
    /// Generation, counts up with every move.
    #[serde(rename = "gen")]
    pub generation: i32,
    /// Physical queue.
    pub queue_id: i32,
    /// Name of the broker that holds it.
    pub bname: Option<String>,
    /// First logical offset.
    pub logic_offset: i64,
    /// First physical offset.
    pub start_offset: i64,
    /// Physical offset behind the last one, −1 while the piece is open.
    pub end_offset: i64,
    /// Start in milliseconds since 1970, −1 when not known.
    pub time_of_start: i64,
    /// End in milliseconds since 1970, −1 when not known.
    pub time_of_end: i64,
}
