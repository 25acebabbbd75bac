use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Queue number to offset.
pub(super) type QueueOffsets = BTreeMap<i32, i64>;

/// Offsets of one topic and group, under a lock of their own: commits of different groups do not meet.
type SharedOffsets = Arc<Mutex<QueueOffsets>>;

/// Topic, then group. Looked up by borrowed names, so that a commit allocates nothing.
type Topics = HashMap<String, HashMap<String, SharedOffsets>>;

/// Offsets by topic, group and queue.
#[derive(Debug, Default)]
pub(super) struct OffsetTable {
    topics: RwLock<Topics>,
}

impl OffsetTable {
    /// A table with the given content; the keys are `topic@group`, others are dropped.
    pub fn from_entries(entries: BTreeMap<String, QueueOffsets>) -> Self {
        let mut topics = Topics::new();
        for (key, offsets) in entries {
            if let Some((topic, group)) = key.split_once('@') {
                let groups = topics.entry(topic.to_owned()).or_default();
                groups.insert(group.to_owned(), Arc::new(Mutex::new(offsets)));
            }
        }
        Self { topics: RwLock::new(topics) }
    }

    /// Everything, by `topic@group`.
    pub fn entries(&self) -> BTreeMap<String, QueueOffsets> {
        let topics = self.read();
        let all = topics.iter().flat_map(|(topic, groups)| {
            groups.iter().map(move |(group, offsets)| (format!("{topic}@{group}"), locked(offsets).clone()))
        });
        all.collect()
    }

    /// Replaces the content by that of `other`.
    pub fn replace_by(&self, other: Self) {
        *self.write() = other.topics.into_inner().unwrap_or_else(PoisonError::into_inner);
    }

    pub fn get(&self, topic: &str, group: &str, queue_id: i32) -> Option<i64> {
        let offsets = self.find(topic, group)?;
        locked(&offsets).get(&queue_id).copied()
    }

    pub fn get_all(&self, topic: &str, group: &str) -> Option<QueueOffsets> {
        self.find(topic, group).map(|offsets| locked(&offsets).clone())
    }

    /// Sets one offset and returns the one before.
    pub fn put(&self, topic: &str, group: &str, queue_id: i32, offset: i64) -> Option<i64> {
        let offsets = self.find(topic, group).unwrap_or_else(|| self.insert(topic, group));
        locked(&offsets).insert(queue_id, offset)
    }

    pub fn put_all(&self, topic: &str, group: &str, offsets: QueueOffsets) {
        *locked(&self.insert(topic, group)) = offsets;
    }

    /// Removes and returns one offset.
    pub fn take(&self, topic: &str, group: &str, queue_id: i32) -> Option<i64> {
        let offsets = self.find(topic, group)?;
        locked(&offsets).remove(&queue_id)
    }

    /// Removes a topic; tells whether it was there.
    pub fn remove_topic(&self, topic: &str) -> bool {
        self.write().remove(topic).is_some()
    }

    /// Removes a group from all topics; tells whether it was anywhere.
    pub fn remove_group(&self, group: &str) -> bool {
        let mut found = false;
        self.write().retain(|_, groups| {
            found |= groups.remove(group).is_some();
            !groups.is_empty()
        });
        found
    }

    /// Removes one group of one topic; tells whether it was there.
    pub fn remove(&self, topic: &str, group: &str) -> bool {
        let mut topics = self.write();
        let Some(groups) = topics.get_mut(topic) else {
            return false;
        };
        let found = groups.remove(group).is_some();
        if groups.is_empty() {
            topics.remove(topic);
        }
        found
    }

    pub fn topics_of(&self, group: &str) -> BTreeSet<String> {
        let topics = self.read();
        topics
            .iter()
            .filter(|(_, groups)| groups.contains_key(group))
            .map(|(topic, _)| topic.clone())
            .collect()
    }

    pub fn groups_of(&self, topic: &str) -> BTreeSet<String> {
        self.read().get(topic).map(|groups| groups.keys().cloned().collect()).unwrap_or_default()
    }

    fn find(&self, topic: &str, group: &str) -> Option<SharedOffsets> {
        self.read().get(topic)?.get(group).map(Arc::clone)
    }

    /// The entry of a topic and group, made when it is missing.
    fn insert(&self, topic: &str, group: &str) -> SharedOffsets {
        let mut topics = self.write();
        let groups = topics.entry(topic.to_owned()).or_default();
        Arc::clone(groups.entry(group.to_owned()).or_default())
    }

    fn read(&self) -> RwLockReadGuard<'_, Topics> {
        self.topics.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Topics> {
        self.topics.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn locked(offsets: &SharedOffsets) -> MutexGuard<'_, QueueOffsets> {
    offsets.lock().unwrap_or_else(PoisonError::into_inner)
}
