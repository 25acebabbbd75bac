//! Records at the tail: encoded beforehand, placed and copied while the tail is held.

use super::CommitLog;
use super::format::{self, BLANK_LEN, EncodeError, PropertyTail, RecordLayout, RecordPlace};
use crate::message::{Message, properties};
use crate::multi_dispatch;
use crate::sync::{MutexGuard, Ordering, PoisonError};
use std::ops::Range;
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
    /// All records, without what is behind the messages' own properties.
    encoded: Vec<u8>,
    /// Late properties of all records.
    late: Vec<u8>,
    records: Vec<BatchRecord>,
    total_bytes: usize,
    record_crc: bool,
}

#[derive(Debug)]
struct BatchRecord {
    layout: RecordLayout,
    /// Its part of the late properties.
    late: Range<usize>,
}

impl BatchRecord {
    fn total_size(&self) -> usize {
        self.layout.total_size(self.late.len())
    }
}

impl RecordBatch {
    /// An empty batch whose memory is kept over [`RecordBatch::clear`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets the records.
    pub fn clear(&mut self) {
        self.encoded.clear();
        self.late.clear();
        self.records.clear();
        self.total_bytes = 0;
    }

    /// Whether records pushed from now on get a CRC of the whole record ([`format::record_crc`]).
    pub fn append_record_crc(&mut self, on: bool) {
        self.record_crc = on;
    }

    /// Encodes one more message. Properties that are the store's to write are left out of what it brings.
    ///
    /// # Errors
    ///
    /// A message beyond the limits; the batch is then as before.
    pub fn push(&mut self, message: &Message<'_>, max_body: usize) -> Result<(), EncodeError> {
        self.push_with(message, max_body, false)
    }

    /// Encodes one more message that names light queues (see [`crate::multi_dispatch`]); its offsets there are given to
    /// [`RecordBatch::set_light_offsets`] once the tail is held. Returns the number of the record in the batch.
    ///
    /// # Errors
    ///
    /// As [`RecordBatch::push`].
    pub fn push_multi_dispatch(
        &mut self,
        message: &Message<'_>,
        max_body: usize,
    ) -> Result<usize, EncodeError> {
        self.push_with(message, max_body, true)?;
        Ok(self.records.len() - 1)
    }

    /// Encodes one more message, an inner batch; the queue offset of its first element is given to
    /// [`RecordBatch::set_inner_base`] once the tail is held. Returns the number of the record in the batch.
    ///
    /// # Errors
    ///
    /// As [`RecordBatch::push`].
    pub fn push_inner_batch(&mut self, message: &Message<'_>, max_body: usize) -> Result<usize, EncodeError> {
        self.push_with(message, max_body, true)?;
        Ok(self.records.len() - 1)
    }

    fn push_with(&mut self, message: &Message<'_>, max_body: usize, late: bool) -> Result<(), EncodeError> {
        let properties = properties::without_the_stores_own(message.properties);
        let message = Message { properties: &properties, ..*message };
        let tail = PropertyTail { late, record_crc: self.record_crc };
        let layout = format::encode(&message, max_body, tail, &mut self.encoded)?;
        let record = BatchRecord { layout, late: 0..0 };
        self.total_bytes += record.total_size();
        self.records.push(record);
        Ok(())
    }

    /// Writes the offsets of record number `record` in its light queues, in the order in which it names them.
    ///
    /// # Errors
    ///
    /// Properties beyond the limit; the batch is then as before.
    ///
    /// # Panics
    ///
    /// If there is no such record, or it has its offsets already.
    pub fn set_light_offsets(&mut self, record: usize, offsets: &[u64]) -> Result<(), EncodeError> {
        self.set_late(record, &multi_dispatch::offsets_property(offsets))
    }

    /// Writes the queue offset of the first element of record number `record`, an inner batch.
    ///
    /// # Errors
    ///
    /// Properties beyond the limit; the batch is then as before.
    ///
    /// # Panics
    ///
    /// If there is no such record, or it has its offset already.
    pub fn set_inner_base(&mut self, record: usize, base: u64) -> Result<(), EncodeError> {
        let (is, end) = (properties::NAME_VALUE_SEPARATOR, properties::PROPERTY_SEPARATOR);
        self.set_late(record, &format!("{}{is}{base}{end}", properties::names::INNER_BASE))
    }

    fn set_late(&mut self, record: usize, property: &str) -> Result<(), EncodeError> {
        let record = &mut self.records[record];
        assert!(record.late.is_empty(), "a record has one place in each queue");
        let begin = self.late.len();
        self.late.extend_from_slice(property.as_bytes());
        let added = self.late.len() - begin;
        if let Err(error) = record.layout.check_late(added) {
            self.late.truncate(begin);
            return Err(error);
        }
        record.late = begin..self.late.len();
        self.total_bytes += added;
        Ok(())
    }

    /// Bytes of record number `record`.
    ///
    /// # Panics
    ///
    /// If there is no such record.
    pub fn record_size(&self, record: usize) -> u64 {
        self.records[record].total_size() as u64
    }

    /// Records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// True without records.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Bytes of all records.
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes as u64
    }

    /// Bytes of the memory kept; a caller that keeps batches for reuse lets go of huge ones.
    pub fn capacity(&self) -> usize {
        self.encoded.capacity() + self.late.capacity()
    }

    /// Finishes the records in `target`.
    fn place(&mut self, target: &mut [u8], first_queue_offset: u64, phy_offset: u64, store_timestamp: i64) {
        let (mut from, mut to) = (0, 0);
        for (record, queue_offset) in self.records.iter().zip(first_queue_offset..) {
            let place = RecordPlace { queue_offset, phy_offset: phy_offset + to as u64, store_timestamp };
            let encoded = &mut self.encoded[from..from + record.layout.encoded_len()];
            from += encoded.len();
            let begin = to;
            to += record.total_size();
            record.layout.place(encoded, &self.late[record.late.clone()], &place, &mut target[begin..to]);
        }
    }

    /// Position of each record within the batch.
    pub fn record_positions(&self) -> impl Iterator<Item = u64> {
        self.records.iter().scan(0, |next, record| {
            let at = *next;
            *next += record.total_size() as u64;
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
    /// Puts the records behind the last one, in the next file when this one has no room for all of them. They can be
    /// read at once, or with a write buffer once they are committed. `now` is raised to the last record's store time when
    /// the clock went back.
    ///
    /// # Errors
    ///
    /// Nothing is appended then, except perhaps the blank record that closes a full file.
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

/// Writes the blank record over the rest of a file; the whole rest goes with it.
fn close_file(file: &store_mmap::MappedFile) -> Result<(), MapError> {
    let remaining = file.file_size() - file.wrote_position();
    let blank = format::blank(u32::try_from(remaining).unwrap_or(u32::MAX));
    file.append_with(remaining, |rest| {
        let len = rest.len().min(BLANK_LEN);
        rest[..len].copy_from_slice(&blank[..len]);
    })?;
    Ok(())
}
