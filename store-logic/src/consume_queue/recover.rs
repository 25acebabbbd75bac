//! Finding a queue's end after a start, cutting what the log no longer backs, and following the log's beginning.

use super::format::{UNIT_SIZE, Unit};
use super::search::first_where;
use super::{ConsumeQueue, LOOK_UP};
use crate::error::Result;
use crate::sync::{Arc, Ordering};
use store_mmap::MappedFile;

/// Files at the end of a queue whose units are looked at one by one; older ones were synced long ago.
const FILES_CHECKED: usize = 3;

impl ConsumeQueue {
    /// Finds the end of the queue ([`ConsumeQueue::end_in`]) and cuts everything behind it.
    pub fn recover(&self, log_end: u64) -> Result<()> {
        match self.end_in(log_end) {
            Some(end) => {
                self.cut_at(end)?;
                self.recover_ext()
            }
            // Not one message: begin again.
            None => self.destroy(),
        }
    }

    /// Where the queue ends in a log that ends at `log_end`, as a queue offset: the first place of its last three files
    /// (more, when they hold no message, or when an earlier file has lost its end) whose unit is none, lies behind
    /// `log_end` or does not follow its predecessor in the log. Blank units that would stand last do not count: a crash
    /// came between them and their message, which is put again wherever the log says. `None` without a message.
    /// Changes nothing.
    pub fn end_in(&self, log_end: u64) -> Option<u64> {
        let files = self.files.files();
        // The ends of the last files say nothing new, and looking at them reads pages that hold nothing, in every queue.
        let older = files.len().saturating_sub(FILES_CHECKED);
        let mut start = files[..older].iter().position(|file| !ends_with_unit(file)).unwrap_or(older);
        loop {
            if let Some(end) = messages_end(&files[start..], log_end) {
                return Some(end / UNIT_SIZE);
            }
            if start == 0 {
                return None;
            }
            start = start.saturating_sub(FILES_CHECKED);
        }
    }

    /// Makes way for a new queue of this name: units from `queue_offset` on go.
    pub fn restart_at(&self, queue_offset: u64) -> Result<()> {
        if self.files.min_offset().is_none_or(|first| queue_offset * UNIT_SIZE <= first) {
            return self.destroy();
        }
        self.cut_at(queue_offset)?;
        self.min_offset.fetch_min(queue_offset, Ordering::AcqRel);
        Ok(())
    }

    fn cut_at(&self, queue_offset: u64) -> Result<()> {
        self.newest_record.store(LOOK_UP, Ordering::Relaxed);
        Ok(self.files.truncate(queue_offset * UNIT_SIZE)?)
    }

    /// Cuts units of records at or behind `log_end`, and whatever stands behind the first of them.
    pub fn truncate(&self, log_end: u64) -> Result<()> {
        let mut end = self.max_offset();
        let first = self.files.min_offset().unwrap_or(0) / UNIT_SIZE;
        let places = (first..end).rev().map_while(|place| Some((place, self.unit(place)?)));
        // Lost places have no record; the message before them tells for them.
        for (place, unit) in places.filter(|(_, unit)| !unit.is_blank()) {
            if unit.end_offset() <= log_end {
                break;
            }
            end = place;
        }
        if end == 0 && self.max_offset() > 0 {
            return self.destroy();
        }
        if end < self.max_offset() {
            self.cut_at(end)?;
        }
        Ok(())
    }

    /// Writes the units of records at or behind `phy_offset` once more, the same bytes, with what they have in the
    /// extension, and makes them durable (after a crash, see [`MappedFile::rewrite_from`]). No view may be held meanwhile.
    /// Returns whether they are all the queue has: then its directory is new as well.
    pub fn rewrite_records_from(&self, phy_offset: u64) -> Result<bool> {
        let first = self.files.min_offset().unwrap_or(0) / UNIT_SIZE;
        let behind = |queue_offset| {
            self.message_from(queue_offset).is_none_or(|(_, unit)| unit.phy_offset >= phy_offset)
        };
        let from = first_where(first, self.max_offset(), behind);
        self.rewrite_ext_from(from)?;
        self.files.rewrite_from(from * UNIT_SIZE)?;
        Ok(from == first && self.max_offset() > first)
    }

    /// Moves the smallest readable queue offset to the first unit whose record is not below `log_min`.
    pub fn correct_min_offset(&self, log_min: u64) {
        let first = self.files.min_offset().unwrap_or(0) / UNIT_SIZE;
        let from = self.min_offset().max(first);
        let max = self.max_offset();
        // Blanks have no place in the log; the next message tells for them, and those behind the last one are held.
        let held = |queue_offset: u64| {
            self.message_from(queue_offset).is_none_or(|(_, unit)| unit.phy_offset >= log_min)
        };
        let place = if held(from) { from } else { first_where(from, max, held) };
        let min = self.message_from(place).map_or(max, |(queue_offset, _)| queue_offset);
        self.min_offset.store(min, Ordering::Release);
    }

    /// Deletes queue files whose last message lies below `log_min` (the last file stays), then corrects the minimum.
    /// Returns the number of files deleted.
    pub fn delete_expired(&self, log_min: u64) -> Result<usize> {
        let mut deleted = 0;
        while self.files.expire_first(|file| last_message_below(file, log_min))? {
            deleted += 1;
        }
        self.correct_min_offset(log_min);
        self.delete_expired_ext()?;
        Ok(deleted)
    }
}

/// True when the last place of a file holds a unit.
fn ends_with_unit(file: &Arc<MappedFile>) -> bool {
    let last = file.slice(file.file_size() - UNIT_SIZE, UNIT_SIZE);
    last.is_some_and(|place| Unit::decode(&place).is_some())
}

/// Position behind the last usable unit that stands for a message; `None` without one.
fn messages_end(files: &[Arc<MappedFile>], log_end: u64) -> Option<u64> {
    let mut end = None;
    let mut last_phy = None;
    for file in files {
        let valid = check_file(file, log_end, &mut last_phy);
        if valid.messages_end > 0 {
            end = Some(file.file_from_offset() + valid.messages_end);
        }
        if valid.end < file.file_size() {
            break;
        }
    }
    end
}

/// How far the units of a file can be used.
struct ValidUnits {
    /// Position behind the last usable unit.
    end: u64,
    /// Position behind the last one that stands for a message; 0 without one.
    messages_end: u64,
}

fn check_file(file: &Arc<MappedFile>, log_end: u64, last_phy: &mut Option<u64>) -> ValidUnits {
    let mut valid = ValidUnits { end: 0, messages_end: 0 };
    let Some(bytes) = file.slice_rest(0) else { return valid };
    for place in bytes.chunks_exact(UNIT_SIZE as usize) {
        let Some(unit) = Unit::decode(place) else { break };
        valid.end += UNIT_SIZE;
        if unit.is_blank() {
            continue;
        }
        let follows = last_phy.is_none_or(|last| unit.phy_offset > last);
        if !follows || unit.end_offset() > log_end {
            valid.end -= UNIT_SIZE;
            break;
        }
        *last_phy = Some(unit.phy_offset);
        valid.messages_end = valid.end;
    }
    valid
}

/// True when the file's newest message is no longer in a log that begins at `log_min`.
fn last_message_below(file: &Arc<MappedFile>, log_min: u64) -> bool {
    let Some(bytes) = file.slice_rest(0) else { return false };
    let units = bytes.chunks_exact(UNIT_SIZE as usize).rev().filter_map(Unit::decode);
    units.filter(|unit| !unit.is_blank()).map(|unit| unit.phy_offset).next().is_none_or(|last| last < log_min)
}
