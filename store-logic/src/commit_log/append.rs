//! Records at the tail: encoded beforehand, placed and copied while the tail is held.

use super::CommitLog;
use super::format::{self, BLANK_LEN, EncodeError, RecordLayout};
use crate::message::Message;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};
use store_mmap::MapError;

/// What only the holder of the tail may touch.
#[derive(Debug, Default)]
pub(super) struct Tail {
    /// Store time of the last record: store times never go back along the log.
    last_store_timestamp: i64,
}

/// Encoded records that go into the log together, in one file and with consecutive queue offsets: one message, or the
/// elements of a client's batch.
#[derive(Debug, Default)]
pub struct RecordBatch {
    bytes: Vec<u8>,
    layouts: Vec<RecordLayout>,
}

impl RecordBatch {
    /// An empty batch whose memory is kept over [`RecordBatch::clear`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets the records.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.layouts.clear();
    }

    /// Encodes one more message.
    ///
    /// # Errors
    ///
    /// A message beyond the limits; the batch is then as before.
    pub fn push(&mut self, message: &Message<'_>, max_body: usize) -> Result<(), EncodeError> {
        self.layouts.push(format::encode(message, max_body, &mut self.bytes)?);
        Ok(())
    }

    /// Records.
    pub fn len(&self) -> usize {
        self.layouts.len()
    }

    /// True without records.
    pub fn is_empty(&self) -> bool {
        self.layouts.is_empty()
    }

    /// Bytes of all records.
    pub fn total_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Bytes of the memory kept; a caller that keeps batches for reuse lets go of huge ones.
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Fills in what depends on the place and copies the records to `target`.
    fn place(&mut self, target: &mut [u8], first_queue_offset: u64, phy_offset: u64, store_timestamp: i64) {
        let mut at = 0;
        for (layout, queue_offset) in self.layouts.iter().zip(first_queue_offset..) {
            let record = &mut self.bytes[at..at + layout.total_size];
            layout.place(record, queue_offset, phy_offset + at as u64, store_timestamp);
            at += layout.total_size;
        }
        target.copy_from_slice(&self.bytes);
    }

    /// Position of each record within the batch.
    pub fn record_positions(&self) -> impl Iterator<Item = u64> {
        self.layouts.iter().scan(0, |next, layout| {
            let at = *next;
            *next += layout.total_size as u64;
            Some(at)
        })
    }
}

/// Where records went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Position of the first record.
    pub phy_offset: u64,
    /// Position behind the last one.
    pub end_offset: u64,
    /// Store time of all of them.
    pub store_timestamp: i64,
}

/// Why records did not go into the log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// They can never fit.
    #[error(transparent)]
    Illegal(#[from] EncodeError),
    /// No next file could be made.
    #[error("no next log file: {0}")]
    NoFile(#[source] MapError),
    /// The mapping refused.
    #[error("append failed: {0}")]
    Map(#[source] MapError),
}

/// The tail of the log, held. Only its holder appends.
#[derive(Debug)]
pub struct TailGuard<'a> {
    log: &'a CommitLog,
    tail: MutexGuard<'a, Tail>,
}

impl CommitLog {
    /// Takes the tail; waits for its holder. `now` (of the clock later given to [`CommitLog::tail_held_millis`]) is asked
    /// for once the tail is held, so that store times follow the order of the log.
    pub fn lock_tail(&self, now: impl FnOnce() -> i64) -> (TailGuard<'_>, i64) {
        // A writer that panicked has published nothing half: the mark moves last.
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let now = now();
        self.tail_held_since.store(now, Ordering::Relaxed);
        (TailGuard { log: self, tail }, now)
    }

    /// Refuses records that no file could ever hold.
    pub fn check_fits(&self, batch: &RecordBatch) -> Result<(), EncodeError> {
        let limit = self.files.file_size().saturating_sub(BLANK_LEN as u64);
        if batch.total_bytes() > limit {
            return Err(EncodeError::RecordTooLarge { limit, found: batch.total_bytes() });
        }
        Ok(())
    }
}

impl TailGuard<'_> {
    /// Puts the records behind the last one, in the next file when this one has no room for all of them, and publishes
    /// them. `now` is raised to the last record's store time when the clock went back.
    ///
    /// # Errors
    ///
    /// Nothing is published then, except perhaps the blank record that closes a full file.
    pub fn append(
        &mut self,
        batch: &mut RecordBatch,
        first_queue_offset: u64,
        now: i64,
    ) -> Result<Appended, AppendError> {
        self.log.check_fits(batch)?;
        let len = batch.total_bytes();
        let mut file = self.log.files.last_for_append(0).map_err(AppendError::NoFile)?;
        if len + BLANK_LEN as u64 > file.file_size() - file.wrote_position() {
            close_file(&file).map_err(AppendError::Map)?;
            file = self.log.files.last_for_append(0).map_err(AppendError::NoFile)?;
        }
        let store_timestamp = now.max(self.tail.last_store_timestamp);
        let phy_offset = file.file_from_offset() + file.wrote_position();
        file.append_with(len, |target| batch.place(target, first_queue_offset, phy_offset, store_timestamp))
            .map_err(AppendError::Map)?;
        file.set_store_timestamp(store_timestamp);
        self.tail.last_store_timestamp = store_timestamp;
        Ok(Appended { phy_offset, end_offset: phy_offset + len, store_timestamp })
    }

    /// Store times from now on are not below `at` (after recovery: the last record's).
    pub fn raise_store_timestamp(&mut self, at: i64) {
        self.tail.last_store_timestamp = self.tail.last_store_timestamp.max(at);
    }
}

impl Drop for TailGuard<'_> {
    fn drop(&mut self) {
        self.log.tail_held_since.store(0, Ordering::Relaxed);
    }
}

/// Writes the blank record over the rest of a file, and publishes the whole rest with it.
fn close_file(file: &store_mmap::MappedFile) -> Result<(), MapError> {
    let remaining = file.file_size() - file.wrote_position();
    let blank = format::blank(u32::try_from(remaining).unwrap_or(u32::MAX));
    file.append_with(remaining, |rest| {
        let len = rest.len().min(BLANK_LEN);
        rest[..len].copy_from_slice(&blank[..len]);
    })?;
    Ok(())
}
