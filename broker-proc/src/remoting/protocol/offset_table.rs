//! Tables of offsets: replication of consumer offsets and delay levels, resets, states of clients.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{DataVersion, MessageQueue};

/// Queue → offset, for every `topic@group`.
pub type OffsetTable = BTreeMap<String, BTreeMap<i32, i64>>;

/// Answer to `GET_ALL_CONSUMER_OFFSET`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ConsumerOffsetSerializeWrapper {
    /// Version of the table.
    pub data_version: DataVersion,
    /// Consumer offsets by `topic@group`.
    pub offset_table: OffsetTable,
    /// Pull offsets by `topic@group`; newer brokers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_offset_table: Option<OffsetTable>,
    /// Offsets in light queues by `topic@group`, of groups that are named like one; only in `lmqConsumerOffset.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lmq_offset_table: Option<BTreeMap<String, i64>>,
    /// Topics by group; newer brokers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_topic_map: Option<BTreeMap<String, Vec<String>>>,
}

/// Answer to `GET_ALL_DELAY_OFFSET`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct DelayOffsetSerializeWrapper {
    /// Version of the table.
    pub data_version: DataVersion,
    /// Offset by delay level.
    pub offset_table: BTreeMap<i32, i64>,
}

/// Answer to `INVOKE_BROKER_TO_RESET_OFFSET` and body of the push `RESET_CONSUMER_CLIENT_OFFSET`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ResetOffsetBody {
    /// New offset by queue.
    pub offset_table: BTreeMap<MessageQueue, i64>,
}

/// One queue in [`ResetOffsetBodyForC`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MessageQueueForC {
    /// Topic.
    pub topic: String,
    /// Broker name.
    pub broker_name: String,
    /// Queue number.
    pub queue_id: i32,
    /// New offset.
    pub offset: i64,
}

/// Form of [`ResetOffsetBody`] for clients that announce C++: a list instead of a map.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ResetOffsetBodyForC {
    /// The queues.
    pub offset_table: Vec<MessageQueueForC>,
}

/// Answer to `INVOKE_BROKER_TO_GET_CONSUMER_STATUS` and of a client to `GET_CONSUMER_STATUS_FROM_CLIENT`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ConsumerStatusBody {
    /// Offset by queue of one client.
    pub message_queue_table: BTreeMap<MessageQueue, i64>,
    /// Offset by queue of every client.
    pub consumer_table: BTreeMap<String, BTreeMap<MessageQueue, i64>>,
}
