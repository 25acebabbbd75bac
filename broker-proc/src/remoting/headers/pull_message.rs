//! Pulling messages: `PULL_MESSAGE` and `LITE_PULL_MESSAGE`.

use super::remoting_header;

remoting_header! {
    /// `PULL_MESSAGE` and `LITE_PULL_MESSAGE`.
    pub struct PullMessageRequestHeader {
        /// Group that pulls.
        "consumerGroup" consumer_group: String,
        /// Topic of the queue.
        "topic" topic: String,
        /// Queue.
        "queueId" queue_id: i32,
        /// First offset wanted.
        "queueOffset" queue_offset: i64,
        /// Most messages wanted.
        "maxMsgNums" max_msg_nums: i32,
        /// Bits, see [`pull_sys_flag`].
        "sysFlag" sys_flag: i32,
        /// Position up to which the client has consumed; 0 or −1 when it does not know.
        "commitOffset" commit_offset: i64,
        /// How long the broker may hold the request, in milliseconds.
        "suspendTimeoutMillis" suspend_timeout_millis: i64,
        /// Filter expression; only with [`pull_sys_flag::SUBSCRIPTION`].
        "subscription" subscription: Option<String>,
        /// Version of the subscription; milliseconds from Java, nanoseconds from Go.
        "subVersion" sub_version: i64,
        /// Most bytes wanted. Sent by newer Java clients, read by no broker.
        "maxMsgBytes" max_msg_bytes: Option<i32>,
        /// Who asks: −1 a client, 0 to 2 a proxy.
        "requestSource" request_source: Option<i32>,
        /// Client behind a proxy. The spelling is the protocol's.
        "proxyFrowardClientId" proxy_froward_client_id: Option<String>,
        /// `TAG` or `SQL92`.
        "expressionType" expression_type: Option<String>,
    }
}

/// Bits of [`PullMessageRequestHeader::sys_flag`].
pub mod pull_sys_flag {
    /// The header carries a commit offset.
    pub const COMMIT_OFFSET: i32 = 1;
    /// The broker may hold the request until there is something.
    pub const SUSPEND: i32 = 2;
    /// The header carries the filter expression.
    pub const SUBSCRIPTION: i32 = 4;
    /// The consumer filters with a class of its own; the broker does not filter.
    pub const CLASS_FILTER: i32 = 8;
    /// The request comes from a lite pull consumer.
    pub const LITE_PULL: i32 = 16;
}

remoting_header! {
    /// Answer to a pull with one of the codes 0, 19, 20, 21. Java clients need the four required fields
    /// with each of them.
    pub struct PullMessageResponseHeader {
        /// Broker id to pull from next; 0 is the master.
        "suggestWhichBrokerId" suggest_which_broker_id: i64,
        /// Offset to pull next.
        "nextBeginOffset" next_begin_offset: i64,
        /// First offset of the queue.
        "minOffset" min_offset: i64,
        /// Offset behind the last message of the queue.
        "maxOffset" max_offset: i64,
        /// Shift between logical and physical queue of a static topic.
        "offsetDelta" offset_delta: Option<i64>,
        /// Flags of the topic.
        "topicSysFlag" topic_sys_flag: Option<i32>,
        /// Flags of the group.
        "groupSysFlag" group_sys_flag: Option<i32>,
        /// What forbids reading; see [`forbidden_type`].
        "forbiddenType" forbidden_type: Option<i32>,
    }
}

/// Values of [`PullMessageResponseHeader::forbidden_type`].
pub mod forbidden_type {
    /// The broker may not be read.
    pub const BROKER: i32 = 1;
    /// The group may not consume.
    pub const GROUP: i32 = 2;
    /// The topic may not be read.
    pub const TOPIC: i32 = 3;
    /// The group may not consume in broadcasting mode.
    pub const BROADCASTING: i32 = 4;
    /// The group may not read this topic.
    pub const SUBSCRIPTION: i32 = 5;
}
