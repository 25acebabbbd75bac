//! From a key to records.

use super::IndexFile;
use super::format::{self, IndexEntry};
use crate::error::Result;
use std::ops::ControlFlow;

impl IndexFile {
    /// Entry `number`, used or not.
    pub fn entry(&self, number: u32) -> Result<IndexEntry> {
        let at = self.geometry.entry_at(number);
        let high = u64::from(self.cells.load_u32(at + 4)?);
        let low = u64::from(self.cells.load_u32(at + 8)?);
        Ok(IndexEntry {
            key_hash: self.cells.load_u32(at)?,
            phy_offset: high << 32 | low,
            time_diff: self.cells.load_u32(at + 12)? as i32,
            previous: self.cells.load_u32(at + 16)?,
        })
    }

    /// Newest entry of a slot's chain, 0 without one.
    pub fn slot(&self, slot: u32) -> Result<u32> {
        Ok(self.cells.load_u32(self.geometry.slot_at(slot))?)
    }

    /// Calls `accept` with the positions of records that may carry `key` and were stored in `begin..=end` (to the
    /// second), newest first and each once, until that breaks. Only hashes are compared: the caller looks at the records.
    pub fn select(
        &self,
        key: &str,
        begin: i64,
        end: i64,
        accept: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let key_hash = format::key_hash(key);
        let count = self.index_count()?;
        let begin_timestamp = self.cells.load_u64(format::BEGIN_TIMESTAMP_AT)? as i64;
        let mut number = self.slot(self.geometry.slot_of(key_hash))?;
        let mut newest = None;
        while number != 0 && number < count {
            let entry = self.entry(number)?;
            if entry.time_diff < 0 {
                break;
            }
            let at = begin_timestamp.saturating_add(i64::from(entry.time_diff) * 1000);
            // An entry holds whole seconds, cut: within the first second asked for it may seem too early.
            let early = at.saturating_add(999) < begin;
            if entry.key_hash == key_hash && !early && at <= end {
                // A record that names a key twice has neighbouring entries.
                let again = newest.replace(entry.phy_offset) == Some(entry.phy_offset);
                if !again && accept(entry.phy_offset).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            // A chain leads from later entries to earlier ones; a link that does not is damage. Their times need not: where
            // the clock went back, entries of the time asked for stand before one that seems too old.
            if entry.previous >= number {
                break;
            }
            number = entry.previous;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// True when the file may hold entries of `begin..=end`. One that ends before it begins, since the clock went back, may
    /// hold any later time.
    pub fn overlaps(&self, begin: i64, end: i64) -> Result<bool> {
        let header = self.header()?;
        let went_back = header.end_timestamp < header.begin_timestamp;
        let ends_before = header.end_timestamp < begin && !went_back;
        Ok(header.index_count > 1 && header.begin_timestamp <= end && !ends_before)
    }
}
