//! Bodies of `QUERY_ASSIGNMENT`, `SET_MESSAGE_REQUEST_MODE` and `GET_ALL_MESSAGE_REQUEST_MODE`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{MessageModel, MessageQueue};

/// How a group asks for messages. The order of the constants is that of their ordinals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum MessageRequestMode {
    /// By pulling.
    #[default]
    Pull,
    /// By popping.
    Pop,
}

/// Body of `QUERY_ASSIGNMENT`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct QueryAssignmentRequestBody {
    /// Topic.
    pub topic: String,
    /// Group of the client.
    pub consumer_group: String,
    /// The client.
    pub client_id: String,
    /// `AVG` or `AVG_BY_CIRCLE`.
    pub strategy_name: Option<String>,
    /// Whether members share messages.
    pub message_model: MessageModel,
}

/// One assigned queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageQueueAssignment {
    /// The queue; number −1 stands for all queues of the broker.
    pub message_queue: MessageQueue,
    /// How to ask for its messages.
    #[serde(default)]
    pub mode: MessageRequestMode,
    /// What a broker adds.
    #[serde(default)]
    pub attachments: Option<BTreeMap<String, String>>,
}

/// Answer to `QUERY_ASSIGNMENT`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct QueryAssignmentResponseBody {
    /// The assigned queues.
    pub message_queue_assignments: Vec<MessageQueueAssignment>,
}

/// Body of `SET_MESSAGE_REQUEST_MODE`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SetMessageRequestModeRequestBody {
    /// Topic.
    pub topic: String,
    /// Group.
    pub consumer_group: String,
    /// How the group shall ask for messages.
    pub mode: MessageRequestMode,
    /// Clients that share a queue when popping.
    pub pop_share_queue_num: i32,
}

/// Answer to `GET_ALL_MESSAGE_REQUEST_MODE`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MessageRequestModeSerializeWrapper {
    /// Topic → group → mode.
    pub message_request_mode_map: BTreeMap<String, BTreeMap<String, SetMessageRequestModeRequestBody>>,
}
