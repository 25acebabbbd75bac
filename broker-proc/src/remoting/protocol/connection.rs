//! Lists of connections: `GET_CONSUMER_CONNECTION_LIST`, `GET_PRODUCER_CONNECTION_LIST`,
//! `GET_ALL_PRODUCER_INFO`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ConsumeFromWhere, ConsumeType, MessageModel, SubscriptionData};
use crate::remoting::LanguageCode;

/// One connection of a group.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Connection {
    /// The client.
    pub client_id: String,
    /// Its address, `ip:port`.
    pub client_addr: String,
    /// Its language.
    pub language: LanguageCode,
    /// Its version number.
    pub version: i32,
}

/// Answer to `GET_CONSUMER_CONNECTION_LIST`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ConsumerConnection {
    /// The connections.
    pub connection_set: Vec<Connection>,
    /// Subscriptions by topic.
    pub subscription_table: BTreeMap<String, SubscriptionData>,
    /// How the group gets its messages.
    pub consume_type: ConsumeType,
    /// Whether members share messages.
    pub message_model: MessageModel,
    /// Where a new group starts.
    pub consume_from_where: ConsumeFromWhere,
}

/// Answer to `GET_PRODUCER_CONNECTION_LIST`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ProducerConnection {
    /// The connections.
    pub connection_set: Vec<Connection>,
}

/// One producer in the answer to `GET_ALL_PRODUCER_INFO`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ProducerInfo {
    /// The client.
    pub client_id: String,
    /// Its address with a slash in front, `/ip:port`.
    #[serde(rename = "remoteIP")]
    pub remote_ip: String,
    /// Its language.
    pub language: LanguageCode,
    /// Its version number.
    pub version: i32,
    /// Time of its last heartbeat, in milliseconds since 1970.
    pub last_update_timestamp: i64,
}

/// Answer to `GET_ALL_PRODUCER_INFO`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ProducerTableInfo {
    /// Producers by group.
    pub data: BTreeMap<String, Vec<ProducerInfo>>,
}
