//! From an offset to the bytes.

use super::MappedFileQueue;
use crate::mapped_file::MappedFile;
use crate::mapped_slice::MappedSlice;
use std::sync::Arc;

impl MappedFileQueue {
    /// The file that holds `offset`, written or not.
    pub fn find(&self, offset: u64) -> Option<Arc<MappedFile>> {
        self.find_among(&self.read_files(), offset).cloned()
    }

    /// The one of these files of the queue that holds `offset`.
    pub(super) fn find_among<'a>(
        &self,
        files: &'a [Arc<MappedFile>],
        offset: u64,
    ) -> Option<&'a Arc<MappedFile>> {
        let first = files.first()?.file_from_offset();
        let index = offset.checked_sub(first)? / self.options.file_size;
        files.get(usize::try_from(index).ok()?)
    }

    /// The first file.
    pub fn first(&self) -> Option<Arc<MappedFile>> {
        self.read_files().first().cloned()
    }

    /// The last file.
    pub fn last(&self) -> Option<Arc<MappedFile>> {
        self.read_files().last().cloned()
    }

    /// A view of `len` committed bytes at `offset`; `None` when they are not all there or cross a file.
    pub fn slice(&self, offset: u64, len: u64) -> Option<MappedSlice> {
        let file = self.find(offset)?;
        file.slice(offset - file.file_from_offset(), len)
    }

    /// A view of everything committed from `offset` to the end of its file; `None` when there is nothing.
    pub fn slice_rest(&self, offset: u64) -> Option<MappedSlice> {
        let file = self.find(offset)?;
        file.slice_rest(offset - file.file_from_offset())
    }

    /// Offset at which the file after the one of `offset` begins.
    pub fn roll_next(&self, offset: u64) -> u64 {
        let size = self.options.file_size;
        offset - offset % size + size
    }
}
