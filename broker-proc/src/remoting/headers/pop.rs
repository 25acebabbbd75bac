//! POP consumption: codes 200050 and above. These go only with the JSON header.

use super::remoting_header;

remoting_header! {
    /// `POP_MESSAGE`.
    pub struct PopMessageRequestHeader {
        /// Group that pops.
        "consumerGroup" consumer_group: String,
        /// Topic.
        "topic" topic: String,
        /// Queue, or −1 for all.
        "queueId" queue_id: i32,
        /// Most messages wanted, at most 32.
        "maxMsgNums" max_msg_nums: i32,
        /// How long popped messages stay hidden, in milliseconds.
        "invisibleTime" invisible_time: i64,
        /// How long the broker may hold the request, in milliseconds.
        "pollTime" poll_time: i64,
        /// When the client made the request, in milliseconds since 1970.
        "bornTime" born_time: i64,
        /// Where a new group starts: 0 at the first, 1 behind the last message.
        "initMode" init_mode: i32,
        /// `TAG` or `SQL92`.
        "expType" exp_type: Option<String>,
        /// Filter expression.
        "exp" exp: Option<String>,
        /// Whether order is to be kept.
        "order" order: bool = false,
        /// Identifies repeated requests of an ordered group.
        "attemptId" attempt_id: Option<String>,
    }
}

remoting_header! {
    /// Answer to `POP_MESSAGE` and `PEEK_MESSAGE`.
    pub struct PopMessageResponseHeader {
        /// When the messages were popped, in milliseconds since 1970.
        "popTime" pop_time: i64,
        /// How long they stay hidden, in milliseconds.
        "invisibleTime" invisible_time: i64,
        /// Queue of the revive topic; 999 for an ordered group.
        "reviveQid" revive_qid: i32,
        /// Messages that are left.
        "restNum" rest_num: i64,
        /// First offset of every queue: `retry queue offset` separated by semicolons.
        "startOffsetInfo" start_offset_info: Option<String>,
        /// Offsets of every queue: `retry queue o1,o2` separated by semicolons.
        "msgOffsetInfo" msg_offset_info: Option<String>,
        /// Consume counts of an ordered group.
        "orderCountInfo" order_count_info: Option<String>,
    }
}

remoting_header! {
    /// `ACK_MESSAGE`.
    pub struct AckMessageRequestHeader {
        /// Group that acknowledges.
        "consumerGroup" consumer_group: String,
        /// Topic.
        "topic" topic: String,
        /// Queue.
        "queueId" queue_id: i32,
        /// The message's `POP_CK`.
        "extraInfo" extra_info: String,
        /// Offset of the message.
        "offset" offset: i64,
    }
}

remoting_header! {
    /// `CHANGE_MESSAGE_INVISIBLETIME`.
    pub struct ChangeInvisibleTimeRequestHeader {
        /// Group that holds the message.
        "consumerGroup" consumer_group: String,
        /// Topic.
        "topic" topic: String,
        /// Queue.
        "queueId" queue_id: i32,
        /// The message's `POP_CK`.
        "extraInfo" extra_info: String,
        /// Offset of the message.
        "offset" offset: i64,
        /// How long it shall stay hidden from now on, in milliseconds.
        "invisibleTime" invisible_time: i64,
        /// Whether the attempt shall not count; newer clients always send it.
        "suspend" suspend: bool = false,
    }
}

remoting_header! {
    /// Answer to `CHANGE_MESSAGE_INVISIBLETIME`.
    pub struct ChangeInvisibleTimeResponseHeader {
        /// New pop time, in milliseconds since 1970.
        "popTime" pop_time: i64,
        /// How long the message stays hidden, in milliseconds.
        "invisibleTime" invisible_time: i64,
        /// Queue of the revive topic.
        "reviveQid" revive_qid: i32,
    }
}

remoting_header! {
    /// `NOTIFICATION`.
    pub struct NotificationRequestHeader {
        /// Group that waits.
        "consumerGroup" consumer_group: String,
        /// Topic.
        "topic" topic: String,
        /// Queue, or −1 for all.
        "queueId" queue_id: i32,
        /// How long the broker may hold the request, in milliseconds.
        "pollTime" poll_time: i64,
        /// When the client made the request, in milliseconds since 1970.
        "bornTime" born_time: i64,
        /// Whether order is to be kept.
        "order" order: bool = false,
        /// Identifies repeated requests of an ordered group.
        "attemptId" attempt_id: Option<String>,
    }
}

remoting_header! {
    /// Answer to `NOTIFICATION`.
    pub struct NotificationResponseHeader {
        /// Whether there is something to pop.
        "hasMsg" has_msg: bool,
        /// Whether too many requests wait.
        "pollingFull" polling_full: bool = false,
    }
}

remoting_header! {
    /// `POLLING_INFO`.
    pub struct PollingInfoRequestHeader {
        /// Group that waits.
        "consumerGroup" consumer_group: String,
        /// Topic.
        "topic" topic: String,
        /// Queue.
        "queueId" queue_id: i32,
    }
}

remoting_header! {
    /// Answer to `POLLING_INFO`.
    pub struct PollingInfoResponseHeader {
        /// Number of requests that wait.
        "pollingNum" polling_num: i32,
    }
}

remoting_header! {
    /// `PEEK_MESSAGE`.
    pub struct PeekMessageRequestHeader {
        /// Group that looks.
        "consumerGroup" consumer_group: String,
        /// Topic.
        "topic" topic: String,
        /// Queue.
        "queueId" queue_id: i32,
        /// Most messages wanted.
        "maxMsgNums" max_msg_nums: i32,
    }
}
