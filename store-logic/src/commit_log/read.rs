//! Reading records by position, without a copy.

use super::CommitLog;
use super::format::{self, BLANK_LEN, Decoded, STORE_TIMESTAMP_END};
use store_mmap::MappedSlice;

impl CommitLog {
    /// `size` bytes at `phy_offset`; `None` when they are not (or no longer) there.
    pub fn slice(&self, phy_offset: u64, size: u32) -> Option<MappedSlice> {
        self.files.slice(phy_offset, u64::from(size))
    }

    /// The record at `phy_offset`, whose size only the record itself tells. Anything but the start of a record, checked
    /// by magic, lengths, CRC and its own position, is `None`.
    pub fn record_at(&self, phy_offset: u64) -> Option<MappedSlice> {
        let rest = self.files.slice_rest(phy_offset)?;
        let Ok(Decoded::Record(view)) = format::decode(&rest, true) else { return None };
        if u64::try_from(view.physical_offset) != Ok(phy_offset) {
            return None;
        }
        let size = view.total_size as usize;
        Some(rest.part(0..size))
    }

    /// The record of `size` bytes at `phy_offset`, as a queue unit names it. The record must say that it stands there (magic,
    /// size, own position): a damaged unit leads to no other bytes. One that is wrong about the size only leads to the
    /// record all the same.
    pub fn record_named(&self, phy_offset: u64, size: u32) -> Option<MappedSlice> {
        let named = self.slice(phy_offset, size);
        let named = named.filter(|record| format::is_head_of(record, phy_offset, size));
        named.or_else(|| self.record_at(phy_offset))
    }

    /// Store time of the record of `size` bytes at `phy_offset`; `None` when it is not there.
    pub fn store_timestamp(&self, phy_offset: u64, size: u32) -> Option<i64> {
        let head = self.files.slice(phy_offset, u64::from(size).min(STORE_TIMESTAMP_END as u64))?;
        format::store_timestamp(&head)
    }

    /// Store time of the first record held.
    pub fn earliest_store_timestamp(&self) -> Option<i64> {
        let first = self.files.first()?;
        let head = first.slice(0, (STORE_TIMESTAMP_END as u64).min(first.committed_position()))?;
        if head.len() <= BLANK_LEN {
            return None;
        }
        format::store_timestamp(&head).filter(|at| *at > 0)
    }
}
