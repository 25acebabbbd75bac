//! A write buffer in front of the file: appended bytes wait there until they are committed.
//!
//! Committed bytes are written by a call (`DiskFile::write_all_at`), not copied into the mapping. On Linux, macOS and
//! FreeBSD both reach the same page cache, so readers of the mapping see them. A call reports an error where a store into a mapping raises SIGBUS;
//! it takes no page faults; and it marks the pages it wrote dirty and no others, so that a flush writes what was
//! appended (see [`crate::AccessPolicy`]). It is also an operation of the simulated disk, at which tests cut the power.

use super::{MappedFile, worth_moving};
use crate::error::{MapError, Result};
use crate::mapping::View;
use crate::sync::{Mutex, MutexGuard, PoisonError};
use crate::transient_store_pool::LentBuffer;

/// What stands in front of a file.
#[derive(Debug)]
pub(super) struct Stage {
    /// `None` once everything was committed.
    buffer: Mutex<Option<LentBuffer>>,
}

impl Stage {
    fn lock(&self) -> MutexGuard<'_, Option<LentBuffer>> {
        // Buffer there or not: whole at every moment.
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appended bytes from `committed` on that are worth a write.
    fn waiting(&self, committed: u64, least_pages: u32) -> Option<View> {
        let buffer = self.lock();
        let memory = buffer.as_ref()?.memory();
        let (wrote, size) = (memory.wrote(), memory.map().len() as u64);
        if !worth_moving(committed, wrote, size, least_pages) {
            return None;
        }
        memory.view(committed, wrote - committed)
    }

    /// End of what was appended; `None` without a buffer.
    pub(super) fn wrote(&self) -> Option<u64> {
        self.lock().as_ref().map(|buffer| buffer.memory().wrote())
    }

    /// Appends to the buffer; without one gives `fill` back.
    pub(super) fn append_with<F: FnOnce(&mut [u8]) -> Result<()>>(
        &self,
        len: u64,
        prepare: impl FnOnce(u64, u64) -> Result<()>,
        fill: F,
    ) -> std::result::Result<Result<u64>, F> {
        let buffer = self.lock();
        let Some(lent) = &*buffer else { return Err(fill) };
        let used = lent.is_used();
        Ok(lent.memory().append_with(len, prepare, |target| {
            if used {
                // What an earlier file held must not get into this one.
                target.fill(0);
            }
            fill(target)
        }))
    }

    /// Forgets what was not committed and gives the buffer back.
    pub(super) fn discard(&self) {
        *self.lock() = None;
    }
}

impl MappedFile {
    /// Puts `buffer` in front of a file that nothing was appended to yet. A file that has or had one, or a buffer of
    /// another size, is left as it is, and false returned.
    pub(crate) fn stage_in(&self, buffer: LentBuffer) -> bool {
        let fits = buffer.memory().map().len() as u64 == self.file_size();
        fits && self.wrote_position() == 0
            && self.stage.set(Stage { buffer: Mutex::new(Some(buffer)) }).is_ok()
    }

    /// True while a write buffer stands in front of the file.
    pub fn is_staged(&self) -> bool {
        self.stage.get().is_some_and(|stage| stage.lock().is_some())
    }

    /// Moves appended bytes from the write buffer to the file, where they can be read, when that is at least
    /// `least_pages` pages of 4 KiB, or anything at all with 0, or the file is full. Once a full file is committed its
    /// buffer goes back to the pool. Returns the committed end. Bytes become readable append by append, never part of one.
    ///
    /// # Errors
    ///
    /// [`MapError::Commit`]: the mark stays and the bytes are still in the buffer, so it may be tried again.
    pub fn commit(&self, least_pages: u32) -> Result<u64> {
        let Some(stage) = self.stage.get() else { return Ok(self.committed_position()) };
        let committed = self.mapping.publish_with(|committed| {
            let Some(waiting) = stage.waiting(committed, least_pages) else { return Ok(committed) };
            let to = committed + waiting.len() as u64;
            self.file.write_all_at(&waiting, committed).map_err(|source| MapError::Commit {
                path: self.path.clone(),
                from: committed,
                to,
                source,
            })?;
            Ok(to)
        })?;
        if committed == self.file_size() {
            stage.discard();
            self.advise_full();
        }
        Ok(committed)
    }
}
