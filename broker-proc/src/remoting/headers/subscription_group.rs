//! Consumer groups: `GET_ALL_SUBSCRIPTIONGROUP_CONFIG`, `DELETE_SUBSCRIPTIONGROUP` and others.

use super::remoting_header;

remoting_header! {
    /// `GET_ALL_SUBSCRIPTIONGROUP_CONFIG`; all fields absent asks for everything at once.
    pub struct GetAllSubscriptionGroupRequestHeader {
        /// Index of the first group wanted.
        "groupSeq" group_seq: Option<i32>,
        /// JSON text of the data version that the caller is paging through.
        "dataVersion" data_version: Option<String>,
        /// Most groups wanted.
        "maxGroupNum" max_group_num: Option<i32>,
    }
}

remoting_header! {
    /// Answer to `GET_ALL_SUBSCRIPTIONGROUP_CONFIG`.
    pub struct GetAllSubscriptionGroupResponseHeader {
        /// Number of all groups.
        "totalGroupNum" total_group_num: i32,
    }
}

remoting_header! {
    /// `DELETE_SUBSCRIPTIONGROUP`.
    pub struct DeleteSubscriptionGroupRequestHeader {
        /// Name of the group.
        "groupName" group_name: String,
        /// Whether its offsets go too.
        "cleanOffset" clean_offset: bool = false,
    }
}

remoting_header! {
    /// Requests that name a group and nothing else: `GET_SUBSCRIPTIONGROUP_CONFIG`,
    /// `QUERY_TOPICS_BY_CONSUMER`.
    pub struct GroupRequestHeader {
        /// Name of the group.
        "group" group: String,
    }
}

remoting_header! {
    /// Requests that name a group and a topic: `QUERY_CONSUME_TIME_SPAN`, `QUERY_SUBSCRIPTION_BY_CONSUMER`.
    pub struct GroupTopicRequestHeader {
        /// Name of the group.
        "group" group: String,
        /// Name of the topic.
        "topic" topic: String,
    }
}

remoting_header! {
    /// `UPDATE_AND_GET_GROUP_FORBIDDEN`.
    pub struct GroupForbiddenRequestHeader {
        /// Name of the group.
        "group" group: String,
        /// Name of the topic.
        "topic" topic: String,
        /// New state; absent only asks.
        "readable" readable: Option<bool>,
    }
}
