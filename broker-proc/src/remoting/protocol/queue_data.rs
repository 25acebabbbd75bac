//! Answer to `QUERY_CONSUME_QUEUE`.

use serde::{Deserialize, Serialize};

use super::SubscriptionData;

/// One entry of a queue.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ConsumeQueueData {
    /// Position of the record in the commit log.
    pub physic_offset: i64,
    /// Size of the record in bytes.
    pub physic_size: i32,
    /// Hash of the tag.
    pub tags_code: i64,
    /// The extension unit as JSON text.
    pub extend_data_json: Option<String>,
    /// The filter bitmap as text.
    pub bit_map: Option<String>,
    /// Whether the record passes the filter.
    pub eval: bool,
    /// What went wrong.
    pub msg: Option<String>,
}

/// Entries of a queue.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct QueryConsumeQueueResponseBody {
    /// Subscription of the group that was asked for.
    pub subscription_data: Option<SubscriptionData>,
    /// Its filter as text.
    pub filter_data: Option<String>,
    /// The entries.
    pub queue_data: Vec<ConsumeQueueData>,
    /// Offset behind the last entry of the queue.
    pub max_queue_index: i64,
    /// First offset of the queue.
    pub min_queue_index: i64,
}
