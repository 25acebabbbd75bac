//! What every processor works on: the store, the managers, and the broker's own facts.

use crate::broker_config::BrokerConfig;
use crate::config_store::{ConfigManager, ConfigStore};
use crate::consumer_manager::{ConsumerIdsChange, ConsumerManager};
use crate::consumer_offset_manager::ConsumerOffsetManager;
use crate::long_polling::PullRequestHoldService;
use crate::name_server_registration::NameServerRegistration;
use crate::producer_manager::ProducerManager;
use crate::rebalance_lock_manager::RebalanceLockManager;
use crate::remoting::headers::ConsumerGroupRequestHeader;
use crate::remoting::protocol::SubscriptionGroupConfig;
use crate::remoting::{Channel, RemotingCommand, request_code};
use crate::subscription_group_manager::SubscriptionGroupManager;
use crate::topic_config_manager::TopicConfigManager;
use crate::transaction::TransactionalMessages;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use store_core::config::DelayLevels;
use store_core::{Env, MessageStore};
use tokio::runtime::{Handle, RuntimeFlavor};

/// The broker's parts (`BrokerController`'s fields). Shared by all processors and tasks.
pub struct BrokerContext {
    /// Time, files, randomness.
    pub env: Env,
    /// Settings of this layer.
    pub config: BrokerConfig,
    /// All settings in effect, as `key=value` lines.
    pub effective_properties: String,
    /// The store.
    pub store: Arc<dyn MessageStore>,
    /// Delay levels, the same as the store's.
    pub delay_levels: DelayLevels,
    /// Topics.
    pub topics: TopicConfigManager,
    /// Consumer groups.
    pub groups: SubscriptionGroupManager,
    /// Progress of consumer groups.
    pub offsets: ConsumerOffsetManager,
    /// Connected consumers.
    pub consumers: ConsumerManager<Arc<Channel>>,
    /// Connected producers.
    pub producers: ProducerManager<Arc<Channel>>,
    /// Queue locks of orderly consumers.
    pub locks: RebalanceLockManager,
    /// Pulls that wait for a message.
    pub hold: Arc<PullRequestHoldService>,
    /// Half messages under way.
    pub transactions: TransactionalMessages,
    /// The `config/*.json` files.
    pub files: ConfigStore,
    /// The way to the name servers.
    pub registration: NameServerRegistration,
    /// Address of this broker that clients know; part of every message id.
    pub store_host: SocketAddr,
    /// Set once the broker goes down.
    pub stopping: AtomicBool,
}

impl BrokerContext {
    /// Milliseconds since the epoch.
    pub fn now(&self) -> i64 {
        self.env.now_millis()
    }

    /// Saves one of the JSON files; a failure is logged, since the state in memory stands and the next change saves it
    /// again.
    pub fn persist(&self, manager: &dyn ConfigManager) {
        if let Err(error) = self.blocking(|| self.files.persist(manager)) {
            tracing::error!(%error, "a configuration file could not be saved");
        }
    }

    /// Runs work that waits for the disk; other connections of this thread are served elsewhere meanwhile.
    pub fn blocking<T>(&self, work: impl FnOnce() -> T) -> T {
        let on_shared_thread =
            Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
        if on_shared_thread { tokio::task::block_in_place(work) } else { work() }
    }

    /// The group, made on first use when that is allowed.
    pub fn group(&self, group: &str) -> Option<Arc<SubscriptionGroupConfig>> {
        let found = self.groups.find_subscription_group_config(group, self.now())?;
        if found.changed {
            self.persist(&self.groups);
        }
        Some(found.config)
    }

    /// Tells the members of a consumer group that the group has changed.
    pub fn notify_consumer_ids_changed(&self, change: &ConsumerIdsChange<Arc<Channel>>) {
        let wanted = self.config.notify_consumer_ids_changed_enable
            && self.groups.get(&change.group).is_none_or(|group| group.notify_consumer_ids_changed_enable);
        if !wanted {
            return;
        }
        let header = ConsumerGroupRequestHeader { consumer_group: change.group.clone() };
        for channel in &change.channels {
            let notice = RemotingCommand::request_with(request_code::NOTIFY_CONSUMER_IDS_CHANGED, &header);
            if let Err(error) = channel.push(notice) {
                tracing::debug!(%error, "a consumer was not told of a change of its group");
            }
        }
    }

    /// A random number below `bound`, 0 when there is no choice.
    pub fn random_below(&self, bound: i32) -> i32 {
        let Ok(bound) = u64::try_from(bound) else { return 0 };
        if bound == 0 { 0 } else { (self.env.random_u64() % bound) as i32 }
    }

    /// A unique message id for a message whose client gave none.
    pub fn new_unique_id(&self) -> String {
        format!("{:016X}{:016X}", self.env.random_u64(), self.env.random_u64())
    }
}

impl std::fmt::Debug for BrokerContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BrokerContext").field("broker_name", &self.config.broker_name).finish_non_exhaustive()
    }
}
