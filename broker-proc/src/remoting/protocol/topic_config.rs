//! Settings of topics.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{DataVersion, TopicQueueMappingDetail, TopicQueueMappingInfo};

/// How many tags the messages of a topic have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TopicFilterType {
    /// At most one.
    #[default]
    SingleTag,
    /// Several.
    MultiTag,
}

/// Settings of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TopicConfig {
    /// Name.
    pub topic_name: String,
    /// Number of queues that can be read.
    pub read_queue_nums: i32,
    /// Number of queues that can be written.
    pub write_queue_nums: i32,
    /// Permission bits: 4 read, 2 write, 1 inherit.
    pub perm: i32,
    /// How many tags messages have.
    pub topic_filter_type: TopicFilterType,
    /// Flags: 1 unit, 2 unit subscription.
    pub topic_sys_flag: i32,
    /// Whether the topic is ordered.
    pub order: bool,
    /// Attributes such as `queue.type`, `cleanup.policy`, `message.type`.
    pub attributes: BTreeMap<String, String>,
}

impl Default for TopicConfig {
    fn default() -> Self {
        Self {
            topic_name: String::new(),
            read_queue_nums: 16,
            write_queue_nums: 16,
            perm: 6,
            topic_filter_type: TopicFilterType::SingleTag,
            topic_sys_flag: 0,
            order: false,
            attributes: BTreeMap::new(),
        }
    }
}

/// A topic table without mappings: the file of the broker, and the registration of brokers before version 37.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TopicConfigSerializeWrapper {
    /// Version of the table.
    pub data_version: DataVersion,
    /// Topics by name.
    pub topic_config_table: BTreeMap<String, TopicConfig>,
}

/// Answer to `GET_ALL_TOPIC_CONFIG` and part of `REGISTER_BROKER`: a topic table with the mappings of static
/// topics.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TopicConfigAndMappingSerializeWrapper {
    /// Version of the table.
    pub data_version: DataVersion,
    /// Version of the mappings.
    pub mapping_data_version: DataVersion,
    /// Topics by name.
    pub topic_config_table: BTreeMap<String, TopicConfig>,
    /// Mappings with all their items.
    pub topic_queue_mapping_detail_map: BTreeMap<String, TopicQueueMappingDetail>,
    /// Mappings without items.
    pub topic_queue_mapping_info_map: BTreeMap<String, TopicQueueMappingInfo>,
}

/// Answer to `GET_TOPIC_CONFIG`: the settings, for a static topic with its mapping.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TopicConfigAndQueueMapping {
    /// The settings.
    #[serde(flatten)]
    pub topic_config: TopicConfig,
    /// The mapping of a static topic.
    pub mapping_detail: Option<TopicQueueMappingDetail>,
}

/// Body of `UPDATE_AND_CREATE_TOPIC_LIST`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CreateTopicListRequestBody {
    /// The topics.
    pub topic_config_list: Vec<TopicConfig>,
}
