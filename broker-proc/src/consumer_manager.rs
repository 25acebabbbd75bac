//! Who consumes right now: the connections of every consumer group and what the group is subscribed to.
//!
//! Filled by heartbeats (HEART_BEAT 34), emptied by UNREGISTER_CLIENT (35), closed connections and silence. What a pull
//! needs is kept as one immutable [`ConsumerGroupInfo`] a group, which is replaced when it changes: a pull takes a
//! reference to it and holds no lock.

mod subscription;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub use self::subscription::{SUB_ALL, Subscription, TAG};
use crate::client_channel_info::{ClientChannel, ClientChannelInfo, ClientIdentity};
use crate::remoting::protocol::{
    ConsumeFromWhere, ConsumeType, ConsumerConnection, ConsumerData, MessageModel,
};

/// How a group consumes, and what. The latest heartbeat of any member decides.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsumerGroupInfo {
    /// Pulled by the application, pushed by the client library, or popped.
    pub consume_type: ConsumeType,
    /// Members share the messages, or each gets all.
    pub message_model: MessageModel,
    /// Where a new group begins.
    pub consume_from_where: ConsumeFromWhere,
    /// Subscriptions by topic.
    pub subscriptions: HashMap<String, Arc<Subscription>>,
}

impl ConsumerGroupInfo {
    /// The subscription to a topic.
    pub fn find_subscription(&self, topic: &str) -> Option<Arc<Subscription>> {
        self.subscriptions.get(topic).map(Arc::clone)
    }

    fn is_broadcasting(&self) -> bool {
        self.message_model == MessageModel::Broadcasting
    }
}

/// The members of a group changed: NOTIFY_CONSUMER_IDS_CHANGED (40) goes to `channels`, unless the group or the broker
/// forbids it. Never made for groups that broadcast.
#[derive(Debug, Clone)]
pub struct ConsumerIdsChange<C> {
    /// The group.
    pub group: String,
    /// All its connections, a new one included.
    pub channels: Vec<C>,
}

/// What a heartbeat changed.
#[derive(Debug, Clone)]
pub struct ConsumerRegistration<C> {
    /// The connection was not a member before.
    pub new_channel: bool,
    /// A topic came or went; a newer expression for the same topic does not count.
    pub subscription_changed: bool,
    /// Whom to tell.
    pub change: Option<ConsumerIdsChange<C>>,
}

/// Connections that were silent for too long and are not members any more.
#[derive(Debug, Clone)]
pub struct ExpiredConsumers<C> {
    /// Connections to close.
    pub expired: Vec<C>,
    /// Whom to tell.
    pub changes: Vec<ConsumerIdsChange<C>>,
}

#[derive(Debug)]
struct Group<C> {
    channels: BTreeMap<u64, Arc<ClientChannelInfo<C>>>,
    info: Arc<ConsumerGroupInfo>,
}

impl<C: ClientChannel> Group<C> {
    fn new(data: &ConsumerData) -> Self {
        let info = ConsumerGroupInfo {
            consume_type: data.consume_type,
            message_model: data.message_model,
            consume_from_where: data.consume_from_where,
            subscriptions: HashMap::new(),
        };
        Self { channels: BTreeMap::new(), info: Arc::new(info) }
    }

    /// Notes the connection; tells whether it is new.
    fn update_channel(&mut self, channel: &C, identity: &ClientIdentity, now_millis: i64) -> bool {
        let known = self.channels.get(&channel.id());
        if let Some(info) = known.filter(|info| info.identity == *identity) {
            info.touch(now_millis);
            return false;
        }
        let is_new = known.is_none();
        let info = ClientChannelInfo::new(channel.clone(), identity.clone(), now_millis);
        self.channels.insert(channel.id(), Arc::new(info));
        is_new
    }

    /// Takes over how the group consumes.
    fn update_mode(&mut self, data: &ConsumerData) {
        let info = &self.info;
        let same = info.consume_type == data.consume_type
            && info.message_model == data.message_model
            && info.consume_from_where == data.consume_from_where;
        if !same {
            let info = Arc::make_mut(&mut self.info);
            info.consume_type = data.consume_type;
            info.message_model = data.message_model;
            info.consume_from_where = data.consume_from_where;
        }
    }

    /// Takes over the subscriptions; tells whether a topic came or went. A known topic changes only for a greater
    /// version.
    fn update_subscriptions(&mut self, data: &ConsumerData) -> bool {
        let newer: Vec<_> = data
            .subscription_data_set
            .iter()
            .filter(|wanted| match self.info.subscriptions.get(&wanted.topic) {
                Some(known) => wanted.sub_version > known.data().sub_version,
                None => true,
            })
            .collect();
        let wanted: BTreeSet<&str> =
            data.subscription_data_set.iter().map(|wanted| wanted.topic.as_str()).collect();
        let topic_goes = self.info.subscriptions.keys().any(|topic| !wanted.contains(topic.as_str()));
        if newer.is_empty() && !topic_goes {
            return false;
        }
        let mut topic_comes = false;
        let info = Arc::make_mut(&mut self.info);
        for wanted in newer {
            let subscription = Arc::new(Subscription::new(wanted.clone()));
            topic_comes |= info.subscriptions.insert(wanted.topic.clone(), subscription).is_none();
        }
        info.subscriptions.retain(|topic, _| wanted.contains(topic.as_str()));
        topic_comes || topic_goes
    }

    fn change(&self, group: &str) -> Option<ConsumerIdsChange<C>> {
        if self.info.is_broadcasting() || self.channels.is_empty() {
            return None;
        }
        let channels = self.channels.values().map(|info| info.channel.clone()).collect();
        Some(ConsumerIdsChange { group: group.to_owned(), channels })
    }
}

type Groups<C> = HashMap<String, Group<C>>;

/// The connected consumers of a broker. Times are epoch milliseconds.
#[derive(Debug)]
pub struct ConsumerManager<C> {
    groups: RwLock<Groups<C>>,
}

impl<C> Default for ConsumerManager<C> {
    fn default() -> Self {
        Self { groups: RwLock::new(HashMap::new()) }
    }
}

impl<C: ClientChannel> ConsumerManager<C> {
    /// A table without consumers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in one group of a heartbeat. With `without_sub` the subscriptions stay as they are.
    pub fn register_consumer(
        &self,
        channel: &C,
        identity: &ClientIdentity,
        data: &ConsumerData,
        without_sub: bool,
        now_millis: i64,
    ) -> ConsumerRegistration<C> {
        let mut groups = self.write();
        if !groups.contains_key(&data.group_name) {
            groups.insert(data.group_name.clone(), Group::new(data));
        }
        let Some(group) = groups.get_mut(&data.group_name) else {
            return ConsumerRegistration { new_channel: false, subscription_changed: false, change: None };
        };
        group.update_mode(data);
        let new_channel = group.update_channel(channel, identity, now_millis);
        let subscription_changed = !without_sub && group.update_subscriptions(data);
        let change = if new_channel || subscription_changed { group.change(&data.group_name) } else { None };
        ConsumerRegistration { new_channel, subscription_changed, change }
    }

    /// Takes a connection out of a group (UNREGISTER_CLIENT 35). A group without connections is forgotten.
    pub fn unregister_consumer(&self, channel_id: u64, group: &str) -> Option<ConsumerIdsChange<C>> {
        let mut groups = self.write();
        let members = groups.get_mut(group)?;
        members.channels.remove(&channel_id)?;
        let change = members.change(group);
        if members.channels.is_empty() {
            groups.remove(group);
        }
        change
    }

    /// Takes a closed connection out of all groups.
    pub fn on_channel_closed(&self, channel_id: u64) -> Vec<ConsumerIdsChange<C>> {
        self.remove_channels(|info| info.channel.id() == channel_id).changes
    }

    /// Takes out connections silent for longer than `timeout_millis` (`channelExpiredTimeout`).
    pub fn scan_not_active_channels(&self, now_millis: i64, timeout_millis: i64) -> ExpiredConsumers<C> {
        self.remove_channels(|info| info.is_expired(now_millis, timeout_millis))
    }

    /// How the group consumes, and what. `None` when nobody is connected.
    pub fn group_info(&self, group: &str) -> Option<Arc<ConsumerGroupInfo>> {
        self.read().get(group).map(|members| Arc::clone(&members.info))
    }

    /// Client ids of a group, one for each connection, sorted (GET_CONSUMER_LIST_BY_GROUP 38).
    pub fn consumer_ids(&self, group: &str) -> Vec<String> {
        let mut ids: Vec<String> =
            self.clients(group).iter().map(|info| info.identity.client_id.clone()).collect();
        ids.sort_unstable();
        ids
    }

    /// Connections of a group, oldest first.
    pub fn clients(&self, group: &str) -> Vec<Arc<ClientChannelInfo<C>>> {
        self.read()
            .get(group)
            .map(|members| members.channels.values().map(Arc::clone).collect())
            .unwrap_or_default()
    }

    /// The connection of a client of a group; the newest one when it has several.
    pub fn find_client(&self, group: &str, client_id: &str) -> Option<Arc<ClientChannelInfo<C>>> {
        let groups = self.read();
        let mut channels = groups.get(group)?.channels.values().rev();
        channels.find(|info| info.identity.client_id == client_id).map(Arc::clone)
    }

    /// The answer to GET_CONSUMER_CONNECTION_LIST (203); `None` when nobody is connected.
    pub fn consumer_connection(&self, group: &str) -> Option<ConsumerConnection> {
        let groups = self.read();
        let members = groups.get(group)?;
        let info = &members.info;
        let subscriptions = info.subscriptions.iter();
        Some(ConsumerConnection {
            connection_set: members.channels.values().map(|client| client.connection()).collect(),
            subscription_table: subscriptions
                .map(|(topic, wanted)| (topic.clone(), wanted.data().clone()))
                .collect(),
            consume_type: info.consume_type,
            message_model: info.message_model,
            consume_from_where: info.consume_from_where,
        })
    }

    /// Groups that are subscribed to a topic right now, sorted.
    pub fn groups_of_topic(&self, topic: &str) -> BTreeSet<String> {
        let groups = self.read();
        let subscribed = groups.iter().filter(|(_, members)| members.info.subscriptions.contains_key(topic));
        subscribed.map(|(group, _)| group.clone()).collect()
    }

    /// Groups with a connection, sorted.
    pub fn groups(&self) -> BTreeSet<String> {
        self.read().keys().cloned().collect()
    }

    fn remove_channels(&self, mut leaves: impl FnMut(&ClientChannelInfo<C>) -> bool) -> ExpiredConsumers<C> {
        let mut outcome = ExpiredConsumers { expired: Vec::new(), changes: Vec::new() };
        self.write().retain(|group, members| {
            let before = members.channels.len();
            members.channels.retain(|_, info| {
                let stays = !leaves(info);
                if !stays {
                    outcome.expired.push(info.channel.clone());
                }
                stays
            });
            if members.channels.len() != before {
                outcome.changes.extend(members.change(group));
            }
            !members.channels.is_empty()
        });
        outcome
    }

    fn read(&self) -> RwLockReadGuard<'_, Groups<C>> {
        self.groups.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Groups<C>> {
        self.groups.write().unwrap_or_else(PoisonError::into_inner)
    }
}
