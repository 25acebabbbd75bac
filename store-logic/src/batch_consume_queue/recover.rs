//! Finding the end after a start, cutting what the log no longer backs, and following the log's beginning.

use super::BatchConsumeQueue;
use super::format::{BatchUnit, UNIT_SIZE};
use crate::consume_queue::first_where;
use crate::error::Result;
use crate::sync::{Arc, Ordering};
use store_mmap::MappedFile;

/// Files at the end of a queue whose units are looked at one by one; older ones were synced long ago.
const FILES_CHECKED: usize = 3;

impl BatchConsumeQueue {
    /// Finds the end of the queue ([`BatchConsumeQueue::end_in`]) and cuts everything behind it.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn recover(&self, log_end: u64) -> Result<()> {
        match self.end_in(log_end) {
            Some(end) => Ok(self.files.truncate(end * UNIT_SIZE)?),
            None => self.destroy(),
        }
    }

    /// Where the queue ends in a log that ends at `log_end`, as the number of a unit: the first place of its last three
    /// files (more, when they hold no unit, or when an earlier file has lost its end) whose unit is none, lies behind
    /// `log_end`, or does not follow its predecessor in log and queue. `None` without a unit. Changes nothing.
    pub fn end_in(&self, log_end: u64) -> Option<u64> {
        let files = self.files.files();
        let torn = files.iter().position(|file| last_unit_of(file).is_none()).unwrap_or(files.len());
        let mut start = torn.min(files.len().saturating_sub(FILES_CHECKED));
        loop {
            let from = files.get(start)?.file_from_offset() / UNIT_SIZE;
            let end = self.end_from(from, log_end);
            if end > from {
                return Some(end);
            }
            if start == 0 {
                return None;
            }
            start = start.saturating_sub(FILES_CHECKED);
        }
    }

    fn end_from(&self, from: u64, log_end: u64) -> u64 {
        let mut before: Option<BatchUnit> = None;
        let follows = |before: Option<BatchUnit>, unit: &BatchUnit| {
            before.is_none_or(|before| {
                before.phy_offset < unit.phy_offset && before.next_offset() <= unit.base_offset
            })
        };
        for number in from..self.end() {
            match self.unit(number) {
                Some(unit) if unit.end_offset() <= log_end && follows(before, &unit) => before = Some(unit),
                _ => return number,
            }
        }
        self.end().max(from)
    }

    /// Makes way for a new queue of this name: the unit that holds `queue_offset` and all behind it go.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn restart_at(&self, queue_offset: u64) -> Result<()> {
        match self.number_of(queue_offset) {
            Some(number) => self.cut_at(number),
            None if queue_offset < self.max_offset() => self.destroy(),
            None => Ok(()),
        }
    }

    /// Cuts the unit of the given number and all behind it.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn cut_at(&self, number: u64) -> Result<()> {
        if number <= self.begin() {
            return self.destroy();
        }
        Ok(self.files.truncate(number * UNIT_SIZE)?)
    }

    /// Cuts units of records that do not end at or before `log_end`.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn truncate(&self, log_end: u64) -> Result<()> {
        let mut end = self.end();
        while end > self.begin() && self.unit(end - 1).is_some_and(|unit| unit.end_offset() > log_end) {
            end -= 1;
        }
        if end < self.end() { self.cut_at(end) } else { Ok(()) }
    }

    /// Writes the units of records at or behind `phy_offset` once more, the same bytes, and makes them durable (after a
    /// crash, see [`MappedFile::rewrite_from`]). No view may be held meanwhile. Returns whether they are all the queue has:
    /// then its directory is new as well.
    ///
    /// # Errors
    ///
    /// A failed sync.
    pub fn rewrite_records_from(&self, phy_offset: u64) -> Result<bool> {
        let behind = |number| self.unit(number).is_none_or(|unit| unit.phy_offset >= phy_offset);
        let from = first_where(self.begin(), self.end(), behind);
        self.files.rewrite_from(from * UNIT_SIZE)?;
        Ok(from == self.begin() && self.end() > from)
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
        while self
            .files
            .expire_first(|file| last_unit_of(file).is_some_and(|unit| unit.phy_offset < log_min))?
        {
            deleted += 1;
        }
        self.correct_min_offset(log_min);
        Ok(deleted)
    }
}

/// The unit in the last place of a file.
fn last_unit_of(file: &Arc<MappedFile>) -> Option<BatchUnit> {
    let last = file.slice(file.file_size() - UNIT_SIZE, UNIT_SIZE)?;
    BatchUnit::decode(&last)
}
