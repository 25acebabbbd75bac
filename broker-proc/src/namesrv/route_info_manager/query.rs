//! What the tables can be asked.

use std::collections::BTreeMap;

use super::RouteInfoManager;
use super::tables::BrokerKey;
use crate::remoting::protocol::{BrokerMemberGroup, ClusterInfo, QueueData, TopicList, TopicRouteData};

/// Flag of a topic: it belongs to a unit.
const FLAG_UNIT: i32 = 1;
/// Flag of a topic: some consumer of it works in unit mode.
const FLAG_UNIT_SUB: i32 = 2;

impl RouteInfoManager {
    /// Route of a topic; `None` when no registered broker has it.
    #[must_use]
    pub fn route_of(&self, topic: &str) -> Option<TopicRouteData> {
        let tables = self.read();
        let queues = tables.topic_queues.get(topic)?;
        let brokers: Vec<_> =
            queues.keys().filter_map(|broker_name| tables.brokers.get(broker_name)).cloned().collect();
        if brokers.is_empty() {
            return None;
        }
        let mut filter_servers = BTreeMap::new();
        for broker in &brokers {
            for addr in broker.broker_addrs.values() {
                let key = BrokerKey { cluster: broker.cluster.clone(), addr: addr.clone() };
                if let Some(servers) = tables.filter_servers.get(&key) {
                    filter_servers.insert(addr.clone(), servers.clone());
                }
            }
        }
        Some(TopicRouteData {
            order_topic_conf: None,
            queue_datas: queues.values().cloned().collect(),
            broker_datas: brokers,
            filter_server_table: filter_servers,
            topic_queue_mapping_by_broker: tables.topic_mappings.get(topic).cloned(),
        })
    }

    /// All brokers and clusters.
    #[must_use]
    pub fn cluster_info(&self) -> ClusterInfo {
        let tables = self.read();
        ClusterInfo { broker_addr_table: tables.brokers.clone(), cluster_addr_table: tables.clusters.clone() }
    }

    /// Addresses behind a broker name.
    #[must_use]
    pub fn member_group(&self, cluster: &str, broker_name: &str) -> BrokerMemberGroup {
        let tables = self.read();
        BrokerMemberGroup {
            cluster: Some(cluster.to_owned()),
            broker_name: Some(broker_name.to_owned()),
            broker_addrs: tables
                .brokers
                .get(broker_name)
                .map(|broker| broker.broker_addrs.clone())
                .unwrap_or_default(),
        }
    }

    /// All topics.
    #[must_use]
    pub fn all_topics(&self) -> TopicList {
        TopicList { topic_list: self.read().topic_queues.keys().cloned().collect(), broker_addr: None }
    }

    /// Topics of the brokers of a cluster.
    #[must_use]
    pub fn topics_of_cluster(&self, cluster: &str) -> TopicList {
        let tables = self.read();
        let Some(brokers) = tables.clusters.get(cluster) else {
            return TopicList::default();
        };
        let on_cluster = |queues: &BTreeMap<String, QueueData>| {
            queues.keys().any(|broker_name| brokers.contains(broker_name))
        };
        let topics = tables.topic_queues.iter().filter(|(_, queues)| on_cluster(queues));
        TopicList { topic_list: topics.map(|(topic, _)| topic.clone()).collect(), broker_addr: None }
    }

    /// The topics that are named after clusters and brokers, and the address of some broker.
    #[must_use]
    pub fn system_topics(&self) -> TopicList {
        let tables = self.read();
        let mut topics = Vec::new();
        for (cluster, brokers) in &tables.clusters {
            topics.push(cluster.clone());
            topics.extend(brokers.iter().cloned());
        }
        let some_addr = tables.brokers.values().find_map(|broker| broker.broker_addrs.values().next());
        TopicList { topic_list: topics, broker_addr: some_addr.cloned() }
    }

    /// Topics that belong to a unit.
    #[must_use]
    pub fn unit_topics(&self) -> TopicList {
        self.topics_with_flags(|flags| flags & FLAG_UNIT != 0)
    }

    /// Topics that some consumer in unit mode reads.
    #[must_use]
    pub fn unit_sub_topics(&self) -> TopicList {
        self.topics_with_flags(|flags| flags & FLAG_UNIT_SUB != 0)
    }

    /// Topics that belong to no unit but that some consumer in unit mode reads.
    #[must_use]
    pub fn unit_sub_ununit_topics(&self) -> TopicList {
        self.topics_with_flags(|flags| flags & (FLAG_UNIT | FLAG_UNIT_SUB) == FLAG_UNIT_SUB)
    }

    fn topics_with_flags(&self, wanted: impl Fn(i32) -> bool) -> TopicList {
        let tables = self.read();
        let first_wanted = |queues: &BTreeMap<String, QueueData>| {
            queues.values().next().is_some_and(|queue| wanted(queue.topic_sys_flag))
        };
        let topics = tables.topic_queues.iter().filter(|(_, queues)| first_wanted(queues));
        TopicList { topic_list: topics.map(|(topic, _)| topic.clone()).collect(), broker_addr: None }
    }
}
