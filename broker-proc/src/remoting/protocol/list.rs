//! Plain lists and tables.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::SubscriptionData;

/// A list of topics: the answers to 206, 224, 304, 305, 311 to 313 and 343.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TopicList {
    /// Names of topics.
    pub topic_list: Vec<String>,
    /// Address of a broker, where the answer has one.
    pub broker_addr: Option<String>,
}

/// Answer to `QUERY_TOPIC_CONSUME_BY_WHO`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct GroupList {
    /// Names of groups.
    pub group_list: Vec<String>,
}

/// A table of texts: the answers to `GET_BROKER_RUNTIME_INFO`, `GET_KVLIST_BY_NAMESPACE` and
/// `REGISTER_BROKER`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct KvTable {
    /// Values by key.
    pub table: BTreeMap<String, String>,
}

/// Answer to `QUERY_SUBSCRIPTION_BY_CONSUMER`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct QuerySubscriptionResponseBody {
    /// The group.
    pub group: String,
    /// The topic.
    pub topic: Option<String>,
    /// The subscription.
    pub subscription_data: Option<SubscriptionData>,
}

/// Answer to `UPDATE_AND_GET_GROUP_FORBIDDEN`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct GroupForbidden {
    /// The group.
    pub group: String,
    /// The topic.
    pub topic: String,
    /// Whether the group may read the topic.
    pub readable: bool,
}
