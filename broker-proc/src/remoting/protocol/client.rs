//! Bodies about single clients: `CHECK_CLIENT_CONFIG`, `GET_CONSUMER_LIST_BY_GROUP`,
//! `CONSUME_MESSAGE_DIRECTLY`.

use serde::{Deserialize, Serialize};

use super::SubscriptionData;

/// Body of `CHECK_CLIENT_CONFIG`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CheckClientRequestBody {
    /// The client.
    pub client_id: String,
    /// Its group.
    pub group: String,
    /// The subscription to check.
    pub subscription_data: SubscriptionData,
    /// Namespace of the client.
    pub namespace: Option<String>,
}

/// Answer to `GET_CONSUMER_LIST_BY_GROUP`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct GetConsumerListByGroupResponseBody {
    /// Ids of the members, one a connection.
    pub consumer_id_list: Vec<String>,
}

/// What became of a message that was consumed directly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CmResult {
    /// Consumed.
    #[default]
    CrSuccess,
    /// To be consumed again later.
    CrLater,
    /// Rolled back.
    CrRollback,
    /// Committed.
    CrCommit,
    /// The listener threw an exception.
    CrThrowException,
    /// The listener returned null.
    CrReturnNull,
    /// None that this version knows.
    #[serde(other)]
    Unknown,
}

/// Answer of a client to `CONSUME_MESSAGE_DIRECTLY`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ConsumeMessageDirectlyResult {
    /// Whether the consumer is an orderly one.
    pub order: bool,
    /// Whether it commits by itself.
    pub auto_commit: bool,
    /// What became of the message.
    pub consume_result: CmResult,
    /// Text of an exception.
    pub remark: Option<String>,
    /// Time it took, in milliseconds.
    pub spent_time_mills: i64,
}
