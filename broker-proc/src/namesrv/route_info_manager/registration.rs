//! `REGISTER_BROKER`: the rules by which a registration changes the tables.

use std::collections::BTreeSet;
use std::sync::Arc;

use tracing::{debug, info, warn};

use super::tables::{BrokerKey, BrokerLive, Tables};
use super::{MASTER_ID, PERM_WRITE, RouteInfoManager};
use crate::remoting::Channel;
use crate::remoting::headers::RegisterBrokerRequestHeader;
use crate::remoting::protocol::{
    BrokerData, DataVersion, QueueData, RegisterBrokerBody, TopicConfig,
    TopicConfigAndMappingSerializeWrapper,
};

/// A broker that registers.
#[derive(Debug, Clone, Default)]
pub struct BrokerRegistration {
    /// Name, address, cluster and role.
    pub header: RegisterBrokerRequestHeader,
    /// Its topics.
    pub body: RegisterBrokerBody,
    /// Connection that it registers over; `None` for a broker in this process, which only time can take off.
    pub channel: Option<Arc<Channel>>,
}

/// What a replica learns about its master.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RegisterBrokerResult {
    /// Replication address of the master.
    pub ha_server_addr: Option<String>,
    /// Address of the master.
    pub master_addr: Option<String>,
}

/// Why a registration is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistrationError {
    /// An address that is not registered sent exactly one topic. That is what a broker sends after a change of
    /// one topic; taking it for the whole table would hide all its other topics.
    #[error("register broker failed: {0} is not registered and sent a single topic")]
    SingleTopic(String),
}

impl RouteInfoManager {
    /// Registers a broker, or renews its registration.
    ///
    /// A registration that is older than that of another live address with the same broker id is passed over
    /// without an error, as in Java.
    ///
    /// # Errors
    ///
    /// [`RegistrationError`]
    pub fn register(
        &self,
        registration: BrokerRegistration,
        delete_missing_topics: bool,
        now: i64,
    ) -> Result<RegisterBrokerResult, RegistrationError> {
        let BrokerRegistration { header, body, channel } = registration;
        let default_timeout = i64::try_from(self.default_timeout.as_millis()).unwrap_or(i64::MAX);
        let key = BrokerKey { cluster: header.cluster_name.clone(), addr: header.broker_addr.clone() };
        let topics = body.topic_config_serialize_wrapper;
        let mut tables = self.write();
        tables.prepare_broker(&header);
        if tables.is_outdated(&header, &topics.data_version) {
            warn!(broker = %header.broker_name, addr = %key.addr, "registration of an outdated broker ignored");
            tables.live.remove(&key);
            return Ok(RegisterBrokerResult::default());
        }
        let known = tables
            .brokers
            .get(&header.broker_name)
            .is_some_and(|broker| broker.broker_addrs.contains_key(&header.broker_id));
        if !known && topics.topic_config_table.len() == 1 {
            tables.forget_if_empty(&header.broker_name, &header.cluster_name);
            return Err(RegistrationError::SingleTopic(header.broker_addr));
        }
        let first = tables.put_address(&header);
        if first {
            info!(broker = %header.broker_name, id = header.broker_id, addr = %key.addr, "broker registered");
        }
        tables.take_topics(&header, &topics, first, delete_missing_topics);
        let live = BrokerLive {
            last_update: now,
            timeout: header.heartbeat_timeout_millis.unwrap_or(default_timeout),
            data_version: topics.data_version,
            channel,
            ha_server_addr: header.ha_server_addr.clone(),
        };
        tables.live.insert(key.clone(), live);
        if body.filter_server_list.is_empty() {
            tables.filter_servers.remove(&key);
        } else {
            tables.filter_servers.insert(key, body.filter_server_list);
        }
        Ok(tables.master_of(&header))
    }

    /// Whether a broker's topic table has another version than the one it registered.
    #[must_use]
    pub fn is_topic_config_changed(&self, cluster: &str, addr: &str, version: &DataVersion) -> bool {
        self.data_version(cluster, addr).as_ref() != Some(version)
    }
}

impl Tables {
    /// Makes sure that the broker is in its cluster and that its address has no other id.
    fn prepare_broker(&mut self, header: &RegisterBrokerRequestHeader) {
        self.clusters.entry(header.cluster_name.clone()).or_default().insert(header.broker_name.clone());
        let broker = self.brokers.entry(header.broker_name.clone()).or_insert_with(|| BrokerData {
            cluster: header.cluster_name.clone(),
            broker_name: header.broker_name.clone(),
            ..BrokerData::default()
        });
        broker.enable_acting_master = header.enable_acting_master.unwrap_or(false);
        broker.zone_name.clone_from(&header.zone_name);
        broker.broker_addrs.retain(|id, addr| *addr != header.broker_addr || *id == header.broker_id);
    }

    /// Whether another live address has the broker id and a greater state version.
    fn is_outdated(&self, header: &RegisterBrokerRequestHeader, version: &DataVersion) -> bool {
        let holder = self.brokers.get(&header.broker_name).and_then(|broker| {
            broker.broker_addrs.get(&header.broker_id).filter(|addr| **addr != header.broker_addr)
        });
        holder.is_some_and(|addr| {
            let key = BrokerKey { cluster: header.cluster_name.clone(), addr: addr.clone() };
            self.live.get(&key).is_some_and(|live| live.data_version.state_version > version.state_version)
        })
    }

    /// Undoes [`Tables::prepare_broker`] for a broker that was refused and has no address.
    fn forget_if_empty(&mut self, broker_name: &str, cluster: &str) {
        if self.brokers.get(broker_name).is_some_and(|broker| !broker.broker_addrs.is_empty()) {
            return;
        }
        self.brokers.remove(broker_name);
        if let Some(names) = self.clusters.get_mut(cluster) {
            names.remove(broker_name);
            if names.is_empty() {
                self.clusters.remove(cluster);
            }
        }
    }

    /// Enters the address; whether the broker id had none before.
    fn put_address(&mut self, header: &RegisterBrokerRequestHeader) -> bool {
        let addresses = self.brokers.get_mut(&header.broker_name).map(|broker| &mut broker.broker_addrs);
        let before =
            addresses.and_then(|addresses| addresses.insert(header.broker_id, header.broker_addr.clone()));
        before.is_none_or(|addr| addr.is_empty())
    }

    /// Takes over the topics of a master, or of the replica that stands in for one.
    fn take_topics(
        &mut self,
        header: &RegisterBrokerRequestHeader,
        topics: &TopicConfigAndMappingSerializeWrapper,
        first: bool,
        delete_missing: bool,
    ) {
        let Some(broker) = self.brokers.get(&header.broker_name) else {
            return;
        };
        let smallest_id = broker.broker_addrs.keys().next() == Some(&header.broker_id);
        let stands_in = header.enable_acting_master.is_some() && header.broker_id != MASTER_ID && smallest_id;
        if header.broker_id != MASTER_ID && !stands_in {
            return;
        }
        let read_only = stands_in && broker.enable_acting_master;
        let key = BrokerKey { cluster: header.cluster_name.clone(), addr: header.broker_addr.clone() };
        let changed = first || self.live.get(&key).map(|live| live.data_version) != Some(topics.data_version);
        if delete_missing && topics.topic_queue_mapping_info_map.is_empty() {
            self.delete_missing_topics(&header.broker_name, topics);
        }
        for (topic, config) in &topics.topic_config_table {
            let unknown =
                !self.topic_queues.get(topic).is_some_and(|on| on.contains_key(&header.broker_name));
            if changed || unknown {
                self.put_queue(topic, queue_data(&header.broker_name, config, read_only));
            }
        }
        if changed {
            for (topic, mapping) in &topics.topic_queue_mapping_info_map {
                let broker = mapping.bname.clone().unwrap_or_else(|| header.broker_name.clone());
                self.topic_mappings.entry(topic.clone()).or_default().insert(broker, mapping.clone());
            }
        }
    }

    fn delete_missing_topics(&mut self, broker_name: &str, topics: &TopicConfigAndMappingSerializeWrapper) {
        let has_broker = |topic: &String| {
            self.topic_queues.get(topic).is_some_and(|queues| queues.contains_key(broker_name))
        };
        let missing: BTreeSet<String> = self
            .topic_queues
            .keys()
            .filter(|topic| has_broker(topic) && !topics.topic_config_table.contains_key(*topic))
            .cloned()
            .collect();
        for topic in missing {
            debug!(topic, broker_name, "topic no longer registered");
            self.remove_topic_of(&topic, broker_name);
        }
    }

    /// What a replica is told about its master: nothing when that is not alive.
    fn master_of(&self, header: &RegisterBrokerRequestHeader) -> RegisterBrokerResult {
        if header.broker_id == MASTER_ID {
            return RegisterBrokerResult::default();
        }
        let master =
            self.brokers.get(&header.broker_name).and_then(|broker| broker.broker_addrs.get(&MASTER_ID));
        let live = master.and_then(|addr| {
            self.live.get(&BrokerKey { cluster: header.cluster_name.clone(), addr: addr.clone() })
        });
        RegisterBrokerResult {
            ha_server_addr: live.map(|live| live.ha_server_addr.clone()),
            master_addr: live.and(master).cloned(),
        }
    }
}

fn queue_data(broker_name: &str, config: &TopicConfig, read_only: bool) -> QueueData {
    QueueData {
        broker_name: broker_name.to_owned(),
        read_queue_nums: config.read_queue_nums,
        write_queue_nums: config.write_queue_nums,
        perm: if read_only { config.perm & !PERM_WRITE } else { config.perm },
        topic_sys_flag: config.topic_sys_flag,
    }
}
