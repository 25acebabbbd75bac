//! One more entry.

use super::format::{self, IndexEntry};
use super::{IndexFile, RESERVE_STEP};
use crate::error::Result;
use crate::message::properties;

/// Keys a record can have at most: each takes a byte and a separator of the property string.
const MOST_KEYS: u32 = properties::MAX_LEN as u32 / 2;

impl IndexFile {
    /// Adds an entry; false when the file is full.
    pub fn put(&self, key: &str, phy_offset: u64, store_timestamp: i64) -> Result<bool> {
        let mut key_hash = std::iter::once(format::key_hash(key));
        self.put_keys(&mut key_hash, phy_offset, store_timestamp)?;
        Ok(key_hash.next().is_none())
    }

    /// Adds entries for the keys of one record, taking as many as there is room for. An entry is whole before its slot
    /// points at it, so a reader never follows a half one, and the header counts all of them at once, last.
    pub fn put_keys(
        &self,
        key_hashes: &mut impl Iterator<Item = u32>,
        phy_offset: u64,
        store_timestamp: i64,
    ) -> Result<()> {
        let first = self.index_count()?;
        let mut begin_timestamp = self.cells.load_u64(format::BEGIN_TIMESTAMP_AT)? as i64;
        // Room for all of them: a full disk is met before the first one is linked.
        let end = first.saturating_add(MOST_KEYS).min(self.geometry.entries);
        self.cells.reserve_up_to(self.geometry.entry_at(end), RESERVE_STEP)?;
        let (mut number, mut new_slots) = (first, 0);
        while number < end {
            let Some(key_hash) = key_hashes.next() else { break };
            let time_diff = format::time_diff(begin_timestamp, store_timestamp);
            let new_slot = self.link(number, IndexEntry { key_hash, phy_offset, time_diff, previous: 0 })?;
            new_slots += u32::from(new_slot);
            if number <= 1 {
                self.cells.store_u64(format::BEGIN_PHY_OFFSET_AT, phy_offset)?;
                self.cells.store_u64(format::BEGIN_TIMESTAMP_AT, store_timestamp as u64)?;
                begin_timestamp = store_timestamp;
            }
            number += 1;
        }
        if number == first {
            return Ok(());
        }
        if new_slots > 0 {
            let used = self.cells.load_u32(format::HASH_SLOT_COUNT_AT)?;
            self.cells.store_u32(format::HASH_SLOT_COUNT_AT, used.saturating_add(new_slots))?;
        }
        self.cells.store_u32(format::INDEX_COUNT_AT, number)?;
        self.cells.store_u64(format::END_PHY_OFFSET_AT, phy_offset)?;
        self.cells.store_u64(format::END_TIMESTAMP_AT, store_timestamp as u64).map_err(Into::into)
    }

    /// Writes the entry with the slot's present content as its predecessor, then points the slot at it. True when the
    /// slot was unused.
    fn link(&self, number: u32, entry: IndexEntry) -> Result<bool> {
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
        self.cells.store_u32(at + format::PREVIOUS_AT, entry.previous)?;
        Ok(())
    }
}
