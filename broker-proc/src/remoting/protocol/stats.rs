//! Progress of topics and groups, statistics of a broker.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::MessageQueue;

/// Range of one queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TopicOffset {
    /// First offset.
    pub min_offset: i64,
    /// Offset behind the last message.
    pub max_offset: i64,
    /// Store time of the last message, in milliseconds since 1970.
    pub last_update_timestamp: i64,
}

/// Answer to `GET_TOPIC_STATS_INFO`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TopicStatsTable {
    /// Range by queue.
    pub offset_table: BTreeMap<MessageQueue, TopicOffset>,
    /// Messages stored per second.
    pub topic_put_tps: f64,
}

/// Progress of a group in one queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct OffsetWrapper {
    /// Offset behind the last message of the queue.
    pub broker_offset: i64,
    /// Offset that the group has committed.
    pub consumer_offset: i64,
    /// Offset that the group pulls next.
    pub pull_offset: i64,
    /// Store time of the message at the committed offset, in milliseconds since 1970.
    pub last_timestamp: i64,
}

/// Answer to `GET_CONSUME_STATS`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ConsumeStats {
    /// Progress by queue.
    pub offset_table: BTreeMap<MessageQueue, OffsetWrapper>,
    /// Messages consumed per second.
    pub consume_tps: f64,
}

/// Answer to `GET_BROKER_CONSUME_STATS`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ConsumeStatsList {
    /// Progress by topic of every group, one map a group.
    pub consume_stats_list: Vec<BTreeMap<String, Vec<ConsumeStats>>>,
    /// Address of the broker, `ip:port`.
    pub broker_addr: Option<String>,
    /// Messages that are not consumed, of all groups.
    pub total_diff: i64,
    /// Messages that are pulled but not consumed, of all groups.
    pub total_inflight_diff: i64,
}

/// One statistic over one span of time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BrokerStatsItem {
    /// Sum.
    pub sum: i64,
    /// Per second.
    pub tps: f64,
    /// Average per event.
    pub avgpt: f64,
}

/// Answer to `VIEW_BROKER_STATS_DATA`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct BrokerStatsData {
    /// Over the last minute.
    pub stats_minute: BrokerStatsItem,
    /// Over the last hour.
    pub stats_hour: BrokerStatsItem,
    /// Over the last day.
    pub stats_day: BrokerStatsItem,
}

/// Times of one queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueueTimeSpan {
    /// The queue.
    pub message_queue: MessageQueue,
    /// Store time of the first message, in milliseconds since 1970.
    #[serde(default)]
    pub min_time_stamp: i64,
    /// Store time of the last message, in milliseconds since 1970.
    #[serde(default)]
    pub max_time_stamp: i64,
    /// Store time of the message at the committed offset, in milliseconds since 1970.
    #[serde(default)]
    pub consume_time_stamp: i64,
    /// How far the group is behind, in milliseconds.
    #[serde(default)]
    pub delay_time: i64,
}

/// Answer to `QUERY_CONSUME_TIME_SPAN`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct QueryConsumeTimeSpanBody {
    /// Times by queue.
    pub consume_time_span_set: Vec<QueueTimeSpan>,
}
