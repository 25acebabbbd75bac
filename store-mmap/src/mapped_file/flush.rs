//! From memory to the disk.

use super::MappedFile;
use crate::error::Result;
use crate::sync::Ordering;

/// Unit in which RocketMQ counts dirty bytes.
const OS_PAGE_SIZE: u64 = 4096;

impl MappedFile {
    /// Writes back what is published and not yet durable, when that is at least `least_pages` pages of 4 KiB, or
    /// anything at all with 0, or the file is full. Returns the durable end.
    ///
    /// # Errors
    ///
    /// [`crate::MapError::Flush`]; the mark stays, and the caller must not take a later success for these bytes' safety.
    pub fn flush(&self, least_pages: u32) -> Result<u64> {
        let _flushing = self.lock_flushing();
        let wrote = self.wrote_position();
        let flushed = self.flushed.load(Ordering::Acquire);
        if !self.worth_flushing(wrote, flushed, least_pages) {
            return Ok(flushed);
        }
        self.mapping.map().flush(&self.path, flushed as usize, wrote as usize)?;
        self.flushed.store(wrote, Ordering::Release);
        Ok(wrote)
    }

    /// Writes back everything published from `from` on, whatever the durable end says: after a crash of the process,
    /// bytes that were found in the file may so far stand in the page cache alone.
    ///
    /// # Errors
    ///
    /// As [`MappedFile::flush`].
    pub fn sync_from(&self, from: u64) -> Result<()> {
        let wrote = self.wrote_position();
        if from < wrote {
            self.mapping.map().flush(&self.path, from as usize, wrote as usize)?;
        }
        Ok(())
    }

    fn worth_flushing(&self, wrote: u64, flushed: u64, least_pages: u32) -> bool {
        if wrote <= flushed {
            return false;
        }
        let pages = wrote / OS_PAGE_SIZE - flushed / OS_PAGE_SIZE;
        least_pages == 0 || wrote == self.file_size() || pages >= u64::from(least_pages)
    }
}
