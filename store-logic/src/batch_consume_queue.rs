//! The index of one queue whose records may hold several messages each (`queue.type=BatchCQ`).

mod append;
pub mod format;
mod read;
mod recover;

pub use format::BatchUnit;
pub use read::{BatchUnits, BatchWindow};

use crate::error::Result;
use crate::sync::{Arc, AtomicU64, Ordering};
use format::UNIT_SIZE;
use std::path::Path;
use store_mmap::{Env, MappedFileQueue, OnDemand, QueueOptions, ReservePolicy};

/// Bytes of a queue file reserved at a time.
const RESERVE_STEP: u64 = 64 << 10;

/// The units of one topic and queue (`batchconsumequeue/{topic}/{queueId}/`).
///
/// A queue offset is found by binary search, not by multiplication: a unit covers as many offsets as its record has
/// messages. Offsets whose messages were lost with damage of the log have no unit. Written by the dispatcher alone; read
/// by everyone.
#[derive(Debug)]
pub struct BatchConsumeQueue {
    topic: String,
    queue_id: i32,
    files: MappedFileQueue,
    /// Number of the first unit whose record is still in the log, counted from byte 0 of the queue.
    first_unit: AtomicU64,
}

impl BatchConsumeQueue {
    /// Opens the queue below `directory`; nothing is made on disk before the first unit. `file_size` is rounded up to
    /// whole units.
    ///
    /// # Errors
    ///
    /// Files that do not belong there, named.
    pub fn open(env: &Env, directory: &Path, topic: &str, queue_id: i32, file_size: u64) -> Result<Self> {
        let file_size = file_size.div_ceil(UNIT_SIZE) * UNIT_SIZE;
        let reserve = ReservePolicy::Steps(RESERVE_STEP);
        let options = QueueOptions { file_size, reserve, ..QueueOptions::default() };
        let files = MappedFileQueue::load(env, directory, options, Arc::new(OnDemand))?;
        let first = files.min_offset().unwrap_or(0) / UNIT_SIZE;
        Ok(Self { topic: topic.to_owned(), queue_id, files, first_unit: AtomicU64::new(first) })
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
        self.unit(self.first_unit.load(Ordering::Acquire)).map_or(self.max_offset(), |unit| unit.base_offset)
    }

    /// Queue offset behind the last message; 0 when there never was one.
    pub fn max_offset(&self) -> u64 {
        self.last_unit().map_or(0, |unit| unit.next_offset())
    }

    /// Makes units durable; see [`MappedFileQueue::flush`].
    ///
    /// # Errors
    ///
    /// A failed sync; nothing may be trusted afterwards.
    pub fn flush(&self, least_pages: u32) -> Result<u64> {
        Ok(self.files.flush(least_pages)?)
    }

    /// Deletes the queue's files.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn destroy(&self) -> Result<()> {
        self.first_unit.store(0, Ordering::Release);
        Ok(self.files.destroy()?)
    }

    /// Number of the unit in the first place that is held.
    fn begin(&self) -> u64 {
        self.files.min_offset().unwrap_or(0) / UNIT_SIZE
    }

    /// Number of the unit behind the last one.
    pub(crate) fn end(&self) -> u64 {
        self.files.max_offset() / UNIT_SIZE
    }
}

#[cfg(test)]
mod tests;
