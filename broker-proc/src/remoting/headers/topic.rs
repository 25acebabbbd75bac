//! Topics: `UPDATE_AND_CREATE_TOPIC`, `GET_ALL_TOPIC_CONFIG`, `GET_TOPIC_CONFIG`, `DELETE_TOPIC_IN_BROKER`
//! and others.

use super::remoting_header;

remoting_header! {
    /// `UPDATE_AND_CREATE_TOPIC`.
    pub struct CreateTopicRequestHeader {
        /// Name of the topic.
        "topic" topic: String,
        /// Topic whose settings are inherited; normally `TBW102`.
        "defaultTopic" default_topic: String,
        /// Number of queues that can be read.
        "readQueueNums" read_queue_nums: i32,
        /// Number of queues that can be written.
        "writeQueueNums" write_queue_nums: i32,
        /// Permission bits: 4 read, 2 write, 1 inherit.
        "perm" perm: i32,
        /// `SINGLE_TAG` or `MULTI_TAG`.
        "topicFilterType" topic_filter_type: String,
        /// Flags of the topic.
        "topicSysFlag" topic_sys_flag: Option<i32>,
        /// Whether the topic is ordered.
        "order" order: bool = false,
        /// Changes of attributes: comma list of `+key=value` and `-key`.
        "attributes" attributes: Option<String>,
        /// Whether a static topic may be overwritten.
        "force" force: bool = false,
    }
}

remoting_header! {
    /// `GET_ALL_TOPIC_CONFIG`; all fields absent asks for everything at once.
    pub struct GetAllTopicConfigRequestHeader {
        /// Index of the first topic wanted.
        "topicSeq" topic_seq: Option<i32>,
        /// JSON text of the data version that the caller is paging through.
        "dataVersion" data_version: Option<String>,
        /// Most topics wanted.
        "maxTopicNum" max_topic_num: Option<i32>,
    }
}

remoting_header! {
    /// Answer to `GET_ALL_TOPIC_CONFIG`.
    pub struct GetAllTopicConfigResponseHeader {
        /// Number of all topics.
        "totalTopicNum" total_topic_num: i32,
    }
}

remoting_header! {
    /// `GET_TOPIC_CONFIG`.
    pub struct GetTopicConfigRequestHeader {
        /// Name of the topic.
        "topic" topic: String,
        /// Whether the mapping of a static topic is wanted too.
        "lo" lo: Option<bool>,
    }
}

remoting_header! {
    /// Requests that name a topic and nothing else: `DELETE_TOPIC_IN_BROKER`, `GET_TOPIC_STATS_INFO`,
    /// `QUERY_TOPIC_CONSUME_BY_WHO`.
    pub struct TopicRequestHeader {
        /// Name of the topic.
        "topic" topic: String,
    }
}

remoting_header! {
    /// `QUERY_CONSUME_QUEUE`.
    pub struct QueryConsumeQueueRequestHeader {
        /// Topic of the queue.
        "topic" topic: String,
        /// Queue.
        "queueId" queue_id: i32,
        /// First offset wanted.
        "index" index: i64,
        /// Number of entries wanted.
        "count" count: i32,
        /// Group whose filter shall be evaluated.
        "consumerGroup" consumer_group: Option<String>,
    }
}
