//! Who serves what: brokers, their clusters, their topics.

mod query;
mod registration;
mod tables;

#[cfg(test)]
mod tests;

pub use registration::{BrokerRegistration, RegisterBrokerResult, RegistrationError};

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use tables::{BrokerKey, Tables};
use tracing::{info, warn};

use crate::remoting::headers::UnregisterBrokerRequestHeader;
use crate::remoting::protocol::{DataVersion, QueueData};

/// Permission bit: may be written.
const PERM_WRITE: i32 = 2;
/// Permission bits: may be read and written.
const PERM_READ_WRITE: i32 = 6;
/// Broker id of a master.
const MASTER_ID: i64 = 0;

/// Why a broker is taken off, for the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnregisterReason {
    /// The broker asked for it.
    Asked,
    /// Its connection ended.
    ConnectionClosed,
    /// It did not renew its registration in time.
    Expired,
}

/// The tables of a name server.
///
/// Broker names are unique over all clusters. All times are in milliseconds since 1970 and come from the
/// caller.
#[derive(Debug)]
pub struct RouteInfoManager {
    tables: RwLock<Tables>,
    default_timeout: Duration,
}

impl RouteInfoManager {
    /// Empty tables. A registration that names no timeout lives for `default_timeout`.
    #[must_use]
    pub fn new(default_timeout: Duration) -> Self {
        Self { tables: RwLock::default(), default_timeout }
    }

    // A panic while the lock was held would leave tables that contradict each other at worst in one entry,
    // which the next registration of that broker puts right.
    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.tables.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one address of a broker off; with the last address its topics and its place in the cluster go.
    pub fn unregister(&self, broker: &UnregisterBrokerRequestHeader, reason: UnregisterReason) {
        let key = BrokerKey { cluster: broker.cluster_name.clone(), addr: broker.broker_addr.clone() };
        if self.write().remove_broker(&key, &broker.broker_name) {
            info!(broker = %broker.broker_name, addr = %key.addr, ?reason, "broker unregistered");
        }
    }

    /// Takes off the brokers that registered over a connection that has ended. One that has registered again
    /// over another connection since then stays.
    pub fn connection_closed(&self, channel_id: u64) {
        let mut tables = self.write();
        for key in tables.keys_of_channel(channel_id) {
            let broker = tables.remove_key(&key);
            warn!(?broker, addr = %key.addr, "broker unregistered, its connection closed");
        }
    }

    /// Takes off the brokers that have not renewed their registration, and closes their connections. Returns
    /// their addresses.
    pub fn scan(&self, now: i64) -> Vec<String> {
        let mut tables = self.write();
        let expired = tables.expired(now);
        for key in &expired {
            let channel = tables.live.get(key).and_then(|live| live.channel.clone());
            let broker = tables.remove_key(key);
            warn!(?broker, addr = %key.addr, "broker unregistered, it did not renew its registration");
            if let Some(channel) = channel {
                channel.close();
            }
        }
        expired.into_iter().map(|key| key.addr).collect()
    }

    /// Notes that a registered broker is alive.
    pub fn renew(&self, cluster: &str, addr: &str, now: i64) {
        let key = BrokerKey { cluster: cluster.to_owned(), addr: addr.to_owned() };
        if let Some(live) = self.write().live.get_mut(&key) {
            live.last_update = now;
        }
    }

    /// Version of the topic table that a broker registered last; `None` when it is not registered.
    #[must_use]
    pub fn data_version(&self, cluster: &str, addr: &str) -> Option<DataVersion> {
        let key = BrokerKey { cluster: cluster.to_owned(), addr: addr.to_owned() };
        self.read().live.get(&key).map(|live| live.data_version)
    }

    /// Forbids writing on a broker until its next changed registration; the number of topics it has.
    pub fn wipe_write_perm(&self, broker_name: &str) -> usize {
        self.write().change_perm(broker_name, |perm| perm & !PERM_WRITE)
    }

    /// Allows reading and writing on a broker; the number of topics it has.
    pub fn add_write_perm(&self, broker_name: &str) -> usize {
        self.write().change_perm(broker_name, |_| PERM_READ_WRITE)
    }

    /// Deletes the route of a topic, with `cluster` only that to brokers of the cluster.
    pub fn delete_topic(&self, topic: &str, cluster: Option<&str>) {
        let mut tables = self.write();
        match cluster.filter(|cluster| !cluster.is_empty()) {
            None => {
                tables.topic_queues.remove(topic);
                tables.topic_mappings.remove(topic);
            }
            Some(cluster) => {
                let brokers = tables.clusters.get(cluster).cloned().unwrap_or_default();
                brokers.iter().for_each(|broker| tables.remove_topic_of(topic, broker));
            }
        }
    }

    /// Adds queues to a topic. Refused when one of the brokers is unknown.
    ///
    /// # Errors
    ///
    /// The name of the unknown broker.
    pub fn register_topic(&self, topic: &str, queues: Vec<QueueData>) -> Result<(), String> {
        let mut tables = self.write();
        if let Some(unknown) = queues.iter().find(|queue| !tables.brokers.contains_key(&queue.broker_name)) {
            return Err(unknown.broker_name.clone());
        }
        for queue in queues {
            tables.put_queue(topic, queue);
        }
        Ok(())
    }
}
