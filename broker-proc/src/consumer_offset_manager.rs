//! How far each group has consumed (`consumerOffset.json`), and the resets that wait for its next pull.
//!
//! While light queues are served the file is `lmqConsumerOffset.json`, as Apache's: it holds all of the other one, and in
//! a table of their own the offsets of groups whose names begin like those of light queues.

mod offset_table;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use store_core::java_json::{self, JavaJsonError};
use store_core::multi_dispatch::{LMQ_PREFIX, LMQ_QUEUE_ID};

use self::offset_table::OffsetTable;
use crate::config_store::ConfigManager;
use crate::remoting::protocol::{ConsumerOffsetSerializeWrapper, DataVersion};

/// What became of a committed offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitOutcome {
    /// It is the group's offset now.
    Stored,
    /// A reset waits for this queue, the value was dropped (remark `Offset has been previously reset`).
    DroppedByReset,
    /// Negative: some clients send −1 when they know no offset. Nothing was stored.
    Ignored,
}

/// Offsets of all groups. Times are epoch milliseconds.
///
/// A *consumer offset* is what the group has confirmed, a *pull offset* what was last handed out to it. A *reset* is an
/// offset that an operator has set and that the next pull of the queue must take up; until then commits of the queue are
/// dropped, for they still speak of the old position. Resets are not persisted, the offset they set is.
#[derive(Debug)]
pub struct ConsumerOffsetManager {
    offsets: OffsetTable,
    pull_offsets: OffsetTable,
    resets: OffsetTable,
    data_version: Mutex<DataVersion>,
    commits: AtomicU64,
    commits_per_version: u64,
    changed: AtomicBool,
    light_queues: bool,
}

impl ConsumerOffsetManager {
    /// An empty table. Its version makes a step every `commits_per_version` commits
    /// (`consumerOffsetUpdateVersionStep`).
    pub fn new(commits_per_version: u64, now_millis: i64) -> Self {
        Self {
            offsets: OffsetTable::default(),
            pull_offsets: OffsetTable::default(),
            resets: OffsetTable::default(),
            data_version: Mutex::new(DataVersion { state_version: 0, timestamp: now_millis, counter: 0 }),
            commits: AtomicU64::new(0),
            commits_per_version: commits_per_version.max(1),
            changed: AtomicBool::new(false),
            light_queues: false,
        }
    }

    /// The same table, kept in the file that goes with light queues if they are `served`.
    #[must_use]
    pub fn with_light_queues(mut self, served: bool) -> Self {
        self.light_queues = served;
        self
    }

    /// What a start reads first: with light queues served, the progress from before they were.
    pub fn without_light_queues(&self) -> impl ConfigManager + '_ {
        WithoutLightQueues(self)
    }

    /// Takes the offset a group has confirmed, without looking at the one before.
    ///
    /// A pull that carries an offset must ask [`Self::take_reset_offset`] first and leave its offset alone when there
    /// was one.
    pub fn commit_offset(
        &self,
        group: &str,
        topic: &str,
        queue_id: i32,
        offset: i64,
        now_millis: i64,
    ) -> CommitOutcome {
        if offset < 0 {
            return CommitOutcome::Ignored;
        }
        if self.has_offset_reset(topic, group, queue_id) {
            return CommitOutcome::DroppedByReset;
        }
        let before = self.offsets.put(topic, group, queue_id, offset);
        self.note_change(before, offset);
        // A reset that came between the look and the write must win.
        if let Some(reset) = self.resets.get(topic, group, queue_id) {
            self.offsets.put(topic, group, queue_id, reset);
            return CommitOutcome::DroppedByReset;
        }
        let commits = self.commits.fetch_add(1, Ordering::Relaxed) + 1;
        if commits % self.commits_per_version == 0 {
            self.next_version(now_millis);
        }
        CommitOutcome::Stored
    }

    /// The confirmed offset of a queue; a negative one in the file counts as none.
    pub fn query_offset(&self, group: &str, topic: &str, queue_id: i32) -> Option<i64> {
        self.offsets.get(topic, group, queue_id).filter(|offset| *offset >= 0)
    }

    /// The confirmed offsets of all queues of a topic; `None` when the group has none there.
    pub fn query_offsets(&self, group: &str, topic: &str) -> Option<BTreeMap<i32, i64>> {
        self.offsets.get_all(topic, group)
    }

    /// Records where the next pull of a group will begin.
    pub fn commit_pull_offset(&self, group: &str, topic: &str, queue_id: i32, offset: i64) {
        let before = self.pull_offsets.put(topic, group, queue_id, offset);
        self.note_change(before, offset);
    }

    /// Where the next pull of a group will begin.
    pub fn query_pull_offset(&self, group: &str, topic: &str, queue_id: i32) -> Option<i64> {
        self.pull_offsets.get(topic, group, queue_id).filter(|offset| *offset >= 0)
    }

    /// Sets the offset of a queue and makes it a reset: the next pull takes it up.
    pub fn assign_reset_offset(&self, topic: &str, group: &str, queue_id: i32, offset: i64, now_millis: i64) {
        // The reset first: from here on commits of the old position are dropped.
        self.resets.put(topic, group, queue_id, offset);
        self.offsets.put(topic, group, queue_id, offset);
        self.changed.store(true, Ordering::Release);
        self.next_version(now_millis);
    }

    /// Whether a reset waits for the next pull of a queue.
    pub fn has_offset_reset(&self, topic: &str, group: &str, queue_id: i32) -> bool {
        self.resets.get(topic, group, queue_id).is_some()
    }

    /// The reset that waits for this pull, if any; it does not wait any longer.
    pub fn take_reset_offset(&self, topic: &str, group: &str, queue_id: i32) -> Option<i64> {
        self.resets.take(topic, group, queue_id)
    }

    /// Forgets a topic.
    pub fn remove_topic(&self, topic: &str, now_millis: i64) {
        let removed = self.tables().map(|table| table.remove_topic(topic));
        self.note_removal(removed.contains(&true), now_millis);
    }

    /// Forgets a group.
    pub fn remove_group(&self, group: &str, now_millis: i64) {
        let removed = self.tables().map(|table| table.remove_group(group));
        self.note_removal(removed.contains(&true), now_millis);
    }

    /// Forgets a group's offsets of one topic.
    pub fn remove_group_topic(&self, group: &str, topic: &str, now_millis: i64) {
        let removed = self.tables().map(|table| table.remove(topic, group));
        self.note_removal(removed.contains(&true), now_millis);
    }

    /// Topics for which a group has a confirmed offset, sorted.
    pub fn topics_of_group(&self, group: &str) -> BTreeSet<String> {
        self.offsets.topics_of(group)
    }

    /// Groups that have a confirmed offset for a topic, sorted.
    pub fn groups_of_topic(&self, topic: &str) -> BTreeSet<String> {
        self.offsets.groups_of(topic)
    }

    /// Gives one group the confirmed offsets of another, for one topic or for all (CLONE_GROUP_OFFSET 314).
    pub fn clone_offsets(
        &self,
        source_group: &str,
        target_group: &str,
        topic: Option<&str>,
        now_millis: i64,
    ) {
        let topics = match topic {
            Some(topic) => BTreeSet::from([topic.to_owned()]),
            None => self.topics_of_group(source_group),
        };
        for topic in topics {
            if let Some(offsets) = self.offsets.get_all(&topic, source_group) {
                self.offsets.put_all(&topic, target_group, offsets);
                self.note_removal(true, now_millis);
            }
        }
    }

    /// Everything that is persisted; also the answer to GET_ALL_CONSUMER_OFFSET (43).
    pub fn snapshot(&self) -> ConsumerOffsetSerializeWrapper {
        let offset_table = self.offsets.entries();
        let mut group_topic_map: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for key in offset_table.keys() {
            if let Some((topic, group)) = key.split_once('@') {
                group_topic_map.entry(group.to_owned()).or_default().push(topic.to_owned());
            }
        }
        ConsumerOffsetSerializeWrapper {
            data_version: self.data_version(),
            group_topic_map: Some(group_topic_map),
            offset_table,
            pull_offset_table: Some(self.pull_offsets.entries()),
            lmq_offset_table: None,
        }
    }

    /// Version of the table.
    pub fn data_version(&self) -> DataVersion {
        *self.version()
    }

    /// Whether anything changed since the last call. The caller persists when it did, and calls
    /// [`Self::mark_changed`] when that failed.
    pub fn take_changed(&self) -> bool {
        self.changed.swap(false, Ordering::AcqRel)
    }

    /// Makes the next [`Self::take_changed`] return true.
    pub fn mark_changed(&self) {
        self.changed.store(true, Ordering::Release);
    }

    fn tables(&self) -> [&OffsetTable; 3] {
        [&self.offsets, &self.pull_offsets, &self.resets]
    }

    fn note_change(&self, before: Option<i64>, now: i64) {
        if before != Some(now) {
            self.changed.store(true, Ordering::Release);
        }
    }

    fn note_removal(&self, happened: bool, now_millis: i64) {
        if happened {
            self.changed.store(true, Ordering::Release);
            self.next_version(now_millis);
        }
    }

    fn next_version(&self, now_millis: i64) {
        let mut version = self.version();
        *version = version.next(now_millis);
    }

    fn version(&self) -> MutexGuard<'_, DataVersion> {
        self.data_version.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Name of the file without light queues.
const CONFIG_FILE: &str = "consumerOffset.json";

/// Offsets by `topic@group`.
type OffsetEntries = BTreeMap<String, BTreeMap<i32, i64>>;

/// The table under its name without light queues.
struct WithoutLightQueues<'a>(&'a ConsumerOffsetManager);

impl ConfigManager for WithoutLightQueues<'_> {
    fn config_file_name(&self) -> &'static str {
        CONFIG_FILE
    }

    fn encode(&self) -> Result<String, JavaJsonError> {
        self.0.encode()
    }

    fn decode(&self, bytes: &[u8]) -> Result<(), JavaJsonError> {
        self.0.decode(bytes)
    }
}

impl ConfigManager for ConsumerOffsetManager {
    fn config_file_name(&self) -> &'static str {
        if self.light_queues { "lmqConsumerOffset.json" } else { CONFIG_FILE }
    }

    fn encode(&self) -> Result<String, JavaJsonError> {
        let mut wrapper = self.snapshot();
        if self.light_queues {
            let is_light = |key: &str| key.split_once('@').is_some_and(|key| key.1.starts_with(LMQ_PREFIX));
            let (light, others): (OffsetEntries, OffsetEntries) =
                wrapper.offset_table.into_iter().partition(|(key, _)| is_light(key));
            wrapper.offset_table = others;
            let offset = |offsets: BTreeMap<i32, i64>| offsets.get(&LMQ_QUEUE_ID).copied();
            let light = light.into_iter().filter_map(|(key, offsets)| Some((key, offset(offsets)?)));
            wrapper.lmq_offset_table = Some(light.collect());
        }
        java_json::to_string_pretty(&wrapper)
    }

    fn decode(&self, bytes: &[u8]) -> Result<(), JavaJsonError> {
        let mut wrapper: ConsumerOffsetSerializeWrapper = java_json::from_slice(bytes)?;
        for (key, offset) in wrapper.lmq_offset_table.take().unwrap_or_default() {
            wrapper.offset_table.entry(key).or_default().insert(LMQ_QUEUE_ID, offset);
        }
        self.offsets.replace_by(OffsetTable::from_entries(wrapper.offset_table));
        self.pull_offsets
            .replace_by(OffsetTable::from_entries(wrapper.pull_offset_table.unwrap_or_default()));
        // Files of 4.x have no version.
        if wrapper.data_version != DataVersion::default() {
            *self.version() = wrapper.data_version;
        }
        Ok(())
    }
}
