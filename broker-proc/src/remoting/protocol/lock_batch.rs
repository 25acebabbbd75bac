//! Bodies of `LOCK_BATCH_MQ` and `UNLOCK_BATCH_MQ`.

use serde::{Deserialize, Serialize};

use super::MessageQueue;

/// Body of `LOCK_BATCH_MQ` and `UNLOCK_BATCH_MQ`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct LockBatchRequestBody {
    /// Group of the client.
    pub consumer_group: String,
    /// The client.
    pub client_id: String,
    /// Whether the broker shall not ask its replicas.
    pub only_this_broker: bool,
    /// Queues to lock or unlock.
    pub mq_set: Vec<MessageQueue>,
}

/// Answer to `LOCK_BATCH_MQ`. The Go client reads nothing but this form.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LockBatchResponseBody {
    /// Queues that the client holds now.
    #[serde(rename = "lockOKMQSet")]
    pub lock_ok_mq_set: Vec<MessageQueue>,
}
