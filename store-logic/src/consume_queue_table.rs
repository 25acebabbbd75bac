//! topic × queue → [`Queue`].

use crate::batch_consume_queue::BatchConsumeQueue;
use crate::consume_queue::ConsumeQueue;
use crate::consume_queue_ext::ConsumeQueueExt;
use crate::error::{LogicError, Result};
use crate::multi_dispatch;
use crate::queue::Queue;
use crate::queue_type::{QueueType, QueueTypes};
use crate::sync::{Arc, AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering, PoisonError};
use dashmap::DashMap;
use foldhash::fast::RandomState;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use store_mmap::{Env, FileKind, remove_tree};

/// One queue and the queue offset its next message gets. The latter runs ahead of the queue's own end by the messages
/// that are in the log but not dispatched yet.
#[derive(Debug)]
pub struct QueueHandle {
    /// The queue.
    pub queue: Queue,
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

/// Where batch queues are (`batchconsumequeue/`), and which topics have them.
#[derive(Debug, Clone)]
pub struct BatchQueues {
    /// Directory: topic, then queue id.
    pub directory: PathBuf,
    /// Bytes of a new file (`mapperFileSizeBatchConsumeQueue`).
    pub file_size: u64,
    /// Knows the kind of new queues.
    pub types: QueueTypes,
}

/// Queues of one topic, by queue id.
type TopicQueues = std::collections::BTreeMap<i32, Arc<QueueHandle>>;

/// All queues of a store (`consumequeue/`, `batchconsumequeue/`). Those of one topic are all of one kind.
#[derive(Debug)]
pub struct ConsumeQueueTable {
    env: Env,
    directory: PathBuf,
    file_size: u64,
    ext: Option<ExtQueues>,
    batch: Option<BatchQueues>,
    topics: DashMap<String, TopicQueues, RandomState>,
    /// Queues of light queue names.
    light_queues: AtomicU64,
    /// Held while a queue is made or deleted, so that no lock of `topics` is: those who look for other queues do not wait
    /// for the disk.
    changing: Mutex<()>,
}

impl ConsumeQueueTable {
    /// Opens every ordinary queue below `directory`. Files there and directories that are no numbers are left alone.
    ///
    /// # Errors
    ///
    /// Files that do not belong to a queue.
    pub fn load(env: &Env, directory: &Path, file_size: u64) -> Result<Self> {
        Self::load_all(env, directory, file_size, None, None)
    }

    /// The same with the queues' extensions, where there are any or new ones are to be written, and with batch queues.
    ///
    /// # Errors
    ///
    /// As [`ConsumeQueueTable::load`], and a topic that has queues of both kinds.
    pub fn load_all(
        env: &Env,
        directory: &Path,
        file_size: u64,
        ext: Option<ExtQueues>,
        batch: Option<BatchQueues>,
    ) -> Result<Self> {
        let table = Self {
            env: env.clone(),
            directory: directory.to_owned(),
            file_size,
            ext,
            batch,
            topics: DashMap::default(),
            light_queues: AtomicU64::new(0),
            changing: Mutex::new(()),
        };
        table.load_kind(QueueType::SimpleCq, directory)?;
        if let Some(batch) = &table.batch {
            table.load_kind(QueueType::BatchCq, &batch.directory)?;
        }
        Ok(table)
    }

    fn load_kind(&self, kind: QueueType, directory: &Path) -> Result<()> {
        let changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        for topic in self.env.disk().read_dir(directory)? {
            if topic.kind != FileKind::Directory {
                continue;
            }
            for queue in self.env.disk().read_dir(&directory.join(&topic.name))? {
                let (FileKind::Directory, Ok(queue_id)) = (queue.kind, queue.name.parse::<i32>()) else {
                    continue;
                };
                if self.kind_of_present(&topic.name).is_some_and(|present| present != kind)
                    && !self.give_way(&topic.name, &directory.join(&topic.name).join(&queue.name))?
                {
                    continue;
                }
                self.create(&changing, kind, &topic.name, queue_id)?;
            }
        }
        Ok(())
    }

    /// A topic that is deleted and made anew as one of another kind may leave empty directories. True when the queues of
    /// the topic that are in the table were such and are forgotten, false when the one at `path` is.
    fn give_way(&self, topic: &str, path: &Path) -> Result<bool> {
        if self.env.disk().read_dir(path)?.iter().all(|entry| entry.kind != FileKind::File) {
            return Ok(false);
        }
        let present: Vec<_> =
            self.topics.get(topic).map(|queues| queues.values().cloned().collect()).unwrap_or_default();
        if let Some(other) = present.iter().find(|handle| handle.queue.files().file_count() > 0) {
            return Err(LogicError::Damaged {
                path: path.to_owned(),
                offset: 0,
                expected: format!("queues of one kind for topic {topic}"),
                found: format!("queue files here and of {} elsewhere", other.queue.kind().as_str()),
            });
        }
        self.topics.remove(topic);
        Ok(true)
    }

    /// Kind of the topic's queues: what those say that there are, else what is known of the topic.
    pub fn queue_type(&self, topic: &str) -> QueueType {
        match (self.kind_of_present(topic), &self.batch) {
            (Some(kind), _) => kind,
            (None, Some(batch)) if !topic.starts_with(multi_dispatch::LMQ_PREFIX) => batch.types.of(topic),
            (None, _) => QueueType::SimpleCq,
        }
    }

    fn kind_of_present(&self, topic: &str) -> Option<QueueType> {
        self.topics.get(topic)?.values().next().map(|handle| handle.queue.kind())
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
        self.create(&changing, self.queue_type(topic), topic, queue_id)
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
        self.create(&changing, QueueType::SimpleCq, name, multi_dispatch::LMQ_QUEUE_ID).map(Ok)
    }

    /// Light queues there are.
    pub fn light_queues(&self) -> u64 {
        self.light_queues.load(Ordering::Relaxed)
    }

    fn create(
        &self,
        _changing: &MutexGuard<'_, ()>,
        kind: QueueType,
        topic: &str,
        queue_id: i32,
    ) -> Result<Arc<QueueHandle>> {
        if let Some(handle) = self.get(topic, queue_id) {
            return Ok(handle);
        }
        let queue = self.open(kind, topic, queue_id)?;
        let handle =
            Arc::new(QueueHandle { queue, next_offset: AtomicU64::new(0), deleted: AtomicBool::new(false) });
        self.topics.entry(topic.to_owned()).or_default().insert(queue_id, Arc::clone(&handle));
        if topic.starts_with(multi_dispatch::LMQ_PREFIX) {
            self.light_queues.fetch_add(1, Ordering::Relaxed);
        }
        Ok(handle)
    }

    fn open(&self, kind: QueueType, topic: &str, queue_id: i32) -> Result<Queue> {
        match &self.batch {
            Some(batch) if kind == QueueType::BatchCq => {
                let directory = self.queue_directory(&batch.directory, topic, queue_id)?;
                BatchConsumeQueue::open(&self.env, &directory, topic, queue_id, batch.file_size)
                    .map(Queue::Batch)
            }
            _ => {
                let directory = self.queue_directory(&self.directory, topic, queue_id)?;
                let queue = ConsumeQueue::open(&self.env, &directory, topic, queue_id, self.file_size)?;
                let queue = match &self.ext {
                    Some(ext) => ext.extend(&self.env, queue)?,
                    None => queue,
                };
                Ok(Queue::Simple(queue))
            }
        }
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
            if let Some(batch) = &self.batch {
                self.remove_if_empty(&batch.directory, topic)?;
            }
        }
        self.remove_extensions(topic)?;
        Ok(queues.len())
    }

    /// Makes the names of these topics' directories, and of those of their queues, durable. For recovery: the process may
    /// have died right after it had made them.
    pub fn sync_names_of<'a>(&self, topics: impl IntoIterator<Item = &'a str>) -> Result<()> {
        let mut roots = BTreeSet::new();
        for topic in topics {
            let root = match &self.batch {
                Some(batch) if self.queue_type(topic) == QueueType::BatchCq => &batch.directory,
                _ => &self.directory,
            };
            self.env.disk().sync_dir(&root.join(topic))?;
            roots.insert(root);
        }
        for root in roots {
            self.env.disk().sync_dir(root)?;
        }
        Ok(())
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

    fn queue_directory(&self, directory: &Path, topic: &str, queue_id: i32) -> Result<PathBuf> {
        if !Self::can_be_queue(topic, queue_id) {
            return Err(LogicError::Damaged {
                path: directory.to_owned(),
                offset: 0,
                expected: format!(
                    "a topic that can name a directory (at most {MAX_NAME} bytes) and a queue id of at least 0"
                ),
                found: format!("topic {topic:?}, queue {queue_id}"),
            });
        }
        Ok(directory.join(topic).join(queue_id.to_string()))
    }
}

#[cfg(test)]
mod tests;
