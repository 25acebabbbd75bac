//! The one log all messages of a broker are appended to, whatever their topic.

mod append;
pub mod filler;
pub mod format;
mod read;
mod scan;

pub use append::{AppendError, Appended, RecordBatch, TailGuard};
pub use scan::{LogEnd, ScanStart};

use crate::error::Result;
use crate::sync::{Arc, AtomicI64, Mutex, Ordering};
use append::Tail;
use store_mmap::{
    AccessPolicy, Env, FileSupplier, MappedFileQueue, QueueDirectories, QueueOptions, ReservePolicy,
    TransientStorePool,
};

/// The log: an append-only range of records over files of equal size (`commitlog/`).
///
/// Appending goes through the tail ([`CommitLog::lock_tail`]), one writer at a time; everything else may happen at any
/// time from any thread. Time is an argument: the log reads no clock.
#[derive(Debug)]
pub struct CommitLog {
    files: MappedFileQueue,
    tail: Mutex<Tail>,
    /// Since when the tail is held (milliseconds of the caller's clock), 0 when it is free.
    tail_held_since: AtomicI64,
}

impl CommitLog {
    /// Opens the files of `directories`, a path or several. Until [`CommitLog::truncate`] has been called with the end that a scan found, the
    /// log claims to be full to the end of its last file.
    ///
    /// # Errors
    ///
    /// Files that do not belong there, named.
    pub fn open(
        env: &Env,
        directories: impl Into<QueueDirectories>,
        file_size: u64,
        supplier: Arc<dyn FileSupplier>,
    ) -> Result<Self> {
        let options = QueueOptions { file_size, reserve: ReservePolicy::Whole, ..QueueOptions::default() };
        Ok(Self {
            files: MappedFileQueue::load(env, directories, options, supplier)?,
            tail: Mutex::new(Tail::default()),
            tail_held_since: AtomicI64::new(0),
        })
    }

    /// The log with the kernel told how its files will be used.
    pub fn with_access(mut self, access: AccessPolicy) -> Self {
        self.files = self.files.with_access(access);
        self
    }

    /// The log with a write buffer of `pool` in front of each file it begins from now on; see
    /// [`MappedFileQueue::with_store_pool`].
    pub fn with_store_pool(mut self, pool: Arc<TransientStorePool>) -> Self {
        self.files = self.files.with_store_pool(pool);
        self
    }

    /// The files.
    pub fn files(&self) -> &MappedFileQueue {
        &self.files
    }

    /// Position of the first byte held; 0 when nothing is.
    pub fn min_offset(&self) -> u64 {
        self.files.min_offset().unwrap_or(0)
    }

    /// Position behind the last record that can be read.
    pub fn max_offset(&self) -> u64 {
        self.files.max_offset()
    }

    /// Position behind the last record, which may still stand in a write buffer.
    pub fn wrote_offset(&self) -> u64 {
        self.files.wrote_offset()
    }

    /// Everything below is durable.
    pub fn flushed_where(&self) -> u64 {
        self.files.flushed_where()
    }

    /// Moves records from write buffers to the files, where they can be read; see [`MappedFileQueue::commit`]. Returns
    /// the position behind the last one that can be read.
    pub fn commit(&self, least_pages: u32) -> Result<u64> {
        Ok(self.files.commit(least_pages)?)
    }

    /// Makes records that can be read durable; see [`MappedFileQueue::flush`].
    pub fn flush(&self, least_pages: u32) -> Result<u64> {
        Ok(self.files.flush(least_pages)?)
    }

    /// Keeps what is below `end` (recovery).
    pub fn truncate(&self, end: u64) -> Result<()> {
        Ok(self.files.truncate(end)?)
    }

    /// Makes everything from `from` on durable, whatever is known of it; see [`MappedFileQueue::sync_from`].
    pub fn sync_from(&self, from: u64) -> Result<()> {
        Ok(self.files.sync_from(from)?)
    }

    /// Writes everything from `from` on once more and makes it durable; see [`MappedFileQueue::rewrite_from`].
    pub fn rewrite_from(&self, from: u64) -> Result<()> {
        Ok(self.files.rewrite_from(from)?)
    }

    /// Makes the first file of an empty log.
    pub fn reserve_first_file(&self) -> Result<()> {
        self.files.last_for_append(0)?;
        Ok(())
    }

    /// Milliseconds the tail has been held at `now` of the caller's clock, which is asked for only then; 0 when the tail
    /// is free.
    pub fn tail_held_millis(&self, now: impl FnOnce() -> i64) -> i64 {
        match self.tail_held_since.load(Ordering::Relaxed) {
            0 => 0,
            since => (now() - since).max(0),
        }
    }
}

#[cfg(test)]
mod tests;
