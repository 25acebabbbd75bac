//! What a name server tells about topics and brokers.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::TopicQueueMappingInfo;

/// Queues of one topic on one broker name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct QueueData {
    /// Broker name.
    pub broker_name: String,
    /// Number of queues that can be read.
    pub read_queue_nums: i32,
    /// Number of queues that can be written.
    pub write_queue_nums: i32,
    /// Permission bits: 4 read, 2 write, 1 inherit.
    pub perm: i32,
    /// Flags of the topic.
    pub topic_sys_flag: i32,
}

/// Addresses behind one broker name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct BrokerData {
    /// Cluster.
    pub cluster: String,
    /// Broker name.
    pub broker_name: String,
    /// Address `ip:port` by broker id; 0 is the master.
    pub broker_addrs: BTreeMap<i64, String>,
    /// Whether a replica may stand in for a lost master.
    pub enable_acting_master: bool,
    /// Zone of the broker.
    pub zone_name: Option<String>,
}

/// Answer to `GET_ROUTEINFO_BY_TOPIC`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TopicRouteData {
    /// Queues of an ordered topic: `broker:n` separated by semicolons.
    pub order_topic_conf: Option<String>,
    /// Queues by broker name.
    pub queue_datas: Vec<QueueData>,
    /// The brokers.
    pub broker_datas: Vec<BrokerData>,
    /// Filter servers by broker address; always present.
    pub filter_server_table: BTreeMap<String, Vec<String>>,
    /// Mappings of a static topic by broker name.
    pub topic_queue_mapping_by_broker: Option<BTreeMap<String, TopicQueueMappingInfo>>,
}

/// Answer to `GET_BROKER_CLUSTER_INFO`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ClusterInfo {
    /// Brokers by name.
    pub broker_addr_table: BTreeMap<String, BrokerData>,
    /// Broker names by cluster.
    pub cluster_addr_table: BTreeMap<String, BTreeSet<String>>,
}

/// The addresses in the answer to `GET_BROKER_MEMBER_GROUP`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct BrokerMemberGroup {
    /// Cluster.
    pub cluster: Option<String>,
    /// Broker name.
    pub broker_name: Option<String>,
    /// Address `ip:port` by broker id.
    pub broker_addrs: BTreeMap<i64, String>,
}

/// Answer to `GET_BROKER_MEMBER_GROUP`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct GetBrokerMemberGroupResponseBody {
    /// The addresses.
    pub broker_member_group: BrokerMemberGroup,
}
