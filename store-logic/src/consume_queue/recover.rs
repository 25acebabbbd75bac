//! Finding a queue's end after a start, cutting what the log no longer backs, and following the log's beginning.

use super::ConsumeQueue;
use super::format::{UNIT_SIZE, Unit};
use super::search::first_where;
use crate::error::Result;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store_mmap::MappedFile;

/// Files at the end of a queue whose units are looked at one by one; older ones were synced long ago.
const FILES_CHECKED: usize = 3;

impl ConsumeQueue {
    /// Finds the end of the queue: the first place of its last three files whose unit is none, lies behind `log_end` or
    /// does not follow its predecessor in the log. Everything behind is cut.
    pub fn recover(&self, log_end: u64) -> Result<()> {
        let files = self.files.files();
        let Some(last) = files.last() else { return Ok(()) };
        let mut end = last.file_from_offset() + last.file_size();
        let mut last_phy = None;
        for file in files.iter().skip(files.len().saturating_sub(FILES_CHECKED)) {
            let valid = valid_bytes(file, log_end, &mut last_phy);
            if valid < file.file_size() {
                end = file.file_from_offset() + valid;
                break;
            }
        }
        self.files.truncate(end)?;
        if self.files.file_count() == 1 && self.only_blanks() {
            // Crash between the blank units and the first message: begin again, wherever the log says.
            self.files.destroy()?;
        }
        Ok(())
    }

    fn only_blanks(&self) -> bool {
        self.last_unit().is_none()
    }

    /// Cuts units of records at or behind `log_end`.
    pub fn truncate(&self, log_end: u64) -> Result<()> {
        let mut end = self.max_offset();
        let first = self.files.min_offset().unwrap_or(0) / UNIT_SIZE;
        while end > first
            && self.unit(end - 1).is_some_and(|unit| !unit.is_blank() && unit.end_offset() > log_end)
        {
            end -= 1;
        }
        if end < self.max_offset() {
            self.files.truncate(end * UNIT_SIZE)?;
        }
        Ok(())
    }

    /// Moves the smallest readable queue offset to the first unit whose record is not below `log_min`.
    pub fn correct_min_offset(&self, log_min: u64) {
        let first = self.files.min_offset().unwrap_or(0) / UNIT_SIZE;
        let from = self.min_offset().max(first);
        let held = |queue_offset: u64| {
            self.unit(queue_offset).is_some_and(|unit| !unit.is_blank() && unit.phy_offset >= log_min)
        };
        let max = self.max_offset();
        let min = if from >= max {
            max
        } else if held(from) {
            from
        } else {
            first_where(from, max, held)
        };
        self.min_offset.store(min, Ordering::Release);
    }

    /// Deletes queue files whose last unit points below `log_min` (the last file stays), then corrects the minimum.
    /// Returns the number of files deleted.
    pub fn delete_expired(&self, log_min: u64) -> Result<usize> {
        let mut deleted = 0;
        while self.files.expire_first(|file| last_unit_below(file, log_min))? {
            deleted += 1;
        }
        self.correct_min_offset(log_min);
        Ok(deleted)
    }
}

fn valid_bytes(file: &Arc<MappedFile>, log_end: u64, last_phy: &mut Option<u64>) -> u64 {
    let Some(bytes) = file.slice_rest(0) else { return 0 };
    let mut valid = 0;
    for place in bytes.chunks_exact(UNIT_SIZE as usize) {
        let Some(unit) = Unit::decode(place) else { break };
        if !unit.is_blank() {
            let follows = last_phy.is_none_or(|last| unit.phy_offset > last);
            if !follows || unit.end_offset() > log_end {
                break;
            }
            *last_phy = Some(unit.phy_offset);
        }
        valid += UNIT_SIZE;
    }
    valid
}

fn last_unit_below(file: &Arc<MappedFile>, log_min: u64) -> bool {
    let Some(at) = file.wrote_position().checked_sub(UNIT_SIZE) else { return false };
    let last = file.slice(at, UNIT_SIZE).and_then(|bytes| Unit::decode(&bytes));
    last.is_some_and(|unit| unit.is_blank() || unit.phy_offset < log_min)
}
