//! topic × queue → [`ConsumeQueue`].

use crate::consume_queue::ConsumeQueue;
use crate::error::{LogicError, Result};
use dashmap::DashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use store_mmap::{Env, FileKind};

/// One queue and the queue offset its next message gets. The latter runs ahead of the queue's own end by the messages
/// that are in the log but not dispatched yet.
#[derive(Debug)]
pub struct QueueHandle {
    /// The queue.
    pub queue: ConsumeQueue,
    next_offset: AtomicU64,
    deleted: AtomicBool,
}

impl QueueHandle {
    /// Queue offset of the next message. Only the holder of the log's tail may rely on it staying.
    pub fn next_offset(&self) -> u64 {
        self.next_offset.load(Ordering::Acquire)
    }

    /// True once the topic was deleted: the queue is no longer in the table, and no message may be given its offsets.
    /// Only the holder of the log's tail may rely on it staying false.
    pub fn is_deleted(&self) -> bool {
        self.deleted.load(Ordering::Acquire)
    }

    /// Notes that messages up to `next` have got their offsets. Called while the log's tail is held.
    pub fn set_next_offset(&self, next: u64) {
        self.next_offset.store(next, Ordering::Release);
    }
}

/// Longest name of a directory in bytes, as file systems have it.
const MAX_NAME: usize = 255;

/// Queues of one topic, by queue id.
type TopicQueues = std::collections::BTreeMap<i32, Arc<QueueHandle>>;

/// All queues of a store (`consumequeue/`).
#[derive(Debug)]
pub struct ConsumeQueueTable {
    env: Env,
    directory: PathBuf,
    file_size: u64,
    topics: DashMap<String, TopicQueues>,
}

impl ConsumeQueueTable {
    /// Opens every queue below `directory`. Files there and directories that are no numbers are left alone.
    pub fn load(env: &Env, directory: &Path, file_size: u64) -> Result<Self> {
        let table =
            Self { env: env.clone(), directory: directory.to_owned(), file_size, topics: DashMap::new() };
        for topic in env.disk().read_dir(directory)? {
            if topic.kind != FileKind::Directory {
                continue;
            }
            for queue in env.disk().read_dir(&directory.join(&topic.name))? {
                if let (FileKind::Directory, Ok(queue_id)) = (queue.kind, queue.name.parse::<i32>()) {
                    table.get_or_create(&topic.name, queue_id)?;
                }
            }
        }
        Ok(table)
    }

    /// The queue, if it exists.
    pub fn get(&self, topic: &str, queue_id: i32) -> Option<Arc<QueueHandle>> {
        self.topics.get(topic)?.get(&queue_id).cloned()
    }

    /// The queue; made in memory when there is none (files come with its first unit).
    ///
    /// # Errors
    ///
    /// A topic that is no plain directory name, and files that do not belong to a queue.
    pub fn get_or_create(&self, topic: &str, queue_id: i32) -> Result<Arc<QueueHandle>> {
        if let Some(handle) = self.get(topic, queue_id) {
            return Ok(handle);
        }
        let directory = self.queue_directory(topic, queue_id)?;
        let mut queues = self.topics.entry(topic.to_owned()).or_default();
        if let Some(handle) = queues.get(&queue_id) {
            return Ok(Arc::clone(handle));
        }
        let queue = ConsumeQueue::open(&self.env, &directory, topic, queue_id, self.file_size)?;
        let handle =
            Arc::new(QueueHandle { queue, next_offset: AtomicU64::new(0), deleted: AtomicBool::new(false) });
        queues.insert(queue_id, Arc::clone(&handle));
        Ok(handle)
    }

    /// Every queue, topic by topic. A snapshot: no lock is held afterwards.
    pub fn all(&self) -> Vec<Arc<QueueHandle>> {
        self.topics.iter().flat_map(|topic| topic.values().cloned().collect::<Vec<_>>()).collect()
    }

    /// Queue ids of a topic, in order.
    pub fn queue_ids(&self, topic: &str) -> Vec<i32> {
        self.topics.get(topic).map(|queues| queues.keys().copied().collect()).unwrap_or_default()
    }

    /// Topics that have a queue.
    pub fn topics(&self) -> Vec<String> {
        self.topics.iter().map(|topic| topic.key().clone()).collect()
    }

    /// Deletes a topic's queues and their files; returns how many there were. Records in the log stay. The caller keeps
    /// appends and dispatch away meanwhile, which might bring the files back.
    pub fn delete_topic(&self, topic: &str) -> Result<usize> {
        let Some((_, queues)) = self.topics.remove(topic) else { return Ok(0) };
        for handle in queues.values() {
            handle.deleted.store(true, Ordering::Release);
            handle.queue.destroy()?;
        }
        let directory = self.directory.join(topic);
        let disk = self.env.disk();
        if disk.stat(&directory)?.is_some() && disk.read_dir(&directory)?.is_empty() {
            disk.remove_dir(&directory)?;
            disk.sync_dir(&self.directory)?;
        }
        Ok(queues.len())
    }

    fn queue_directory(&self, topic: &str, queue_id: i32) -> Result<PathBuf> {
        let plain = !topic.is_empty()
            && topic.len() <= MAX_NAME
            && topic != "."
            && topic != ".."
            && !topic.contains(['/', '\\', '\0']);
        if !plain || queue_id < 0 {
            return Err(LogicError::Damaged {
                path: self.directory.clone(),
                offset: 0,
                expected: format!(
                    "a topic that can name a directory (at most {MAX_NAME} bytes) and a queue id of at least 0"
                ),
                found: format!("topic {topic:?}, queue {queue_id}"),
            });
        }
        Ok(self.directory.join(topic).join(queue_id.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consume_queue::Unit;

    #[test]
    fn finds_what_it_made_and_leaves_strays() {
        let dir = tempfile::tempdir().unwrap();
        let table = ConsumeQueueTable::load(&Env::os(), dir.path(), 200).unwrap();
        let handle = table.get_or_create("T", 3).unwrap();
        handle.queue.put(0, Unit { phy_offset: 0, size: 1, tags_code: 0 }).unwrap();
        table.get_or_create("only-in-memory", 0).unwrap();
        std::fs::write(dir.path().join("stray"), b"").unwrap();
        std::fs::create_dir(dir.path().join("T/not-a-number")).unwrap();

        let again = ConsumeQueueTable::load(&Env::os(), dir.path(), 200).unwrap();
        assert_eq!(again.topics(), ["T"]);
        assert_eq!(again.queue_ids("T"), [3]);
        std::fs::remove_dir(dir.path().join("T/not-a-number")).unwrap();
        assert_eq!(again.delete_topic("T").unwrap(), 1);
        assert!(!dir.path().join("T").exists());
    }

    #[test]
    fn a_topic_cannot_leave_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let table = ConsumeQueueTable::load(&Env::os(), dir.path(), 200).unwrap();
        for topic in ["", ".", "..", "../x", "a/b", "a\\b", "a\0", &"t".repeat(256)] {
            assert!(table.get_or_create(topic, 0).is_err(), "{topic:?}");
        }
        assert!(table.get_or_create("T", -1).is_err());
    }
}
