//! The tables themselves and the changes that keep them consistent.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::{MASTER_ID, PERM_WRITE};
use crate::remoting::Channel;
use crate::remoting::protocol::{BrokerData, DataVersion, QueueData, TopicQueueMappingInfo};

/// One registered address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct BrokerKey {
    pub(super) cluster: String,
    pub(super) addr: String,
}

/// What is known of a registered address.
#[derive(Debug, Clone)]
pub(super) struct BrokerLive {
    /// Time of the last sign of life, in milliseconds since 1970.
    pub(super) last_update: i64,
    /// How long the registration lives without another, in milliseconds.
    pub(super) timeout: i64,
    pub(super) data_version: DataVersion,
    /// Connection of the last registration; `None` for a broker in this process.
    pub(super) channel: Option<Arc<Channel>>,
    pub(super) ha_server_addr: String,
}

/// All tables. An address in `live` is also in `brokers`, a broker in `brokers` also in `clusters`.
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// Topic → broker name → queues.
    pub(super) topic_queues: BTreeMap<String, BTreeMap<String, QueueData>>,
    /// Static topic → broker name → mapping.
    pub(super) topic_mappings: HashMap<String, BTreeMap<String, TopicQueueMappingInfo>>,
    /// Broker name → addresses.
    pub(super) brokers: BTreeMap<String, BrokerData>,
    /// Cluster → broker names.
    pub(super) clusters: BTreeMap<String, BTreeSet<String>>,
    pub(super) live: HashMap<BrokerKey, BrokerLive>,
    pub(super) filter_servers: HashMap<BrokerKey, Vec<String>>,
}

impl Tables {
    /// Takes an address off a broker; whether it was there.
    pub(super) fn remove_broker(&mut self, key: &BrokerKey, broker_name: &str) -> bool {
        let was_live = self.live.remove(key).is_some();
        self.filter_servers.remove(key);
        let Some(broker) = self.brokers.get_mut(broker_name).filter(|broker| broker.cluster == key.cluster)
        else {
            return was_live;
        };
        let addresses = broker.broker_addrs.len();
        broker.broker_addrs.retain(|_, addr| *addr != key.addr);
        let removed = broker.broker_addrs.len() < addresses;
        if broker.broker_addrs.is_empty() {
            self.remove_broker_name(broker_name, &key.cluster);
        } else if removed && broker.enable_acting_master && !broker.broker_addrs.contains_key(&MASTER_ID) {
            self.change_perm(broker_name, |perm| perm & !PERM_WRITE);
        }
        removed || was_live
    }

    /// Takes an address off whatever broker has it; the name of that broker.
    pub(super) fn remove_key(&mut self, key: &BrokerKey) -> Option<String> {
        let has_it = |broker: &BrokerData| {
            broker.cluster == key.cluster && broker.broker_addrs.values().any(|addr| *addr == key.addr)
        };
        let name = self.brokers.iter().find(|(_, broker)| has_it(broker)).map(|(name, _)| name.clone());
        match &name {
            Some(name) => drop(self.remove_broker(key, name)),
            None => {
                self.live.remove(key);
                self.filter_servers.remove(key);
            }
        }
        name
    }

    fn remove_broker_name(&mut self, broker_name: &str, cluster: &str) {
        self.brokers.remove(broker_name);
        if let Some(names) = self.clusters.get_mut(cluster) {
            names.remove(broker_name);
            if names.is_empty() {
                self.clusters.remove(cluster);
            }
        }
        self.topic_queues.retain(|_, queues| {
            queues.remove(broker_name);
            !queues.is_empty()
        });
        self.topic_mappings.retain(|_, mappings| {
            mappings.remove(broker_name);
            !mappings.is_empty()
        });
    }

    /// Takes a broker out of the route of a topic.
    pub(super) fn remove_topic_of(&mut self, topic: &str, broker_name: &str) {
        if let Some(queues) = self.topic_queues.get_mut(topic) {
            queues.remove(broker_name);
            if queues.is_empty() {
                self.topic_queues.remove(topic);
            }
        }
        if let Some(mappings) = self.topic_mappings.get_mut(topic) {
            mappings.remove(broker_name);
            if mappings.is_empty() {
                self.topic_mappings.remove(topic);
            }
        }
    }

    pub(super) fn put_queue(&mut self, topic: &str, queue: QueueData) {
        let queues = self.topic_queues.entry(topic.to_owned()).or_default();
        queues.insert(queue.broker_name.clone(), queue);
    }

    /// Changes the permissions of all queues of a broker; the number of its topics.
    pub(super) fn change_perm(&mut self, broker_name: &str, change: impl Fn(i32) -> i32) -> usize {
        let mut topics = 0;
        for queue in self.topic_queues.values_mut().filter_map(|queues| queues.get_mut(broker_name)) {
            queue.perm = change(queue.perm);
            topics += 1;
        }
        topics
    }

    /// Addresses whose last registration came over a connection.
    pub(super) fn keys_of_channel(&self, channel_id: u64) -> Vec<BrokerKey> {
        let of_channel =
            |live: &BrokerLive| live.channel.as_ref().is_some_and(|channel| channel.id() == channel_id);
        self.live.iter().filter(|(_, live)| of_channel(live)).map(|(key, _)| key.clone()).collect()
    }

    /// Addresses whose registration has run out, sorted.
    pub(super) fn expired(&self, now: i64) -> Vec<BrokerKey> {
        let has_run_out = |live: &BrokerLive| live.last_update.saturating_add(live.timeout) < now;
        let mut expired: Vec<_> =
            self.live.iter().filter(|(_, live)| has_run_out(live)).map(|(key, _)| key.clone()).collect();
        expired.sort();
        expired
    }
}
