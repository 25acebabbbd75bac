//! Finding the end after a start, cutting what the log no longer backs, and following the log's beginning.

use super::BatchConsumeQueue;
use super::format::{BatchUnit, UNIT_SIZE};
use crate::consume_queue::first_where;
use crate::error::Result;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store_mmap::MappedFile;

impl BatchConsumeQueue {
    /// Finds the end of the queue: the first place whose unit is none, lies behind `log_end`, or does not follow its
    /// predecessor in log and queue. Everything behind is cut.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn recover(&self, log_end: u64) -> Result<()> {
        let mut end = self.begin();
        let mut before: Option<BatchUnit> = None;
        for number in self.begin()..self.end() {
            let Some(unit) = self.unit(number).filter(|unit| unit.end_offset() <= log_end) else { break };
            let follows = before.is_none_or(|before| {
                before.phy_offset < unit.phy_offset && before.next_offset() == unit.base_offset
            });
            if !follows {
                break;
            }
            before = Some(unit);
            end = number + 1;
        }
        if end == self.begin() { self.destroy() } else { Ok(self.files.truncate(end * UNIT_SIZE)?) }
    }

    /// Cuts units of records that do not end at or before `log_end`.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn truncate(&self, log_end: u64) -> Result<()> {
        let backed = |number| self.unit(number).is_none_or(|unit| unit.end_offset() > log_end);
        let end = first_where(self.begin(), self.end(), backed);
        if end < self.end() {
            self.files.truncate(end * UNIT_SIZE)?;
        }
        Ok(())
    }

    /// Moves the minimum to the first unit whose record is not below `log_min`.
    pub fn correct_min_offset(&self, log_min: u64) {
        let held = |number| self.unit(number).is_none_or(|unit| unit.phy_offset >= log_min);
        self.first_unit.store(first_where(self.begin(), self.end(), held), Ordering::Release);
    }

    /// Deletes files whose last record lies below `log_min` (the last file stays), then corrects the minimum. Returns the
    /// number of files deleted.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn delete_expired(&self, log_min: u64) -> Result<usize> {
        let mut deleted = 0;
        while self.files.expire_first(|file| last_record_below(file, log_min))? {
            deleted += 1;
        }
        self.correct_min_offset(log_min);
        Ok(deleted)
    }
}

/// True when the file's newest record is no longer in a log that begins at `log_min`.
fn last_record_below(file: &Arc<MappedFile>, log_min: u64) -> bool {
    let last = file.slice(file.file_size() - UNIT_SIZE, UNIT_SIZE);
    last.and_then(|place| BatchUnit::decode(&place)).is_some_and(|unit| unit.phy_offset < log_min)
}
