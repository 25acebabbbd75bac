//! Body of `HEART_BEAT`.

use serde::{Deserialize, Serialize};

use super::SubscriptionData;

/// How a group gets its messages. The order of the constants is that of their ordinals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ConsumeType {
    /// The application pulls.
    ConsumeActively,
    /// The client pulls and hands messages to listeners.
    #[default]
    ConsumePassively,
    /// POP.
    ConsumePop,
    /// None that this version knows.
    #[serde(other)]
    Unknown,
}

/// Whether members of a group share messages. The order of the constants is that of their ordinals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum MessageModel {
    /// Every member gets every message.
    Broadcasting,
    /// Every message goes to one member.
    #[default]
    Clustering,
    /// None that this version knows.
    #[serde(other)]
    Unknown,
}

/// Where a new group starts. The order of the constants is that of their ordinals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ConsumeFromWhere {
    /// Behind the last message.
    #[default]
    ConsumeFromLastOffset,
    /// Deprecated.
    ConsumeFromLastOffsetAndFromMinWhenBootFirst,
    /// Deprecated.
    ConsumeFromMinOffset,
    /// Deprecated.
    ConsumeFromMaxOffset,
    /// At the first message.
    ConsumeFromFirstOffset,
    /// At a time.
    ConsumeFromTimestamp,
    /// None that this version knows.
    #[serde(other)]
    Unknown,
}

/// One consumer group of a client.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ConsumerData {
    /// Name of the group.
    pub group_name: String,
    /// How it gets its messages.
    pub consume_type: ConsumeType,
    /// Whether members share messages.
    pub message_model: MessageModel,
    /// Where a new group starts.
    pub consume_from_where: ConsumeFromWhere,
    /// Its subscriptions.
    pub subscription_data_set: Vec<SubscriptionData>,
    /// Whether the client works in unit mode.
    pub unit_mode: bool,
}

/// One producer group of a client.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ProducerData {
    /// Name of the group.
    pub group_name: String,
}

/// A client with its groups.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct HeartbeatData {
    /// The client.
    #[serde(rename = "clientID")]
    pub client_id: String,
    /// Its producer groups.
    pub producer_data_set: Vec<ProducerData>,
    /// Its consumer groups.
    pub consumer_data_set: Vec<ConsumerData>,
    /// Hash over the subscriptions; 0 in the first form of heartbeats.
    pub heartbeat_fingerprint: i32,
    /// Whether the subscriptions were left out because they have not changed.
    pub without_sub: bool,
}
