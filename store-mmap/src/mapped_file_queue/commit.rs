//! From write buffers to files, file by file in order.

use super::MappedFileQueue;
use crate::error::{MapError, Result};
use crate::mapped_file::MappedFile;
use crate::sync::Arc;
use crate::transient_store_pool::{LentBuffer, TransientStorePool};

impl MappedFileQueue {
    /// The queue with a write buffer of `pool` in front of each file it begins from now on. Files that are there are
    /// written through their mapping until they are full.
    pub fn with_store_pool(mut self, pool: Arc<TransientStorePool>) -> Self {
        self.pool = Some(pool);
        self
    }

    /// Moves appended bytes from write buffers to the files, in order; `least_pages` as for [`MappedFile::commit`].
    /// Returns the offset below which everything can be read.
    ///
    /// # Errors
    ///
    /// [`MapError::Commit`]: nothing was lost, and a later call tries again.
    pub fn commit(&self, least_pages: u32) -> Result<u64> {
        for file in self.staged_files() {
            if file.commit(least_pages)? < file.file_size() {
                break;
            }
        }
        Ok(self.max_offset())
    }

    /// Bytes in write buffers that are not committed yet.
    pub fn uncommitted_bytes(&self) -> u64 {
        self.wrote_offset().saturating_sub(self.max_offset())
    }

    /// The files with a write buffer; they are the last ones.
    fn staged_files(&self) -> Vec<Arc<MappedFile>> {
        let files = self.read_files();
        let first = files.iter().rposition(|file| !file.is_staged()).map_or(0, |last| last + 1);
        files[first..].to_vec()
    }

    /// A buffer for the next file, `None` when it is to be written through its mapping.
    ///
    /// Without a free one everything is committed first, which gives the buffers of full files back, and keeps what can
    /// be read one stretch if the next file goes without.
    ///
    /// # Errors
    ///
    /// [`MapError::NoBuffer`] when the pool fails fast; [`MapError::Commit`].
    pub(super) fn buffer_for_next(&self) -> Result<Option<LentBuffer>> {
        let Some(pool) = &self.pool else { return Ok(None) };
        if let Some(buffer) = pool.borrow_buffer() {
            return Ok(Some(buffer));
        }
        if pool.refuses() {
            return Err(MapError::NoBuffer { directory: self.directories.main().to_owned() });
        }
        self.commit(0)?;
        Ok(pool.borrow_buffer())
    }
}
