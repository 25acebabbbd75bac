//! After a crash: entries are appended in log order, so the longest plausible run of them is kept and the slots, which
//! are rewritten in place, are built anew from it.

use super::format::IndexEntry;
use super::{IndexFile, IndexHeader};
use crate::error::Result;

impl IndexFile {
    /// Brings the file into a state that agrees with a log that ends at `log_end`: keeps entries 1… as long as their
    /// records lie in order below `log_end`, drops all entries of the last record kept (it may have more keys than
    /// arrived here), rebuilds every slot. Returns the position from which records have to be indexed again.
    pub fn recover(&self, log_end: u64) -> Result<Option<u64>> {
        let count = self.plausible_count(log_end)?;
        let before = self.header()?;
        if count <= 1 {
            self.reset()?;
            return Ok(None);
        }
        let last = self.entry(count - 1)?.phy_offset;
        let mut keep = count;
        while keep > 1 && self.entry(keep - 1)?.phy_offset == last {
            keep -= 1;
        }
        if keep == 1 {
            self.reset()?;
            return Ok(Some(last));
        }
        self.rebuild(keep, &before)?;
        Ok(Some(last))
    }

    /// Drops entries of records at or behind `log_end`.
    pub fn truncate(&self, log_end: u64) -> Result<()> {
        let header = self.header()?;
        if header.index_count > 1 && header.end_phy_offset >= log_end {
            self.recover(log_end)?;
        }
        Ok(())
    }

    fn plausible_count(&self, log_end: u64) -> Result<u32> {
        let claimed = self.index_count()?;
        let mut number = 1;
        let mut last = IndexEntry::default();
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

    fn reset(&self) -> Result<()> {
        self.clear_slots()?;
        self.set_header(&IndexHeader { index_count: 1, ..IndexHeader::default() })
    }

    fn rebuild(&self, count: u32, before: &IndexHeader) -> Result<()> {
        self.clear_slots()?;
        let mut used = 0;
        for number in 1..count {
            if self.link(number, self.entry(number)?)? {
                used += 1;
            }
        }
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

    fn clear_slots(&self) -> Result<()> {
        for slot in 0..self.geometry.slots {
            let at = self.geometry.slot_at(slot);
            if self.cells.load_u32(at)? != 0 {
                self.cells.store_u32(at, 0)?;
            }
        }
        Ok(())
    }
}
