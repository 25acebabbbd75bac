//! Making the queue durable, file by file in order.

use super::MappedFileQueue;
use crate::error::Result;
use crate::sync::{Arc, Ordering};

impl MappedFileQueue {
    /// Writes back committed bytes in order; `least_pages` as for [`crate::MappedFile::flush`]. Returns the offset below
    /// which everything is durable.
    ///
    /// # Errors
    ///
    /// [`crate::MapError::Flush`]: the offset did not move past the bytes at fault, and no later call may be believed.
    pub fn flush(&self, least_pages: u32) -> Result<u64> {
        loop {
            let before = self.flushed_where();
            let Some(file) = self.find_to_flush(before) else { return Ok(before) };
            let position = file.flush(least_pages)?;
            let reached = file.file_from_offset() + position;
            self.flushed_where.fetch_max(reached, Ordering::AcqRel);
            let file_done = position == file.file_size();
            if !file_done {
                return Ok(self.flushed_where());
            }
        }
    }

    /// Writes back everything committed from `from` on, whatever the marks say (after a crash; see
    /// [`crate::MappedFile::sync_from`]).
    ///
    /// # Errors
    ///
    /// [`crate::MapError::Flush`].
    pub fn sync_from(&self, from: u64) -> Result<()> {
        for file in self.files() {
            let position = from.saturating_sub(file.file_from_offset());
            file.sync_from(position)?;
        }
        Ok(())
    }

    /// Writes everything committed from `from` on once more, and back to the disk (see [`crate::MappedFile::rewrite_from`]).
    /// Makes the names of files that begin there durable too: the process may have died before it had done so.
    ///
    /// # Errors
    ///
    /// [`crate::MapError::Flush`], and whatever the disk reports.
    pub fn rewrite_from(&self, from: u64) -> Result<()> {
        let files = self.files();
        if files.last().is_some_and(|last| last.file_from_offset() >= from) {
            self.sync_directories()?;
        }
        for file in files {
            file.rewrite_from(from.saturating_sub(file.file_from_offset()))?;
        }
        Ok(())
    }

    pub(super) fn sync_directories(&self) -> Result<()> {
        for directory in self.directories.all() {
            if self.env.disk().stat(directory)?.is_some() {
                self.env.disk().sync_dir(directory)?;
            }
        }
        Ok(())
    }

    fn find_to_flush(&self, offset: u64) -> Option<Arc<crate::MappedFile>> {
        // One look at the list: a first file that is deleted between two would pass for the end of the queue.
        let files = self.read_files();
        let first = files.first()?;
        // A file that was deleted before it was flushed is past caring.
        if offset < first.file_from_offset() {
            self.flushed_where.fetch_max(first.file_from_offset(), Ordering::AcqRel);
            return Some(Arc::clone(first));
        }
        self.find_among(&files, offset).cloned()
    }
}
