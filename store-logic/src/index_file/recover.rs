//! After a crash: entries are appended in log order, so the longest plausible run of them is kept and the slots, which
//! are rewritten in place, are built anew from it.

use super::format::{IndexEntry, PREVIOUS_AT};
use super::{IndexFile, IndexHeader};
use crate::error::Result;

impl IndexFile {
    /// Number behind the last entry of the longest run that can be right: records in order, none before `from`, all
    /// below `log_end`.
    pub fn plausible_count(&self, from: u64, log_end: u64) -> Result<u32> {
        let claimed = self.index_count()?;
        let mut number = 1;
        let mut last = IndexEntry { phy_offset: from, ..IndexEntry::default() };
        while number < claimed {
            let entry = self.entry(number)?;
            let zero = entry.phy_offset == 0 && entry.key_hash == 0 && number > 1;
            let plausible = !zero
                && entry.phy_offset >= last.phy_offset
                && entry.phy_offset < log_end
                && entry.time_diff >= 0
                && entry.previous < number;
            if !plausible {
                break;
            }
            last = entry;
            number += 1;
        }
        Ok(number)
    }

    /// Number of the first of the entries before number `count` from which on all are of records at or behind
    /// `phy_offset`; `count` when the last one is not.
    pub fn first_from(&self, count: u32, phy_offset: u64) -> Result<u32> {
        let mut number = count;
        while number > 1 && self.entry(number - 1)?.phy_offset >= phy_offset {
            number -= 1;
        }
        Ok(number)
    }

    /// Keeps the entries below number `count` and builds every slot anew from them. What is dropped is cleared, and the
    /// file durable afterwards, so that no later state of it can be taken for one of before.
    pub fn rebuild(&self, count: u32) -> Result<()> {
        let before = self.header()?;
        let mut number = count;
        // A crash in the middle of an earlier rebuild may have left entries behind those counted.
        while number < self.geometry.entries
            && (number < before.index_count || self.entry(number)? != IndexEntry::default())
        {
            self.store_entry(number, IndexEntry::default())?;
            number += 1;
        }
        self.rebuild_slots(count, &before)?;
        Ok(self.cells.flush(0, self.geometry.entry_at(number))?)
    }

    fn rebuild_slots(&self, count: u32, before: &IndexHeader) -> Result<()> {
        if count <= 1 {
            self.relink(1)?;
            return self.set_header(&IndexHeader { index_count: 1, ..IndexHeader::default() });
        }
        let used = self.relink(count)?;
        let last = self.entry(count - 1)?;
        let end_timestamp = before.begin_timestamp.saturating_add(i64::from(last.time_diff) * 1000 + 999);
        self.set_header(&IndexHeader {
            begin_timestamp: before.begin_timestamp,
            // To the second; the next entry puts it right.
            end_timestamp: end_timestamp.min(before.end_timestamp.max(before.begin_timestamp)),
            begin_phy_offset: self.entry(1)?.phy_offset,
            end_phy_offset: last.phy_offset,
            hash_slot_count: used,
            index_count: count,
        })
    }

    /// Links the entries below number `count`, first in memory (4 bytes a slot), so that the file is gone through in its
    /// order. What is right already is written again as well: after a failed sync the kernel may take pages for clean that
    /// never reached the disk. Returns the number of slots in use.
    fn relink(&self, count: u32) -> Result<u32> {
        // Not `vec![0; _]`: zeros that are only promised would cost two page faults a page, here and there in the loop.
        let mut newest: Vec<u32> = std::iter::repeat_n(0, self.geometry.slots as usize).collect();
        let mut used = 0;
        for number in 1..count {
            let at = self.geometry.entry_at(number);
            let slot = &mut newest[self.geometry.slot_of(self.cells.load_u32(at)?) as usize];
            self.cells.store_u32(at + PREVIOUS_AT, *slot)?;
            used += u32::from(*slot == 0);
            *slot = number;
        }
        for (slot, newest) in (0..).zip(newest) {
            let at = self.geometry.slot_at(slot);
            if newest != 0 || self.cells.load_u32(at)? != 0 {
                self.cells.store_u32(at, newest)?;
            }
        }
        Ok(used)
    }
}
