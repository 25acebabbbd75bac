//! Appending: bytes above the mark, for the one writer.

use super::MappedFile;
use crate::error::{MapError, Result};
use crate::sync::Ordering;
use store_disk_tools::preallocate;

impl MappedFile {
    /// Copies `bytes` behind the write position; returns the position of the first one. They can be read at once, or with a
    /// write buffer in front of the file once they are committed.
    ///
    /// # Errors
    ///
    /// [`MapError::NoRoom`] when they do not fit, [`MapError::Disk`] when their blocks cannot be reserved,
    /// [`MapError::Fault`] when the memory could not be written. Nothing is appended then.
    pub fn append(&self, bytes: &[u8]) -> Result<u64> {
        self.append_with(bytes.len() as u64, |target| target.copy_from_slice(bytes))
    }

    /// Lets `fill` write `len` bytes in place behind the write position; returns the position of the first one; see
    /// [`MappedFile::append`]. The target holds whatever was there before (zeros in a fresh file).
    ///
    /// # Errors
    ///
    /// As [`MappedFile::append`].
    pub fn append_with(&self, len: u64, fill: impl FnOnce(&mut [u8])) -> Result<u64> {
        let prepare = |position, end| {
            let size = self.file_size();
            if end > size {
                return Err(MapError::NoRoom { path: self.path.clone(), len, position, size });
            }
            self.reserve_up_to(position, end)
        };
        let fill = |target: &mut [u8]| {
            fill(target);
            self.check_fault()
        };
        let fill = match self.stage.get() {
            Some(stage) => match stage.append_with(len, prepare, fill) {
                Ok(appended) => return appended,
                Err(fill) => fill,
            },
            None => fill,
        };
        let position = self.mapping.append_with(len, prepare, fill)?;
        if position + len == self.file_size() {
            self.advise_full();
        }
        Ok(position)
    }

    fn reserve_up_to(&self, position: u64, end: u64) -> Result<()> {
        let reserved = self.reserved.load(Ordering::Relaxed);
        if end <= reserved {
            return Ok(());
        }
        // A file opened as found has unknown holes; they begin at the write position at the earliest.
        let from = reserved.max(position);
        let to = end.max(from.saturating_add(self.reserve_step)).min(self.file_size());
        preallocate::reserve(&*self.file, from, to - from)?;
        self.reserved.store(to, Ordering::Relaxed);
        Ok(())
    }
}
