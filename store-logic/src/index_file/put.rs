//! One more entry.

use super::format::{self, IndexEntry};
use super::{IndexFile, RESERVE_STEP};
use crate::error::Result;

impl IndexFile {
    /// Adds an entry; false when the file is full. The entry is whole before its slot points at it, so a reader never
    /// follows a half one.
    pub fn put(&self, key: &str, phy_offset: u64, store_timestamp: i64) -> Result<bool> {
        let number = self.index_count()?;
        if number >= self.geometry.entries {
            return Ok(false);
        }
        let begin_timestamp = self.cells.load_u64(format::BEGIN_TIMESTAMP_AT)? as i64;
        let entry = IndexEntry {
            key_hash: format::key_hash(key),
            phy_offset,
            time_diff: format::time_diff(begin_timestamp, store_timestamp),
            previous: 0,
        };
        self.cells.reserve_up_to(self.geometry.entry_at(number + 1), RESERVE_STEP)?;
        let new_slot = self.link(number, entry)?;

        if number <= 1 {
            self.cells.store_u64(format::BEGIN_PHY_OFFSET_AT, phy_offset)?;
            self.cells.store_u64(format::BEGIN_TIMESTAMP_AT, store_timestamp as u64)?;
        }
        if new_slot {
            let used = self.cells.load_u32(format::HASH_SLOT_COUNT_AT)?;
            self.cells.store_u32(format::HASH_SLOT_COUNT_AT, used.saturating_add(1))?;
        }
        self.cells.store_u32(format::INDEX_COUNT_AT, number + 1)?;
        self.cells.store_u64(format::END_PHY_OFFSET_AT, phy_offset)?;
        self.cells.store_u64(format::END_TIMESTAMP_AT, store_timestamp as u64)?;
        Ok(true)
    }

    /// Writes the entry with the slot's present content as its predecessor, then points the slot at it. True when the
    /// slot was unused.
    pub(super) fn link(&self, number: u32, entry: IndexEntry) -> Result<bool> {
        let slot_at = self.geometry.slot_at(self.geometry.slot_of(entry.key_hash));
        let slot = self.cells.load_u32(slot_at)?;
        let previous = if slot < number { slot } else { 0 };
        self.store_entry(number, IndexEntry { previous, ..entry })?;
        self.cells.store_u32(slot_at, number)?;
        Ok(previous == 0)
    }

    pub(super) fn store_entry(&self, number: u32, entry: IndexEntry) -> Result<()> {
        let at = self.geometry.entry_at(number);
        // The position is not 8-aligned in every entry; entries are published by their slot, so two halves are fine.
        self.cells.store_u32(at, entry.key_hash)?;
        self.cells.store_u32(at + 4, (entry.phy_offset >> 32) as u32)?;
        self.cells.store_u32(at + 8, entry.phy_offset as u32)?;
        self.cells.store_u32(at + 12, entry.time_diff as u32)?;
        self.cells.store_u32(at + 16, entry.previous)?;
        Ok(())
    }
}
