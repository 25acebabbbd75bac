//! Who produces right now: the connections of every producer group.
//!
//! Needed to ask a producer about a half message (CHECK_TRANSACTION_STATE 39) and to hand a reply to the client that
//! waits for it (PUSH_REPLY_MESSAGE_TO_CLIENT 326).

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::client_channel_info::{ClientChannel, ClientChannelInfo, ClientIdentity};
use crate::remoting::protocol::{ProducerConnection, ProducerInfo, ProducerTableInfo};

type Channels<C> = BTreeMap<u64, Arc<ClientChannelInfo<C>>>;
type Groups<C> = HashMap<String, Channels<C>>;

/// The connected producers of a broker. Times are epoch milliseconds.
#[derive(Debug)]
pub struct ProducerManager<C> {
    groups: RwLock<Groups<C>>,
    /// Counts the choices of [`ProducerManager::available_channel`].
    turn: AtomicUsize,
}

impl<C> Default for ProducerManager<C> {
    fn default() -> Self {
        Self { groups: RwLock::new(HashMap::new()), turn: AtomicUsize::new(0) }
    }
}

impl<C: ClientChannel> ProducerManager<C> {
    /// A table without producers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in one producer group of a heartbeat.
    pub fn register_producer(&self, group: &str, channel: &C, identity: &ClientIdentity, now_millis: i64) {
        let known = self.read().get(group).and_then(|channels| channels.get(&channel.id()).map(Arc::clone));
        if let Some(info) = known.filter(|info| info.identity == *identity) {
            info.touch(now_millis);
            return;
        }
        let info = ClientChannelInfo::new(channel.clone(), identity.clone(), now_millis);
        self.write().entry(group.to_owned()).or_default().insert(channel.id(), Arc::new(info));
    }

    /// Takes a connection out of a group (UNREGISTER_CLIENT 35). A group without connections is forgotten.
    pub fn unregister_producer(&self, channel_id: u64, group: &str) {
        let mut groups = self.write();
        if let Some(channels) = groups.get_mut(group) {
            channels.remove(&channel_id);
            if channels.is_empty() {
                groups.remove(group);
            }
        }
    }

    /// Takes a closed connection out of all groups.
    pub fn on_channel_closed(&self, channel_id: u64) {
        self.remove_channels(|info| info.channel.id() == channel_id);
    }

    /// Takes out connections silent for longer than `timeout_millis` (`channelExpiredTimeout`) and returns them: they
    /// are to be closed.
    pub fn scan_not_active_channels(&self, now_millis: i64, timeout_millis: i64) -> Vec<C> {
        self.remove_channels(|info| info.is_expired(now_millis, timeout_millis))
    }

    /// A connection of the group, another one each time, leaving out closed ones.
    pub fn available_channel(&self, group: &str) -> Option<C> {
        let open: Vec<_> = self.clients(group).into_iter().filter(|info| !info.channel.is_closed()).collect();
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let index = turn.checked_rem(open.len())?;
        open.get(index).map(|info| info.channel.clone())
    }

    /// The newest open connection of a client, whatever its groups.
    pub fn find_client(&self, client_id: &str) -> Option<C> {
        let groups = self.read();
        let of_client = groups
            .values()
            .flat_map(BTreeMap::values)
            .filter(|info| info.identity.client_id == client_id && !info.channel.is_closed());
        of_client.max_by_key(|info| info.channel.id()).map(|info| info.channel.clone())
    }

    /// Connections of a group, oldest first.
    pub fn clients(&self, group: &str) -> Vec<Arc<ClientChannelInfo<C>>> {
        self.read().get(group).map(|channels| channels.values().map(Arc::clone).collect()).unwrap_or_default()
    }

    /// The answer to GET_PRODUCER_CONNECTION_LIST (204); `None` when nobody is connected.
    pub fn producer_connection(&self, group: &str) -> Option<ProducerConnection> {
        let groups = self.read();
        let connections = groups.get(group)?.values().map(|client| client.connection());
        Some(ProducerConnection { connection_set: connections.collect() })
    }

    /// The answer to GET_ALL_PRODUCER_INFO (328).
    pub fn producer_table(&self) -> ProducerTableInfo {
        let groups = self.read();
        let data = groups.iter().map(|(group, channels)| {
            let producers = channels.values().map(|client| producer_info(client));
            (group.clone(), producers.collect())
        });
        ProducerTableInfo { data: data.collect() }
    }

    fn remove_channels(&self, mut leaves: impl FnMut(&ClientChannelInfo<C>) -> bool) -> Vec<C> {
        let mut removed = BTreeMap::new();
        self.write().retain(|_, channels| {
            channels.retain(|id, info| {
                let stays = !leaves(info);
                if !stays {
                    removed.insert(*id, info.channel.clone());
                }
                stays
            });
            !channels.is_empty()
        });
        removed.into_values().collect()
    }

    fn read(&self) -> RwLockReadGuard<'_, Groups<C>> {
        self.groups.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Groups<C>> {
        self.groups.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn producer_info<C: ClientChannel>(client: &ClientChannelInfo<C>) -> ProducerInfo {
    ProducerInfo {
        client_id: client.identity.client_id.clone(),
        remote_ip: format!("/{}", client.channel.peer()),
        language: client.identity.language,
        version: client.identity.version,
        last_update_timestamp: client.last_update_timestamp(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_channel_info::tests::{TestChannel, identity};

    fn ids(clients: &[Arc<ClientChannelInfo<TestChannel>>]) -> Vec<u64> {
        clients.iter().map(|info| info.channel.id()).collect()
    }

    #[test]
    fn register_and_unregister() {
        let manager = ProducerManager::new();
        manager.register_producer("g", &TestChannel::new(1), &identity("a"), 0);
        manager.register_producer("g", &TestChannel::new(2), &identity("b"), 0);
        manager.register_producer("h", &TestChannel::new(1), &identity("a"), 0);
        assert_eq!(ids(&manager.clients("g")), [1, 2]);
        assert_eq!(manager.producer_table().data.keys().collect::<Vec<_>>(), ["g", "h"]);
        manager.unregister_producer(1, "g");
        manager.unregister_producer(9, "g");
        manager.unregister_producer(1, "unknown");
        assert_eq!(ids(&manager.clients("g")), [2]);
        manager.unregister_producer(2, "g");
        assert_eq!(manager.producer_table().data.keys().collect::<Vec<_>>(), ["h"]);
    }

    #[test]
    fn closed_connections_leave_all_groups() {
        let manager = ProducerManager::new();
        for group in ["g", "h"] {
            manager.register_producer(group, &TestChannel::new(1), &identity("a"), 0);
        }
        manager.register_producer("g", &TestChannel::new(2), &identity("b"), 0);
        manager.on_channel_closed(1);
        assert_eq!(ids(&manager.clients("g")), [2]);
        assert!(manager.clients("h").is_empty());
    }

    #[test]
    fn silent_connections_are_returned_once_for_closing() {
        let manager = ProducerManager::new();
        for group in ["g", "h"] {
            manager.register_producer(group, &TestChannel::new(1), &identity("a"), 0);
        }
        manager.register_producer("g", &TestChannel::new(2), &identity("b"), 0);
        manager.register_producer("g", &TestChannel::new(2), &identity("b"), 1000);
        assert!(manager.scan_not_active_channels(120_000, 120_000).is_empty());
        let expired = manager.scan_not_active_channels(120_001, 120_000);
        assert_eq!(expired.iter().map(ClientChannel::id).collect::<Vec<_>>(), [1]);
        assert_eq!(ids(&manager.clients("g")), [2]);
    }

    #[test]
    fn channels_are_chosen_in_turn_and_closed_ones_left_out() {
        let manager = ProducerManager::new();
        assert!(manager.available_channel("g").is_none());
        for id in 1..=3 {
            manager.register_producer("g", &TestChannel::new(id), &identity("a"), 0);
        }
        manager.clients("g")[1].channel.close();
        let mut chosen: Vec<_> =
            (0..4).filter_map(|_| manager.available_channel("g")).map(|channel| channel.id()).collect();
        assert_ne!(chosen[0], chosen[1]);
        chosen.sort_unstable();
        assert_eq!(chosen, [1, 1, 3, 3]);
    }

    #[test]
    fn a_client_is_found_on_its_newest_open_connection() {
        let manager = ProducerManager::new();
        manager.register_producer("g", &TestChannel::new(1), &identity("a"), 0);
        manager.register_producer("h", &TestChannel::new(5), &identity("a"), 0);
        manager.register_producer("h", &TestChannel::new(6), &identity("b"), 0);
        assert_eq!(manager.find_client("a").map(|channel| channel.id()), Some(5));
        manager.clients("h")[0].channel.close();
        assert_eq!(manager.find_client("a").map(|channel| channel.id()), Some(1));
        assert!(manager.find_client("nobody").is_none());
    }

    #[test]
    fn answers_to_admin_commands() {
        let manager = ProducerManager::new();
        manager.register_producer("g", &TestChannel::new(1), &identity("a"), 7);
        assert_eq!(manager.producer_connection("h"), None);
        let connections = manager.producer_connection("g").expect("connected").connection_set;
        assert_eq!(connections[0].client_addr, "127.0.0.1:40000");
        let info = &manager.producer_table().data["g"][0];
        assert_eq!((info.remote_ip.as_str(), info.last_update_timestamp), ("/127.0.0.1:40000", 7));
        assert_eq!((info.client_id.as_str(), info.version), ("a", 513));
    }

    #[test]
    fn another_client_on_the_same_connection_takes_its_place() {
        let manager = ProducerManager::new();
        manager.register_producer("g", &TestChannel::new(1), &identity("a"), 0);
        manager.register_producer("g", &TestChannel::new(1), &identity("b"), 0);
        assert_eq!(manager.clients("g").len(), 1);
        assert_eq!(manager.clients("g")[0].identity.client_id, "b");
    }
}
