//! What each topic takes.

use super::StoreInspection;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use store_logic::inspect::{FieldValue, Fields, InspectError};
use store_logic::inspectors::LogItem;
use store_logic::{DiskError, FileKind};

/// What one topic takes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TopicUsage {
    /// Topic.
    pub topic: String,
    /// Records in the log.
    pub records: u64,
    /// Bytes of these records.
    pub log_bytes: u64,
    /// Bytes of their bodies.
    pub body_bytes: u64,
    /// Length of the queue files.
    pub queue_bytes: u64,
    /// Queues with files.
    pub queues: u64,
    /// Store time of the first record.
    pub first_store_timestamp: i64,
    /// Store time of the last record.
    pub last_store_timestamp: i64,
}

impl TopicUsage {
    /// As fields.
    pub fn fields(&self) -> Fields {
        let fields = Fields::new()
            .with("topic", self.topic.as_str())
            .with("records", self.records)
            .with("logBytes", self.log_bytes)
            .with("bodyBytes", self.body_bytes)
            .with("queues", self.queues)
            .with("queueBytes", self.queue_bytes);
        if self.records == 0 {
            return fields;
        }
        fields
            .with("firstStoreTime", FieldValue::Millis(self.first_store_timestamp))
            .with("lastStoreTime", FieldValue::Millis(self.last_store_timestamp))
    }
}

impl StoreInspection {
    /// Adds up records and files by topic, the largest in the log first. Reads the whole log, without its CRCs;
    /// `progress` is told how many bytes are done.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn usage_by_topic(&self, progress: &mut dyn FnMut(u64)) -> Result<Vec<TopicUsage>, InspectError> {
        let mut topics: BTreeMap<String, TopicUsage> = BTreeMap::new();
        let mut log = self.log()?.without_crc();
        let start = log.min_offset();
        log.walk(start, u64::MAX, &mut |phy_offset, item| {
            progress(phy_offset - start);
            if let LogItem::Record(view) = item {
                let usage = usage_of(&mut topics, view.topic);
                if usage.records == 0 {
                    usage.first_store_timestamp = view.store_timestamp;
                }
                usage.records += 1;
                usage.log_bytes += u64::from(view.total_size);
                usage.body_bytes += view.body.len() as u64;
                usage.last_store_timestamp = view.store_timestamp;
            }
            ControlFlow::Continue(())
        })?;
        for queue in self.queues()?.into_iter().chain(self.batch_queues()?) {
            let usage = usage_of(&mut topics, &queue.topic);
            usage.queues += 1;
            usage.queue_bytes += store_logic::directory_bytes(self.env.disk(), &queue.path)?;
        }
        let mut usages: Vec<TopicUsage> = topics.into_values().collect();
        usages.sort_by(|left, right| {
            right.log_bytes.cmp(&left.log_bytes).then_with(|| left.topic.cmp(&right.topic))
        });
        Ok(usages)
    }

    /// Bytes of each part of the store, and of all of it.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn usage_by_part(&self) -> Result<Fields, DiskError> {
        let mut fields = Fields::new();
        let mut total = 0;
        for entry in self.env.disk().read_dir(self.paths.root())? {
            let bytes = match entry.kind {
                FileKind::Directory => {
                    store_logic::directory_bytes(self.env.disk(), &self.paths.root().join(&entry.name))?
                }
                FileKind::File => entry.len,
                FileKind::Other => 0,
            };
            total += bytes;
            fields.push(entry.name, bytes);
        }
        for directory in self.paths.commit_logs().all() {
            if directory.starts_with(self.paths.root()) {
                continue;
            }
            let bytes = store_logic::directory_bytes(self.env.disk(), directory)?;
            total += bytes;
            fields.push(directory.display().to_string(), bytes);
        }
        Ok(fields.with("total", total))
    }
}

fn usage_of<'a>(topics: &'a mut BTreeMap<String, TopicUsage>, topic: &str) -> &'a mut TopicUsage {
    if !topics.contains_key(topic) {
        topics.insert(topic.to_owned(), TopicUsage { topic: topic.to_owned(), ..TopicUsage::default() });
    }
    topics.entry(topic.to_owned()).or_default()
}
