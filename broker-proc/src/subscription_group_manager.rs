//! The group table (`subscriptionGroup.json`): what consumer groups there are and what each may do.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use store_core::java_json::{self, JavaJsonError};

use crate::attributes::{Attribute, AttributeValues, MetadataUpdateError, alter_attributes};
use crate::broker_config::BrokerConfig;
use crate::config_store::ConfigManager;
use crate::metadata_page::PageRequest;
use crate::remoting::protocol::{DataVersion, SubscriptionGroupConfig, SubscriptionGroupWrapper};
use crate::topic_validator::validate_group;

/// Groups every broker has. The last five may broadcast, and so may every other group by default.
const PREDEFINED_GROUPS: [&str; 8] = [
    "TOOLS_CONSUMER",
    "FILTERSRV_CONSUMER",
    "SELF_TEST_C_GROUP",
    "CID_ONS-HTTP-PROXY",
    "CID_ONSAPI_PULL",
    "CID_ONSAPI_PERMISSION",
    "CID_ONSAPI_OWNER",
    "CID_RMQ_SYS_TRANS",
];

/// Groups that begin so belong to the system.
const SYSTEM_GROUP_PREFIX: &str = "CID_RMQ_SYS_";

/// Bit of the forbidden table that forbids a group to read a topic.
pub const INDEX_PERM_READ: u32 = 2;

/// Most queues the retry topic of a group may have, as for other topics: answers list them one by one.
const MAX_RETRY_QUEUE_NUMS: i32 = 65_535;

/// Attributes of groups.
const GROUP_ATTRIBUTES: &[Attribute] =
    &[Attribute { name: "priority.factor", changeable: true, values: AttributeValues::Range(0, 100) }];

/// Topic to bitmap of what is forbidden there.
type Forbidden = BTreeMap<String, i32>;

/// A group that was looked up or made.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupCreation {
    /// The group.
    pub config: Arc<SubscriptionGroupConfig>,
    /// Whether the table changed and has to be persisted.
    pub changed: bool,
}

/// Some or all groups.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupTable {
    /// The groups, what is forbidden to them, and the version of the table they were taken from: the body of the answer
    /// to GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201).
    pub wrapper: SubscriptionGroupWrapper,
    /// Number of all groups, not only of those above.
    pub total: usize,
}

#[derive(Debug)]
struct Table {
    groups: HashMap<String, Arc<SubscriptionGroupConfig>>,
    forbidden: BTreeMap<String, Forbidden>,
    data_version: DataVersion,
}

impl Table {
    fn next_version(&mut self, now_millis: i64) {
        self.data_version = self.data_version.next(now_millis);
    }

    fn put(&mut self, config: SubscriptionGroupConfig, now_millis: i64) -> Arc<SubscriptionGroupConfig> {
        let config = Arc::new(config);
        self.groups.insert(config.group_name.clone(), Arc::clone(&config));
        self.next_version(now_millis);
        config
    }
}

/// The group table of a broker. Times are epoch milliseconds.
#[derive(Debug)]
pub struct SubscriptionGroupManager {
    table: RwLock<Table>,
    auto_create_subscription_group: AtomicBool,
    enable_create_sys_group: bool,
    page_size: usize,
}

impl SubscriptionGroupManager {
    /// A table that holds the predefined groups.
    pub fn new(config: &BrokerConfig, now_millis: i64) -> Self {
        let groups = PREDEFINED_GROUPS.iter().map(|name| ((*name).to_owned(), Arc::new(group(name))));
        let data_version = DataVersion { state_version: 0, timestamp: now_millis, counter: 0 };
        Self {
            table: RwLock::new(Table { groups: groups.collect(), forbidden: BTreeMap::new(), data_version }),
            auto_create_subscription_group: AtomicBool::new(config.auto_create_subscription_group),
            enable_create_sys_group: config.enable_create_sys_group,
            page_size: config.split_metadata_size,
        }
    }

    /// Switches the creation of groups on first use (`autoCreateSubscriptionGroup`) at run time.
    pub fn set_auto_create_subscription_group(&self, enabled: bool) {
        self.auto_create_subscription_group.store(enabled, Ordering::Relaxed);
    }

    /// The group, if it is in the table already.
    pub fn get(&self, group: &str) -> Option<Arc<SubscriptionGroupConfig>> {
        self.read().groups.get(group).map(Arc::clone)
    }

    /// The group, made on the spot when groups are created on first use or it is a system group, and its name is legal.
    pub fn find_subscription_group_config(&self, group_name: &str, now_millis: i64) -> Option<GroupCreation> {
        if let Some(config) = self.get(group_name) {
            return Some(GroupCreation { config, changed: false });
        }
        let is_system = self.enable_create_sys_group && group_name.starts_with(SYSTEM_GROUP_PREFIX);
        let may_be_made = is_system || self.auto_create_subscription_group.load(Ordering::Relaxed);
        if !may_be_made || validate_group(group_name).is_err() {
            return None;
        }
        let mut table = self.write();
        // Another request may have made it between the two locks.
        if let Some(config) = table.groups.get(group_name) {
            return Some(GroupCreation { config: Arc::clone(config), changed: false });
        }
        Some(GroupCreation { config: table.put(group(group_name), now_millis), changed: true })
    }

    /// Makes or changes a group as an admin command asks (codes 200 and 225); the keys of `requested.attributes` carry
    /// their signs. Asking for what is there already changes nothing.
    ///
    /// # Errors
    /// The answer to give instead.
    pub fn update_subscription_group_config(
        &self,
        mut requested: SubscriptionGroupConfig,
        now_millis: i64,
    ) -> Result<GroupCreation, MetadataUpdateError> {
        validate_group(&requested.group_name).map_err(MetadataUpdateError::InvalidParameter)?;
        let retry_queues = requested.retry_queue_nums;
        if !(0..=MAX_RETRY_QUEUE_NUMS).contains(&retry_queues) {
            let remark =
                format!("retryQueueNums[{retry_queues}] is illegal, expected 0 to {MAX_RETRY_QUEUE_NUMS}.");
            return Err(MetadataUpdateError::InvalidParameter(remark));
        }
        let mut table = self.write();
        let current = table.groups.get(&requested.group_name);
        let attributes = current.map(|config| &config.attributes);
        requested.attributes = alter_attributes(GROUP_ATTRIBUTES, attributes, &requested.attributes)
            .map_err(MetadataUpdateError::Attributes)?;
        match current {
            Some(config) if **config == requested => {
                Ok(GroupCreation { config: Arc::clone(config), changed: false })
            }
            _ => Ok(GroupCreation { config: table.put(requested, now_millis), changed: true }),
        }
    }

    /// Removes a group and what was forbidden to it (code 207); tells whether it was there.
    pub fn delete_subscription_group_config(&self, group: &str, now_millis: i64) -> bool {
        let mut table = self.write();
        let was_forbidden = table.forbidden.remove(group).is_some();
        let found = table.groups.remove(group).is_some() || was_forbidden;
        if found {
            table.next_version(now_millis);
        }
        found
    }

    /// Whether bit `index` (such as [`INDEX_PERM_READ`]) forbids `group` something on `topic`.
    pub fn get_forbidden(&self, group: &str, topic: &str, index: u32) -> bool {
        let table = self.read();
        let bitmap = table.forbidden.get(group).and_then(|topics| topics.get(topic)).copied().unwrap_or(0);
        bitmap & bit(index) != 0
    }

    /// Sets or clears bit `index` for `group` on `topic` (code 353); tells whether anything changed.
    pub fn set_forbidden(
        &self,
        group: &str,
        topic: &str,
        index: u32,
        forbidden: bool,
        now_millis: i64,
    ) -> bool {
        if self.get_forbidden(group, topic, index) == forbidden {
            return false;
        }
        let mut table = self.write();
        let topics = table.forbidden.entry(group.to_owned()).or_default();
        let bitmap = topics.entry(topic.to_owned()).or_default();
        *bitmap = if forbidden { *bitmap | bit(index) } else { *bitmap & !bit(index) };
        topics.retain(|_, bitmap| *bitmap != 0);
        if topics.is_empty() {
            table.forbidden.remove(group);
        }
        table.next_version(now_millis);
        true
    }

    /// Version of the table.
    pub fn data_version(&self) -> DataVersion {
        self.read().data_version
    }

    /// All groups.
    pub fn all_groups(&self) -> GroupTable {
        self.page(&PageRequest::everything())
    }

    /// One page of the table (GET_ALL_SUBSCRIPTIONGROUP_CONFIG 201).
    pub fn page(&self, request: &PageRequest) -> GroupTable {
        let table = self.read();
        let names = table.groups.keys().cloned().collect();
        let selected = request.select(names, &table.data_version, self.page_size);
        let mut wrapper = SubscriptionGroupWrapper { data_version: table.data_version, ..Default::default() };
        for name in selected {
            if let Some(topics) = table.forbidden.get(&name) {
                wrapper.forbidden_table.insert(name.clone(), topics.clone());
            }
            if let Some(config) = table.groups.get(&name) {
                wrapper.subscription_group_table.insert(name, SubscriptionGroupConfig::clone(config));
            }
        }
        GroupTable { wrapper, total: table.groups.len() }
    }

    fn read(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Table> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bit `index` of a bitmap; an index beyond it has no bit.
fn bit(index: u32) -> i32 {
    1_i32.checked_shl(index).unwrap_or(0)
}

/// A group as it is when nobody configured it.
fn group(name: &str) -> SubscriptionGroupConfig {
    SubscriptionGroupConfig { group_name: name.to_owned(), ..SubscriptionGroupConfig::default() }
}

impl ConfigManager for SubscriptionGroupManager {
    fn config_file_name(&self) -> &'static str {
        "subscriptionGroup.json"
    }

    fn encode(&self) -> Result<String, JavaJsonError> {
        let mut wrapper = self.all_groups().wrapper;
        // Also what is forbidden to groups that are not in the table.
        wrapper.forbidden_table = self.read().forbidden.clone();
        java_json::to_string_pretty(&wrapper)
    }

    /// Predefined groups stay; where the file speaks of one, the file counts.
    fn decode(&self, bytes: &[u8]) -> Result<(), JavaJsonError> {
        let file: SubscriptionGroupWrapper = java_json::from_slice(bytes)?;
        let mut table = self.write();
        for (name, mut config) in file.subscription_group_table {
            config.group_name.clone_from(&name);
            table.groups.insert(name, Arc::new(config));
        }
        table.forbidden = file.forbidden_table;
        // Old files have no version.
        if file.data_version != DataVersion::default() {
            table.data_version = file.data_version;
        }
        Ok(())
    }
}
