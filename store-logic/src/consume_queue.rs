//! The index of one queue: which record is its n-th message.

mod append;
mod ext;
pub mod format;
mod read;
mod recover;
mod search;

use ext::QueueExt;

pub use append::PutUnit;
pub use format::Unit;
pub use read::{UnitWindow, Units};
pub use search::BoundaryType;
pub(crate) use search::first_where;

use crate::error::Result;
use crate::sync::{Arc, AtomicU64, Ordering};
use format::UNIT_SIZE;
use std::path::Path;
use store_mmap::{Env, MappedFileQueue, OnDemand, QueueOptions, ReservePolicy};

/// Bytes of a queue file reserved at a time: queues are many and mostly short.
const RESERVE_STEP: u64 = 64 << 10;

/// A record position that no record has.
const LOOK_UP: u64 = u64::MAX;

/// The units of one topic and queue (`consumequeue/{topic}/{queueId}/`).
///
/// Written by the dispatcher alone; read by everyone.
#[derive(Debug)]
pub struct ConsumeQueue {
    topic: String,
    queue_id: i32,
    files: MappedFileQueue,
    /// Queue offset of the first unit whose record is still in the log.
    min_offset: AtomicU64,
    /// Record of the newest unit, 0 when that is a blank, [`LOOK_UP`] when only the file knows.
    newest_record: AtomicU64,
    ext: Option<QueueExt>,
}

impl ConsumeQueue {
    /// Opens the queue below `directory`; nothing is made on disk before the first unit.
    ///
    /// `file_size` is rounded up to whole units.
    pub fn open(env: &Env, directory: &Path, topic: &str, queue_id: i32, file_size: u64) -> Result<Self> {
        let file_size = file_size.div_ceil(UNIT_SIZE) * UNIT_SIZE;
        let reserve = ReservePolicy::Steps(RESERVE_STEP);
        let options = QueueOptions { file_size, reserve, ..QueueOptions::default() };
        let files = MappedFileQueue::load(env, directory, options, Arc::new(OnDemand))?;
        let first = files.min_offset().unwrap_or(0) / UNIT_SIZE;
        Ok(Self {
            topic: topic.to_owned(),
            queue_id,
            files,
            min_offset: AtomicU64::new(first),
            newest_record: AtomicU64::new(LOOK_UP),
            ext: None,
        })
    }

    /// Topic.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// Queue of the topic.
    pub fn queue_id(&self) -> i32 {
        self.queue_id
    }

    /// The files.
    pub fn files(&self) -> &MappedFileQueue {
        &self.files
    }

    /// Queue offset of the first message that can still be read; equals the end when there is none.
    pub fn min_offset(&self) -> u64 {
        self.min_offset.load(Ordering::Acquire)
    }

    /// Queue offset behind the last message. It stays when all messages are gone.
    pub fn max_offset(&self) -> u64 {
        self.files.max_offset() / UNIT_SIZE
    }

    /// Makes units durable; see [`MappedFileQueue::flush`].
    pub fn flush(&self, least_pages: u32) -> Result<u64> {
        self.flush_ext(least_pages)?;
        Ok(self.files.flush(least_pages)?)
    }

    /// Deletes the queue's files.
    pub fn destroy(&self) -> Result<()> {
        self.min_offset.store(0, Ordering::Release);
        self.newest_record.store(LOOK_UP, Ordering::Relaxed);
        self.destroy_ext()?;
        Ok(self.files.destroy()?)
    }
}

#[cfg(test)]
mod against_vec;
#[cfg(test)]
mod field_tests;
#[cfg(test)]
mod tests;
