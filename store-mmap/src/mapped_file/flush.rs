//! From memory to the disk.

use super::{MappedFile, worth_moving};
use crate::error::{MapError, Result};
use crate::sync::Ordering;
use std::io;

/// What a sync that failed was asked, and why it failed.
#[derive(Debug)]
pub(super) struct FailedSync {
    from: u64,
    to: u64,
    kind: io::ErrorKind,
    reason: String,
}

/// Bytes written in one call by [`MappedFile::rewrite_from`].
const REWRITTEN_AT_ONCE: u64 = 1 << 20;

impl MappedFile {
    /// Writes back what is committed and not yet durable, when that is at least `least_pages` pages of 4 KiB, or
    /// anything at all with 0, or the file is full. Returns the durable end.
    ///
    /// # Errors
    ///
    /// [`crate::MapError::Flush`]; the mark stays, and so does the error: every later flush of the file reports it, because
    /// the kernel may report success for bytes it has dropped.
    pub fn flush(&self, least_pages: u32) -> Result<u64> {
        let _flushing = self.lock_flushing();
        let committed = self.committed_position();
        let flushed = self.flushed.load(Ordering::Acquire);
        if !worth_moving(flushed, committed, self.file_size(), least_pages) {
            return Ok(flushed);
        }
        self.sync_range(flushed, committed)?;
        self.flushed.store(committed, Ordering::Release);
        Ok(committed)
    }

    /// Writes back everything committed from `from` on, whatever the durable end says: after a crash of the process,
    /// bytes that were found in the file may so far stand in the page cache alone.
    ///
    /// # Errors
    ///
    /// As [`MappedFile::flush`].
    pub fn sync_from(&self, from: u64) -> Result<()> {
        let _flushing = self.lock_flushing();
        let committed = self.committed_position();
        if from < committed {
            self.sync_range(from, committed)?;
        }
        Ok(())
    }

    /// Writes everything committed from `from` on once more, the same bytes, and back to the disk. For recovery: after a
    /// failed sync the kernel takes pages for clean that never reached the disk, and another sync would pass them over.
    /// No view may be held meanwhile, though no byte changes.
    ///
    /// # Errors
    ///
    /// As [`MappedFile::flush`], and whatever the disk reports.
    pub fn rewrite_from(&self, from: u64) -> Result<()> {
        let end = self.committed_position();
        let mut at = from;
        while at < end {
            let len = (end - at).min(REWRITTEN_AT_ONCE);
            let Some(bytes) = self.slice(at, len).map(|view| view.to_vec()) else {
                return self.check_fault();
            };
            self.file.write_all_at(&bytes, at)?;
            at += len;
        }
        self.sync_from(from)
    }

    /// Writes the bytes `from..to` back, appended or not (warm-up).
    ///
    /// # Errors
    ///
    /// As [`MappedFile::flush`].
    pub(crate) fn write_back(&self, from: u64, to: u64) -> Result<()> {
        // The kernel tells an error once: a flush under way could miss one that is told here.
        let _flushing = self.lock_flushing();
        self.sync_range(from, to)
    }

    /// Writes back; the flushing lock is held.
    fn sync_range(&self, from: u64, to: u64) -> Result<()> {
        if let Some(failed) = self.failed_sync.get() {
            return Err(self.flush_error(failed));
        }
        self.mapping.map().flush(&self.path, from as usize, to as usize).map_err(|error| match error {
            MapError::Flush { source, .. } => {
                let failed = FailedSync { from, to, kind: source.kind(), reason: source.to_string() };
                self.flush_error(self.failed_sync.get_or_init(|| failed))
            }
            // A page that could not be delivered is remembered by the mapping.
            other => other,
        })
    }

    fn flush_error(&self, failed: &FailedSync) -> MapError {
        MapError::Flush {
            path: self.path.clone(),
            from: failed.from,
            to: failed.to,
            source: io::Error::new(failed.kind, failed.reason.clone()),
        }
    }
}
