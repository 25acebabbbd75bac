//! Making the index agree with the log: after a crash, and where the log was cut.

use super::IndexFileSet;
use crate::error::Result;
use crate::index_file::IndexFile;
use std::sync::Arc;

impl IndexFileSet {
    /// After a crash: keeps the longest run of entries over all files that agrees with a log that ends at `log_end`
    /// (files closed before `safe_timestamp`, the checkpoint's index time, are durable and not looked at), and drops the
    /// entries of the last record in it, which may have had more keys than arrived here. Returns the position from
    /// which records have to be indexed again; `None`: all of them.
    pub fn recover(&self, log_end: u64, safe_timestamp: i64) -> Result<Option<u64>> {
        let files = self.files();
        let mut from = 0;
        for (position, file) in files.iter().enumerate() {
            let header = file.header()?;
            // The next file may end at the same time and not be durable: only what ends earlier is.
            let durable = header.end_timestamp > 0
                && header.end_timestamp < safe_timestamp
                && header.end_phy_offset < log_end
                && file.is_full()?;
            if durable {
                from = header.end_phy_offset;
                continue;
            }
            let count = file.plausible_count(from, log_end)?;
            // A file is followed by another only once it is full: one that is not has lost entries.
            let is_last = position + 1 == files.len() || count < file.geometry().entries;
            if is_last || count < header.index_count {
                files[position + 1..].iter().rev().try_for_each(|file| self.remove(file))?;
                return self.drop_last_record(Some(count));
            }
            file.rebuild(count)?;
            from = file.header()?.end_phy_offset.max(from);
        }
        self.drop_last_record(None)
    }

    /// Drops the entries of the last record, in the last file among those below number `usable` if that is given.
    fn drop_last_record(&self, mut usable: Option<u32>) -> Result<Option<u64>> {
        let mut record = None;
        while let Some(last) = self.last() {
            let count = usable.take().map_or_else(|| last.index_count(), Ok)?;
            if count > 1 {
                let phy_offset = last.entry(count - 1)?.phy_offset;
                if *record.get_or_insert(phy_offset) != phy_offset {
                    break;
                }
                let keep = last.first_from(count, phy_offset)?;
                if keep > 1 {
                    last.rebuild(keep)?;
                    break;
                }
            }
            // Nothing is left in this file; the record may begin in the one before.
            self.remove(&last)?;
        }
        Ok(record)
    }

    /// Drops the entries of records at or behind `log_end`.
    pub fn truncate(&self, log_end: u64) -> Result<()> {
        while let Some(last) = self.last() {
            let count = last.index_count()?;
            let keep = last.first_from(count, log_end)?;
            if keep > 1 {
                if keep < count {
                    last.rebuild(keep)?;
                }
                break;
            }
            self.remove(&last)?;
        }
        Ok(())
    }

    /// Deletes files (but the last) whose records all lie below `log_min`; returns how many.
    pub fn delete_expired(&self, log_min: u64) -> Result<usize> {
        let mut deleted = 0;
        loop {
            let files = self.files();
            let Some(first) = files.first().filter(|_| files.len() > 1) else { return Ok(deleted) };
            if first.header()?.end_phy_offset >= log_min {
                return Ok(deleted);
            }
            self.remove(first)?;
            deleted += 1;
        }
    }

    fn remove(&self, file: &Arc<IndexFile>) -> Result<()> {
        self.env.disk().remove_file(file.path())?;
        self.env.disk().sync_dir(&self.directory)?;
        self.write_files().retain(|other| !Arc::ptr_eq(other, file));
        Ok(())
    }
}
