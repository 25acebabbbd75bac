//! Settings of consumer groups.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::DataVersion;

/// How the delay of retries grows. The order of the constants is that of their ordinals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum GroupRetryPolicyType {
    /// By a factor.
    Exponential,
    /// By a list; also read for every unknown text.
    #[default]
    #[serde(other)]
    Customized,
}

/// Delays that grow by a factor, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExponentialRetryPolicy {
    /// First delay.
    pub initial: i64,
    /// Largest delay.
    pub max: i64,
    /// Factor.
    pub multiplier: i64,
}

impl Default for ExponentialRetryPolicy {
    fn default() -> Self {
        Self { initial: 5_000, max: 7_200_000, multiplier: 2 }
    }
}

/// Delays from a list, in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CustomizedRetryPolicy {
    /// Delay before every retry.
    pub next: Vec<i64>,
}

/// Delays of retries.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct GroupRetryPolicy {
    /// Which of the two policies holds.
    #[serde(rename = "type")]
    pub policy_type: GroupRetryPolicyType,
    /// By a factor.
    pub exponential_retry_policy: Option<ExponentialRetryPolicy>,
    /// By a list; without one the delay levels of the broker hold.
    pub customized_retry_policy: Option<CustomizedRetryPolicy>,
}

/// A subscription that is part of the group's settings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SimpleSubscriptionData {
    /// Topic.
    pub topic: String,
    /// `TAG` or `SQL92`.
    pub expression_type: Option<String>,
    /// Expression.
    pub expression: Option<String>,
    /// Version.
    pub version: i64,
}

/// Settings of one consumer group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SubscriptionGroupConfig {
    /// Name.
    pub group_name: String,
    /// Whether the group may consume.
    pub consume_enable: bool,
    /// Whether a new group starts at the first message.
    pub consume_from_min_enable: bool,
    /// Whether the group may consume in broadcasting mode.
    pub consume_broadcast_enable: bool,
    /// Whether POP keeps order for the group.
    pub consume_message_orderly: bool,
    /// Number of queues of its retry topic.
    pub retry_queue_nums: i32,
    /// Retries before the dead letter topic.
    pub retry_max_times: i32,
    /// Delays of retries.
    pub group_retry_policy: GroupRetryPolicy,
    /// Broker id to pull from; 0 is the master.
    pub broker_id: i64,
    /// Broker id to pull from when the group is far behind.
    pub which_broker_when_consume_slowly: i64,
    /// Whether members are told about changes of the membership.
    pub notify_consumer_ids_changed_enable: bool,
    /// Flags.
    pub group_sys_flag: i32,
    /// Time after which a message counts as not consumed, in minutes.
    pub consume_timeout_minute: i32,
    /// Subscriptions that hold without a heartbeat.
    pub subscription_data_set: Option<Vec<SimpleSubscriptionData>>,
    /// Attributes.
    pub attributes: BTreeMap<String, String>,
}

impl Default for SubscriptionGroupConfig {
    fn default() -> Self {
        Self {
            group_name: String::new(),
            consume_enable: true,
            consume_from_min_enable: true,
            consume_broadcast_enable: true,
            consume_message_orderly: false,
            retry_queue_nums: 1,
            retry_max_times: 16,
            group_retry_policy: GroupRetryPolicy::default(),
            broker_id: 0,
            which_broker_when_consume_slowly: 1,
            notify_consumer_ids_changed_enable: true,
            group_sys_flag: 0,
            consume_timeout_minute: 15,
            subscription_data_set: None,
            attributes: BTreeMap::new(),
        }
    }
}

/// Answer to `GET_ALL_SUBSCRIPTIONGROUP_CONFIG`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SubscriptionGroupWrapper {
    /// Version of the table.
    pub data_version: DataVersion,
    /// Groups by name.
    pub subscription_group_table: BTreeMap<String, SubscriptionGroupConfig>,
    /// Group → topic → bits of what is forbidden.
    pub forbidden_table: BTreeMap<String, BTreeMap<String, i32>>,
}

/// Body of `UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SubscriptionGroupList {
    /// The groups.
    pub group_config_list: Vec<SubscriptionGroupConfig>,
}
