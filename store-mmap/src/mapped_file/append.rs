//! The first door: bytes above the mark, for the one writer.
#![allow(unsafe_code, reason = "the writer's stretch of the mapping")]

use super::MappedFile;
use crate::error::{MapError, Result};
use std::sync::atomic::Ordering;
use store_disk_tools::preallocate;

impl MappedFile {
    /// Copies `bytes` behind the write position and publishes them; returns the position of the first one.
    ///
    /// # Errors
    ///
    /// [`MapError::NoRoom`] when they do not fit, [`MapError::Disk`] when their blocks cannot be reserved. Nothing is
    /// published then.
    pub fn append(&self, bytes: &[u8]) -> Result<u64> {
        self.append_with(bytes.len() as u64, |target| target.copy_from_slice(bytes))
    }

    /// Lets `fill` write `len` bytes in place behind the write position and publishes them; returns the position of the
    /// first one. The target holds whatever was there before (zeros in a fresh file).
    ///
    /// # Errors
    ///
    /// As [`MappedFile::append`].
    pub fn append_with(&self, len: u64, fill: impl FnOnce(&mut [u8])) -> Result<u64> {
        let _writer = self.lock_writer();
        let position = self.wrote.load(Ordering::Relaxed);
        let end = self.end_of(position, len)?;
        self.reserve_up_to(end)?;
        // SAFETY: bytes above the mark are reached only here, under the writer's lock; readers stay below the mark, and
        // `truncate` lowers it only when no view is held.
        let target = unsafe { self.mapping.slice_mut(position as usize, len as usize) };
        fill(target);
        self.wrote.store(end, Ordering::Release);
        Ok(position)
    }

    /// Moves the write position to `end` of the file without writing, so that nothing more is appended.
    pub fn fill_up(&self) {
        let _writer = self.lock_writer();
        self.wrote.store(self.file_size(), Ordering::Release);
    }

    fn end_of(&self, position: u64, len: u64) -> Result<u64> {
        let size = self.file_size();
        match position.checked_add(len) {
            Some(end) if end <= size => Ok(end),
            _ => Err(MapError::NoRoom { path: self.path.clone(), len, position, size }),
        }
    }

    fn reserve_up_to(&self, end: u64) -> Result<()> {
        let reserved = self.reserved.load(Ordering::Relaxed);
        if end <= reserved {
            return Ok(());
        }
        // A file opened as found has unknown holes; they begin at the write position at the earliest.
        let from = reserved.max(self.wrote.load(Ordering::Relaxed));
        let to = end.max(from.saturating_add(self.reserve_step)).min(self.file_size());
        preallocate::reserve(&*self.file, from, to - from)?;
        self.reserved.store(to, Ordering::Relaxed);
        Ok(())
    }
}
