//! Request and reply: the push `PUSH_REPLY_MESSAGE_TO_CLIENT`.

use super::remoting_header;

remoting_header! {
    /// Push `PUSH_REPLY_MESSAGE_TO_CLIENT`; the body is that of the reply.
    pub struct ReplyMessageRequestHeader {
        /// Group of the replying side.
        "producerGroup" producer_group: String,
        /// Reply topic.
        "topic" topic: String,
        /// As in the reply that was sent.
        "defaultTopic" default_topic: String,
        /// As in the reply that was sent.
        "defaultTopicQueueNums" default_topic_queue_nums: i32,
        /// Queue of the reply.
        "queueId" queue_id: i32,
        /// Bits of the reply.
        "sysFlag" sys_flag: i32,
        /// When the reply was made, in milliseconds since 1970.
        "bornTimestamp" born_timestamp: i64,
        /// The user's own flag.
        "flag" flag: i32,
        /// Property string.
        "properties" properties: Option<String>,
        /// As in the reply that was sent.
        "reconsumeTimes" reconsume_times: i32 = 0,
        /// As in the reply that was sent.
        "unitMode" unit_mode: bool = false,
        /// Address the reply came from, `ip:port`.
        "bornHost" born_host: String,
        /// Address of the broker, `ip:port`.
        "storeHost" store_host: String,
        /// When the broker got the reply, in milliseconds since 1970.
        "storeTimestamp" store_timestamp: i64,
    }
}
