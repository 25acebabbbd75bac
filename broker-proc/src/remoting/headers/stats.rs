//! Progress and statistics: `GET_CONSUME_STATS`, `VIEW_BROKER_STATS_DATA`, `GET_BROKER_CONSUME_STATS`.

use super::remoting_header;

remoting_header! {
    /// `GET_CONSUME_STATS`.
    pub struct GetConsumeStatsRequestHeader {
        /// Group to look at.
        "consumerGroup" consumer_group: String,
        /// Only this topic.
        "topic" topic: Option<String>,
        /// Only these topics, separated by semicolons.
        "topicList" topic_list: Option<String>,
    }
}

remoting_header! {
    /// `VIEW_BROKER_STATS_DATA`.
    pub struct ViewBrokerStatsDataRequestHeader {
        /// Kind of statistic, for instance `TOPIC_PUT_NUMS`.
        "statsName" stats_name: String,
        /// What it counts, for instance a topic.
        "statsKey" stats_key: String,
    }
}

remoting_header! {
    /// `GET_BROKER_CONSUME_STATS`.
    pub struct GetBrokerConsumeStatsRequestHeader {
        /// Only ordered topics, or only others.
        "isOrder" is_order: bool,
    }
}
