//! Body of `REGISTER_BROKER`.

use serde::{Deserialize, Serialize};

use super::TopicConfigAndMappingSerializeWrapper;

/// Topics and filter servers of a broker.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RegisterBrokerBody {
    /// The topic table.
    pub topic_config_serialize_wrapper: TopicConfigAndMappingSerializeWrapper,
    /// Addresses of filter servers; none since version 5.
    pub filter_server_list: Vec<String>,
}
