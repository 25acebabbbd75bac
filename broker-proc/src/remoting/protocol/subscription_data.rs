//! What a consumer group wants of a topic.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Subscription of a group to one topic.
///
/// Clients fill `codeSet` in several ways or not at all; a broker computes it from `subString`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SubscriptionData {
    /// Topic.
    pub topic: String,
    /// Expression: `*`, tags joined with `||`, or SQL92.
    pub sub_string: String,
    /// The tags of a tag expression.
    pub tags_set: BTreeSet<String>,
    /// Their hash codes.
    pub code_set: BTreeSet<i32>,
    /// Version: greater replaces smaller. Milliseconds or nanoseconds since 1970.
    pub sub_version: i64,
    /// `TAG` or `SQL92`.
    pub expression_type: String,
    /// Whether the consumer filters with a class of its own.
    pub class_filter_mode: bool,
}

impl Default for SubscriptionData {
    fn default() -> Self {
        Self {
            topic: String::new(),
            sub_string: String::new(),
            tags_set: BTreeSet::new(),
            code_set: BTreeSet::new(),
            sub_version: 0,
            expression_type: "TAG".to_owned(),
            class_filter_mode: false,
        }
    }
}
