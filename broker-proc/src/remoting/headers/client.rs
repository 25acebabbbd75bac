//! Clients and their connections: `HEART_BEAT`, `UNREGISTER_CLIENT`, `GET_CONSUMER_LIST_BY_GROUP` and others.

use super::remoting_header;

remoting_header! {
    /// Answer to `HEART_BEAT`; both fields may be left out, then Java clients stay with the first form.
    pub struct HeartbeatResponseHeader {
        /// Whether the broker understands heartbeats with a fingerprint.
        "IS_SUPPORT_HEART_BEAT_V2" is_support_heart_beat_v2: Option<bool>,
        /// Whether the subscriptions of the group changed.
        "IS_SUB_CHANGE" is_sub_change: Option<bool>,
    }
}

remoting_header! {
    /// `UNREGISTER_CLIENT`.
    pub struct UnregisterClientRequestHeader {
        /// The client.
        "clientID" client_id: String,
        /// Producer group to leave.
        "producerGroup" producer_group: Option<String>,
        /// Consumer group to leave.
        "consumerGroup" consumer_group: Option<String>,
    }
}

remoting_header! {
    /// `GET_CONSUMER_LIST_BY_GROUP`, `GET_CONSUMER_CONNECTION_LIST`, and the push
    /// `NOTIFY_CONSUMER_IDS_CHANGED`.
    pub struct ConsumerGroupRequestHeader {
        /// The group.
        "consumerGroup" consumer_group: String,
    }
}

remoting_header! {
    /// `GET_PRODUCER_CONNECTION_LIST`.
    pub struct ProducerGroupRequestHeader {
        /// The group.
        "producerGroup" producer_group: String,
    }
}

remoting_header! {
    /// `GET_CONSUMER_RUNNING_INFO`, from a tool and forwarded to a consumer.
    pub struct GetConsumerRunningInfoRequestHeader {
        /// Group of the consumer.
        "consumerGroup" consumer_group: String,
        /// The consumer.
        "clientId" client_id: String,
        /// Whether the answer shall hold the stacks of all threads.
        "jstackEnable" jstack_enable: bool = false,
    }
}

remoting_header! {
    /// `CONSUME_MESSAGE_DIRECTLY`, from a tool and forwarded to a consumer.
    pub struct ConsumeMessageDirectlyRequestHeader {
        /// Group of the consumer.
        "consumerGroup" consumer_group: String,
        /// The consumer.
        "clientId" client_id: Option<String>,
        /// Offset id of the message.
        "msgId" msg_id: Option<String>,
        /// Broker of the message; added when forwarded.
        "brokerName" broker_name: Option<String>,
        /// Topic of the message.
        "topic" topic: Option<String>,
        /// Flags of the topic; added when forwarded.
        "topicSysFlag" topic_sys_flag: Option<i32>,
        /// Flags of the group; added when forwarded.
        "groupSysFlag" group_sys_flag: Option<i32>,
    }
}
