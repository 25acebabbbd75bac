//! Answer of a consumer to `GET_CONSUMER_RUNNING_INFO`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{MessageQueue, SubscriptionData};

/// State of one queue in a consumer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ProcessQueueInfo {
    /// Offset that is committed.
    pub commit_offset: i64,
    /// First cached offset.
    pub cached_msg_min_offset: i64,
    /// Last cached offset.
    pub cached_msg_max_offset: i64,
    /// Number of cached messages.
    pub cached_msg_count: i32,
    /// Size of the cached messages in MiB.
    #[serde(rename = "cachedMsgSizeInMiB")]
    pub cached_msg_size_in_mib: i32,
    /// First offset being consumed in order.
    pub transaction_msg_min_offset: i64,
    /// Last offset being consumed in order.
    pub transaction_msg_max_offset: i64,
    /// Number of messages being consumed in order.
    pub transaction_msg_count: i32,
    /// Whether the consumer holds the lock.
    pub locked: bool,
    /// Failed attempts to unlock.
    pub try_unlock_times: i64,
    /// Time of the last lock, in milliseconds since 1970.
    pub last_lock_timestamp: i64,
    /// Whether the queue was taken away. The spelling is the protocol's.
    pub droped: bool,
    /// Time of the last pull, in milliseconds since 1970.
    pub last_pull_timestamp: i64,
    /// Time of the last consumption, in milliseconds since 1970.
    pub last_consume_timestamp: i64,
}

/// Rates of one topic in a consumer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConsumeStatus {
    /// Average time of a pull, in milliseconds.
    #[serde(rename = "pullRT")]
    pub pull_rt: f64,
    /// Pulled messages per second.
    #[serde(rename = "pullTPS")]
    pub pull_tps: f64,
    /// Average time to consume a message, in milliseconds.
    #[serde(rename = "consumeRT")]
    pub consume_rt: f64,
    /// Consumed messages per second.
    #[serde(rename = "consumeOKTPS")]
    pub consume_ok_tps: f64,
    /// Failed messages per second.
    #[serde(rename = "consumeFailedTPS")]
    pub consume_failed_tps: f64,
    /// Failed messages in the last hour.
    #[serde(rename = "consumeFailedMsgs")]
    pub consume_failed_msgs: i64,
}

/// State of a consumer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ConsumerRunningInfo {
    /// Settings of the client as text.
    pub properties: BTreeMap<String, String>,
    /// Its subscriptions.
    pub subscription_set: Vec<SubscriptionData>,
    /// Its queues.
    pub mq_table: BTreeMap<MessageQueue, ProcessQueueInfo>,
    /// Its queues in POP mode, as the client wrote them.
    pub mq_pop_table: BTreeMap<MessageQueue, Value>,
    /// Rates by topic.
    pub status_table: BTreeMap<String, ConsumeStatus>,
    /// What the application adds.
    pub user_consumer_info: BTreeMap<String, String>,
    /// Stacks of all threads when asked for.
    pub jstack: Option<String>,
}
