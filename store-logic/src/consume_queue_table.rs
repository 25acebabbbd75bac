//! topic × queue → [`ConsumeQueue`].

use crate::consume_queue::ConsumeQueue;
use crate::consume_queue_ext::ConsumeQueueExt;
use crate::error::{LogicError, Result};
use crate::multi_dispatch;
use crate::sync::{Arc, AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering, PoisonError};
use dashmap::DashMap;
use foldhash::fast::RandomState;
use std::path::{Path, PathBuf};
use store_mmap::{Env, FileKind, remove_tree};

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
pub(crate) const MAX_NAME: usize = 255;

/// True for a name that can be a directory's.
pub(crate) fn is_directory_name(name: &str) -> bool {
    let reserved = name.is_empty() || name == "." || name == "..";
    !reserved && name.len() <= MAX_NAME && memchr::memchr3(b'/', b'\\', 0, name.as_bytes()).is_none()
}

/// Why a light queue was not made: there are as many as may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected at most {limit} light queues (maxLmqConsumeQueueNum), found {found}")]
pub struct LightQueueLimit {
    /// Limit.
    pub limit: u64,
    /// Light queues there are.
    pub found: u64,
}

/// Where the extensions of queues are (`consumequeue_ext/`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtQueues {
    /// Directory: topic, then queue id.
    pub directory: PathBuf,
    /// Bytes of a new file (`mappedFileSizeConsumeQueueExt`); where there are files, theirs.
    pub file_size: u64,
    /// New units get an extension (`enableConsumeQueueExt`).
    pub write: bool,
}

impl ExtQueues {
    /// Gives a queue its extension, when it has one or is to get one. Light queues never have one.
    fn extend(&self, env: &Env, queue: ConsumeQueue) -> Result<ConsumeQueue> {
        if queue.topic().starts_with(multi_dispatch::LMQ_PREFIX) {
            return Ok(queue);
        }
        let directory = self.directory.join(queue.topic()).join(queue.queue_id().to_string());
        let found = env.disk().read_dir(&directory)?;
        let file_size = found.iter().find(|entry| entry.kind == FileKind::File && entry.len > 0);
        if !self.write && file_size.is_none() {
            return Ok(queue);
        }
        let file_size = file_size.map_or(self.file_size, |entry| entry.len);
        let files = ConsumeQueueExt::open(env, &directory, file_size)?;
        Ok(queue.with_ext(files, self.write))
    }
}

/// Queues of one topic, by queue id.
type TopicQueues = std::collections::BTreeMap<i32, Arc<QueueHandle>>;

/// All queues of a store (`consumequeue/`).
#[derive(Debug)]
pub struct ConsumeQueueTable {
    env: Env,
    directory: PathBuf,
    file_size: u64,
    ext: Option<ExtQueues>,
    topics: DashMap<String, TopicQueues, RandomState>,
    /// Queues of light queue names.
    light_queues: AtomicU64,
    /// Held while a queue is made or deleted, so that no lock of `topics` is: those who look for other queues do not wait
    /// for the disk.
    changing: Mutex<()>,
}

impl ConsumeQueueTable {
    /// Opens every queue below `directory`. Files there and directories that are no numbers are left alone.
    pub fn load(env: &Env, directory: &Path, file_size: u64) -> Result<Self> {
        Self::load_with_ext(env, directory, file_size, None)
    }

    /// The same with the queues' extensions, where there are any or new ones are to be written.
    pub fn load_with_ext(
        env: &Env,
        directory: &Path,
        file_size: u64,
        ext: Option<ExtQueues>,
    ) -> Result<Self> {
        let table = Self {
            env: env.clone(),
            directory: directory.to_owned(),
            file_size,
            ext,
            topics: DashMap::default(),
            light_queues: AtomicU64::new(0),
            changing: Mutex::new(()),
        };
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
        let changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        self.create(&changing, topic, queue_id)
    }

    /// The light queue `name`; made in memory when there is none, unless there are `limit` of them already.
    ///
    /// # Errors
    ///
    /// As [`ConsumeQueueTable::get_or_create`].
    pub fn get_or_create_light(
        &self,
        name: &str,
        limit: u64,
    ) -> Result<std::result::Result<Arc<QueueHandle>, LightQueueLimit>> {
        if let Some(handle) = self.get(name, multi_dispatch::LMQ_QUEUE_ID) {
            return Ok(Ok(handle));
        }
        let changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let found = self.light_queues();
        if found >= limit && self.get(name, multi_dispatch::LMQ_QUEUE_ID).is_none() {
            return Ok(Err(LightQueueLimit { limit, found }));
        }
        self.create(&changing, name, multi_dispatch::LMQ_QUEUE_ID).map(Ok)
    }

    /// Light queues there are.
    pub fn light_queues(&self) -> u64 {
        self.light_queues.load(Ordering::Relaxed)
    }

    fn create(&self, _changing: &MutexGuard<'_, ()>, topic: &str, queue_id: i32) -> Result<Arc<QueueHandle>> {
        if let Some(handle) = self.get(topic, queue_id) {
            return Ok(handle);
        }
        let directory = self.queue_directory(topic, queue_id)?;
        let queue = ConsumeQueue::open(&self.env, &directory, topic, queue_id, self.file_size)?;
        let queue = match &self.ext {
            Some(ext) => ext.extend(&self.env, queue)?,
            None => queue,
        };
        let handle =
            Arc::new(QueueHandle { queue, next_offset: AtomicU64::new(0), deleted: AtomicBool::new(false) });
        self.topics.entry(topic.to_owned()).or_default().insert(queue_id, Arc::clone(&handle));
        if topic.starts_with(multi_dispatch::LMQ_PREFIX) {
            self.light_queues.fetch_add(1, Ordering::Relaxed);
        }
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

    /// Deletes a topic's queues with their files, and what it has in the queues' extensions; returns how many queues there
    /// were. Records in the log stay. The caller keeps appends and dispatch away meanwhile, which might bring the files
    /// back.
    pub fn delete_topic(&self, topic: &str) -> Result<usize> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let queues = self.topics.remove(topic).map(|(_, queues)| queues).unwrap_or_default();
        if topic.starts_with(multi_dispatch::LMQ_PREFIX) {
            self.light_queues.fetch_sub(queues.len() as u64, Ordering::Relaxed);
        }
        for handle in queues.values() {
            handle.deleted.store(true, Ordering::Release);
            handle.queue.destroy()?;
        }
        if !queues.is_empty() {
            self.remove_if_empty(&self.directory, topic)?;
        }
        self.remove_extensions(topic)?;
        Ok(queues.len())
    }

    /// Makes the names of these topics' directories, and of those of their queues, durable. For recovery: the process may
    /// have died right after it had made them.
    pub fn sync_names_of<'a>(&self, topics: impl IntoIterator<Item = &'a str>) -> Result<()> {
        let mut any = false;
        for topic in topics {
            self.env.disk().sync_dir(&self.directory.join(topic))?;
            any = true;
        }
        if any { Ok(self.env.disk().sync_dir(&self.directory)?) } else { Ok(()) }
    }

    /// Also those of queues that have got lost.
    fn remove_extensions(&self, topic: &str) -> Result<()> {
        let Some(ext) = self.ext.as_ref().filter(|_| is_directory_name(topic)) else { return Ok(()) };
        let directory = ext.directory.join(topic);
        let disk = self.env.disk();
        if disk.stat(&directory)?.is_some() {
            remove_tree(disk, &directory)?;
            disk.sync_dir(&ext.directory)?;
        }
        Ok(())
    }

    fn remove_if_empty(&self, parent: &Path, topic: &str) -> Result<()> {
        let directory = parent.join(topic);
        let disk = self.env.disk();
        if disk.stat(&directory)?.is_some() && disk.read_dir(&directory)?.is_empty() {
            disk.remove_dir(&directory)?;
            disk.sync_dir(parent)?;
        }
        Ok(())
    }

    /// True for a topic that can name a directory, and a queue id of at least 0: nothing else has a queue. A record that
    /// says otherwise is damaged where no checksum looks.
    pub fn can_be_queue(topic: &str, queue_id: i32) -> bool {
        is_directory_name(topic) && queue_id >= 0
    }

    fn queue_directory(&self, topic: &str, queue_id: i32) -> Result<PathBuf> {
        if !Self::can_be_queue(topic, queue_id) {
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
    fn light_queues_are_counted_as_they_come_and_go() {
        let dir = tempfile::tempdir().unwrap();
        let table = ConsumeQueueTable::load(&Env::os(), dir.path(), 200).unwrap();
        for number in 0..3 {
            assert!(table.get_or_create_light(&format!("%LMQ%{number}"), 3).unwrap().is_ok());
        }
        let refused = table.get_or_create_light("%LMQ%3", 3).unwrap().unwrap_err();
        assert_eq!(refused, LightQueueLimit { limit: 3, found: 3 });
        assert!(table.get_or_create_light("%LMQ%1", 3).unwrap().is_ok(), "one that is there");
        assert!(table.get("%LMQ%3", 0).is_none());
        table.get_or_create("T", 0).unwrap();
        assert_eq!(table.delete_topic("%LMQ%0").unwrap() + table.delete_topic("T").unwrap(), 2);
        assert_eq!(table.light_queues(), 2);
        let handle = table.get_or_create_light("%LMQ%3", 3).unwrap().unwrap();
        handle.queue.put(0, Unit { phy_offset: 0, size: 1, tags_code: 0 }).unwrap();
        let again = ConsumeQueueTable::load(&Env::os(), dir.path(), 200).unwrap();
        assert_eq!(again.light_queues(), 1, "those on disk");
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
