//! The topic table (`topics.json`): what topics there are, and the rules by which new ones come into being.

mod system_topics;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use store_core::java_json::{self, JavaJsonError};
use store_core::multi_dispatch::is_light_queue;

use self::system_topics::{PERM_INHERIT, PERM_READ, PERM_WRITE, system_topics};
use crate::attributes::{Attribute, AttributeValues, MetadataUpdateError, alter_attributes};
use crate::broker_config::BrokerConfig;
use crate::config_store::ConfigManager;
use crate::metadata_page::PageRequest;
use crate::remoting::protocol::{DataVersion, TopicConfig, TopicConfigSerializeWrapper};
use crate::topic_validator::{AUTO_CREATE_TOPIC_KEY_TOPIC, TopicValidator, validate_topic};
use store_core::{QueueType, QueueTypes};

/// Attributes of topics.
const TOPIC_ATTRIBUTES: &[Attribute] = &[
    Attribute {
        name: "message.type",
        changeable: true,
        values: AttributeValues::OneOf(&["UNSPECIFIED", "NORMAL", "FIFO", "DELAY", "TRANSACTION", "MIXED"]),
    },
    Attribute {
        name: "queue.type",
        changeable: false,
        values: AttributeValues::OneOf(&["SimpleCQ", "BatchCQ"]),
    },
    Attribute {
        name: "cleanup.policy",
        changeable: false,
        values: AttributeValues::OneOf(&["DELETE", "COMPACTION"]),
    },
    Attribute { name: "reserve.time", changeable: true, values: AttributeValues::Range(-1, i64::MAX) },
];

/// Most queues a topic may have; more would make every answer that lists queues a burden.
const MAX_QUEUE_NUMS: i32 = 65_535;

/// A topic that was looked up or made.
#[derive(Debug, Clone, PartialEq)]
pub struct TopicCreation {
    /// The topic.
    pub config: Arc<TopicConfig>,
    /// Whether the table changed: the caller then persists it and tells the name servers before it answers.
    pub changed: bool,
}

/// Some or all topics, with the version of the table they were taken from.
#[derive(Debug, Clone, PartialEq)]
pub struct TopicTable {
    /// Version at that moment.
    pub data_version: DataVersion,
    /// Topics by name.
    pub topics: BTreeMap<String, TopicConfig>,
    /// Number of all topics, not only of those above.
    pub total: usize,
}

#[derive(Debug)]
struct Table {
    topics: HashMap<String, Arc<TopicConfig>>,
    data_version: DataVersion,
}

impl Table {
    fn next_version(&mut self, now_millis: i64) {
        self.data_version = self.data_version.next(now_millis);
    }

    fn put(&mut self, config: TopicConfig, now_millis: i64) -> Arc<TopicConfig> {
        let config = Arc::new(config);
        self.topics.insert(config.topic_name.clone(), Arc::clone(&config));
        self.next_version(now_millis);
        config
    }
}

/// Kind of a topic's queues, as its attribute says.
pub fn queue_type(config: &TopicConfig) -> QueueType {
    let attribute = config.attributes.get(QueueType::ATTRIBUTE);
    attribute.map_or_else(QueueType::default, |value| QueueType::of_attribute(value))
}

/// The topic table of a broker. Times are epoch milliseconds.
#[derive(Debug)]
pub struct TopicConfigManager {
    table: Arc<RwLock<Table>>,
    validator: TopicValidator,
    auto_create_topic_enable: AtomicBool,
    validate_system_topic: bool,
    enable_mixed_message_type: bool,
    page_size: usize,
    light_queues: bool,
}

impl TopicConfigManager {
    /// A table that holds the system topics.
    pub fn new(config: &BrokerConfig, now_millis: i64) -> Self {
        let topics =
            system_topics(config).into_iter().map(|topic| (topic.topic_name.clone(), Arc::new(topic)));
        let data_version = DataVersion { state_version: 0, timestamp: now_millis, counter: 0 };
        let validator = TopicValidator::new(
            &config.broker_cluster_name,
            &config.broker_name,
            &config.msg_trace_topic_name,
        );
        Self {
            table: Arc::new(RwLock::new(Table { topics: topics.collect(), data_version })),
            validator,
            auto_create_topic_enable: AtomicBool::new(config.auto_create_topic_enable),
            validate_system_topic: config.validate_system_topic_when_update_topic,
            enable_mixed_message_type: config.enable_mixed_message_type,
            page_size: config.split_metadata_size,
            light_queues: false,
        }
    }

    /// The same table, in which every light queue is a topic of one queue without being configured (`enableLmq` and
    /// `enableMultiDispatch`; Apache's `LmqTopicConfigManager`).
    #[must_use]
    pub fn with_light_queues(mut self, served: bool) -> Self {
        self.light_queues = served;
        self
    }

    /// Answers the store's question for the kind of a topic's queues from this table, as it is when it is asked.
    pub fn queue_types(&self) -> QueueTypes {
        let table = Arc::clone(&self.table);
        QueueTypes::new(move |topic| {
            let table = table.read().unwrap_or_else(PoisonError::into_inner);
            table.topics.get(topic).map_or_else(QueueType::default, |config| queue_type(config))
        })
    }

    /// Which topics belong to the system.
    pub fn validator(&self) -> &TopicValidator {
        &self.validator
    }

    /// Switches the creation of topics by sends (`autoCreateTopicEnable`) at run time.
    pub fn set_auto_create_topic_enable(&self, enabled: bool) {
        self.auto_create_topic_enable.store(enabled, Ordering::Relaxed);
    }

    /// The topic, if there is one.
    pub fn select_topic_config(&self, topic: &str) -> Option<Arc<TopicConfig>> {
        let configured = self.read().topics.get(topic).map(Arc::clone);
        configured.or_else(|| {
            let is_light = self.light_queues && is_light_queue(topic);
            is_light.then(|| {
                Arc::new(TopicConfig {
                    topic_name: topic.to_owned(),
                    read_queue_nums: 1,
                    write_queue_nums: 1,
                    ..TopicConfig::default()
                })
            })
        })
    }

    /// Whether the topic exists and is marked as ordered.
    pub fn is_order_topic(&self, topic: &str) -> bool {
        self.read().topics.get(topic).is_some_and(|config| config.order)
    }

    /// The topic of a send, made after the model `default_topic` when it does not exist yet.
    ///
    /// The model must exist and be inheritable. The new topic has as many queues as the client asks for, but no more
    /// than the model and at least one, and the model's permission without the inherit bit. `None` when the topic can
    /// not be made. The caller has validated the name.
    pub fn create_topic_in_send_message(
        &self,
        topic: &str,
        default_topic: &str,
        client_queue_nums: i32,
        topic_sys_flag: i32,
        now_millis: i64,
    ) -> Option<TopicCreation> {
        if let Some(config) = self.select_topic_config(topic) {
            return Some(TopicCreation { config, changed: false });
        }
        let mut table = self.write();
        // Another send may have made it between the two locks.
        if let Some(config) = table.topics.get(topic) {
            return Some(TopicCreation { config: Arc::clone(config), changed: false });
        }
        let model = table.topics.get(default_topic)?;
        let switched_off = default_topic == AUTO_CREATE_TOPIC_KEY_TOPIC
            && !self.auto_create_topic_enable.load(Ordering::Relaxed);
        if switched_off || model.perm & PERM_INHERIT == 0 {
            return None;
        }
        let queue_nums = client_queue_nums.min(model.write_queue_nums).max(1);
        let config = TopicConfig {
            topic_name: topic.to_owned(),
            read_queue_nums: queue_nums,
            write_queue_nums: queue_nums,
            perm: model.perm & !PERM_INHERIT,
            topic_filter_type: model.topic_filter_type,
            topic_sys_flag,
            ..TopicConfig::default()
        };
        Some(TopicCreation { config: table.put(config, now_millis), changed: true })
    }

    /// A topic the broker needs itself (retry, dead letter, discarded half messages), made when it does not exist yet,
    /// whatever `autoCreateTopicEnable` says. An existing one only takes over the `order` mark.
    pub fn create_topic_in_send_message_back(
        &self,
        topic: &str,
        queue_nums: i32,
        perm: i32,
        order: bool,
        topic_sys_flag: i32,
        now_millis: i64,
    ) -> TopicCreation {
        if let Some(config) = self.select_topic_config(topic).filter(|config| config.order == order) {
            return TopicCreation { config, changed: false };
        }
        let mut table = self.write();
        let config = match table.topics.get(topic) {
            Some(config) if config.order == order => {
                return TopicCreation { config: Arc::clone(config), changed: false };
            }
            Some(config) => TopicConfig { order, ..TopicConfig::clone(config) },
            None => TopicConfig {
                topic_name: topic.to_owned(),
                read_queue_nums: queue_nums,
                write_queue_nums: queue_nums,
                perm,
                order,
                topic_sys_flag,
                ..TopicConfig::default()
            },
        };
        TopicCreation { config: table.put(config, now_millis), changed: true }
    }

    /// Makes or changes a topic as an admin command asks (codes 17 and 18); the keys of `requested.attributes` carry
    /// their signs (see [`crate::attributes::parse_attributes`]). Asking for what is there already changes nothing.
    ///
    /// # Errors
    /// The answer to give instead.
    pub fn update_topic_config(
        &self,
        mut requested: TopicConfig,
        now_millis: i64,
    ) -> Result<TopicCreation, MetadataUpdateError> {
        self.check_request(&requested).map_err(MetadataUpdateError::InvalidParameter)?;
        let mut table = self.write();
        let current = table.topics.get(&requested.topic_name);
        let attributes = current.map(|config| &config.attributes);
        requested.attributes = alter_attributes(TOPIC_ATTRIBUTES, attributes, &requested.attributes)
            .map_err(MetadataUpdateError::Attributes)?;
        match current {
            Some(config) if **config == requested => {
                Ok(TopicCreation { config: Arc::clone(config), changed: false })
            }
            _ => Ok(TopicCreation { config: table.put(requested, now_millis), changed: true }),
        }
    }

    /// Checks that a topic may be deleted by an admin command (code 215).
    ///
    /// # Errors
    /// The remark of the answer (code 29).
    pub fn check_deletable(&self, topic: &str) -> Result<(), String> {
        if topic.trim().is_empty() {
            return Err("The specified topic is blank.".to_owned());
        }
        if self.validate_system_topic { self.validator.validate_not_system_topic(topic) } else { Ok(()) }
    }

    /// Removes a topic from the table; tells whether it was there.
    pub fn delete_topic_config(&self, topic: &str, now_millis: i64) -> bool {
        let mut table = self.write();
        let found = table.topics.remove(topic).is_some();
        if found {
            table.next_version(now_millis);
        }
        found
    }

    /// Marks topics as ordered because a name server lists them so; tells whether anything changed.
    pub fn mark_order_topics(&self, topics: &BTreeSet<String>, now_millis: i64) -> bool {
        let mut table = self.write();
        let unmarked: Vec<TopicConfig> = topics
            .iter()
            .filter_map(|topic| table.topics.get(topic).filter(|config| !config.order))
            .map(|config| TopicConfig { order: true, ..TopicConfig::clone(config) })
            .collect();
        for config in &unmarked {
            table.topics.insert(config.topic_name.clone(), Arc::new(config.clone()));
        }
        if !unmarked.is_empty() {
            table.next_version(now_millis);
        }
        !unmarked.is_empty()
    }

    /// Makes a step of the version although no topic changed: name servers read a table again only when its version
    /// differs, so a changed broker permission needs one.
    pub fn update_data_version(&self, now_millis: i64) {
        self.write().next_version(now_millis);
    }

    /// Version of the table.
    pub fn data_version(&self) -> DataVersion {
        self.read().data_version
    }

    /// All topics.
    pub fn all_topics(&self) -> TopicTable {
        self.page(&PageRequest::everything())
    }

    /// One page of the table (GET_ALL_TOPIC_CONFIG 21).
    pub fn page(&self, request: &PageRequest) -> TopicTable {
        let table = self.read();
        let names = table.topics.keys().cloned().collect();
        let selected = request.select(names, &table.data_version, self.page_size);
        let topics = selected.into_iter().filter_map(|name| {
            let config = TopicConfig::clone(table.topics.get(&name)?);
            Some((name, config))
        });
        TopicTable { topics: topics.collect(), data_version: table.data_version, total: table.topics.len() }
    }

    /// All topics as name servers are told about them: a broker that lacks read or write permission takes it from every
    /// topic.
    pub fn topics_for_registration(&self, broker_permission: i32) -> TopicTable {
        let mut table = self.all_topics();
        let full = PERM_READ | PERM_WRITE;
        if broker_permission & full != full {
            for config in table.topics.values_mut() {
                config.perm &= broker_permission;
            }
        }
        table
    }

    fn check_request(&self, requested: &TopicConfig) -> Result<(), String> {
        let topic = requested.topic_name.as_str();
        validate_topic(topic)?;
        if self.validate_system_topic {
            self.validator.validate_not_system_topic(topic)?;
        }
        for (name, value) in
            [("readQueueNums", requested.read_queue_nums), ("writeQueueNums", requested.write_queue_nums)]
        {
            if !(0..=MAX_QUEUE_NUMS).contains(&value) {
                return Err(format!("{name}[{value}] is illegal, expected 0 to {MAX_QUEUE_NUMS}."));
            }
        }
        if !(0..=7).contains(&requested.perm) {
            return Err(format!("perm[{}] is illegal, expected 0 to 7.", requested.perm));
        }
        let mixed = requested.attributes.get("+message.type").is_some_and(|kind| kind == "MIXED");
        if mixed && !self.enable_mixed_message_type {
            return Err("MIXED message type is not supported.".to_owned());
        }
        Ok(())
    }

    fn read(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Table> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConfigManager for TopicConfigManager {
    fn config_file_name(&self) -> &'static str {
        "topics.json"
    }

    fn encode(&self) -> Result<String, JavaJsonError> {
        let table = self.all_topics();
        java_json::to_string_pretty(&TopicConfigSerializeWrapper {
            data_version: table.data_version,
            topic_config_table: table.topics,
        })
    }

    /// System topics stay; where the file speaks of one, the file counts.
    fn decode(&self, bytes: &[u8]) -> Result<(), JavaJsonError> {
        let file: TopicConfigSerializeWrapper = java_json::from_slice(bytes)?;
        let mut table = self.write();
        for (name, mut config) in file.topic_config_table {
            config.topic_name.clone_from(&name);
            table.topics.insert(name, Arc::new(config));
        }
        // Old files have no version.
        if file.data_version != DataVersion::default() {
            table.data_version = file.data_version;
        }
        Ok(())
    }
}
