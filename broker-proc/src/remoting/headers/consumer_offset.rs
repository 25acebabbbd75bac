//! Consumer offsets: `QUERY_CONSUMER_OFFSET`, `UPDATE_CONSUMER_OFFSET`, `INVOKE_BROKER_TO_RESET_OFFSET` and
//! their neighbours.

use super::remoting_header;

remoting_header! {
    /// `QUERY_CONSUMER_OFFSET`.
    pub struct QueryConsumerOffsetRequestHeader {
        /// Group whose offset is wanted.
        "consumerGroup" consumer_group: String,
        /// Topic of the queue.
        "topic" topic: String,
        /// Queue.
        "queueId" queue_id: i32,
        /// Whether the first queries of a new group may be answered with 0; absent means yes.
        "setZeroIfNotFound" set_zero_if_not_found: Option<bool>,
    }
}

remoting_header! {
    /// Answer to `QUERY_CONSUMER_OFFSET`.
    pub struct QueryConsumerOffsetResponseHeader {
        /// The committed offset.
        "offset" offset: i64,
    }
}

remoting_header! {
    /// `UPDATE_CONSUMER_OFFSET`.
    pub struct UpdateConsumerOffsetRequestHeader {
        /// Group that commits.
        "consumerGroup" consumer_group: String,
        /// Topic of the queue.
        "topic" topic: String,
        /// Queue; Java answers 29, not 1, when it is absent.
        "queueId" queue_id: Option<i32>,
        /// Offset to store; −1 from clients that do not know it. Absent: as for the queue.
        "commitOffset" commit_offset: Option<i64>,
    }
}

remoting_header! {
    /// `INVOKE_BROKER_TO_RESET_OFFSET`, and the push `RESET_CONSUMER_CLIENT_OFFSET`.
    pub struct ResetOffsetRequestHeader {
        /// Topic to reset.
        "topic" topic: String,
        /// Group to reset.
        "group" group: String,
        /// Queue, or −1 for all.
        "queueId" queue_id: i32 = -1,
        /// Offset to set; −1 for none.
        "offset" offset: Option<i64>,
        /// Time to go back to, in milliseconds since 1970; −1 for the end of the queue.
        "timestamp" timestamp: i64,
        /// Whether offsets may move forward.
        "isForce" is_force: bool,
    }
}

remoting_header! {
    /// `INVOKE_BROKER_TO_GET_CONSUMER_STATUS`, and the push `GET_CONSUMER_STATUS_FROM_CLIENT`.
    pub struct GetConsumerStatusRequestHeader {
        /// Topic to look at.
        "topic" topic: String,
        /// Group to look at.
        "group" group: String,
        /// Only this client.
        "clientAddr" client_addr: Option<String>,
    }
}

remoting_header! {
    /// `CLONE_GROUP_OFFSET`.
    pub struct CloneGroupOffsetRequestHeader {
        /// Group to copy from.
        "srcGroup" src_group: String,
        /// Group to copy to.
        "destGroup" dest_group: String,
        /// Only this topic.
        "topic" topic: Option<String>,
        /// Whether the target group must be offline.
        "offline" offline: bool = false,
    }
}
