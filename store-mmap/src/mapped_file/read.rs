//! Reading: bytes below the mark, for everyone.

use super::MappedFile;
use crate::mapped_slice::MappedSlice;

impl MappedFile {
    /// A view of `len` bytes at `position`; `None` unless all of them are committed, and when they reach to a page that
    /// could not be delivered ([`MappedFile::check_fault`]). The view keeps the bytes mapped, also after the file was
    /// deleted.
    pub fn slice(&self, position: u64, len: u64) -> Option<MappedSlice> {
        if self.mapping.map().fault().is_some_and(|fault| position.saturating_add(len) > fault) {
            return None;
        }
        let view = self.mapping.view(position, len)?;
        Some(MappedSlice::new(view, self.file_from_offset + position))
    }

    /// A view of everything committed from `position` on; `None` when there is nothing.
    pub fn slice_rest(&self, position: u64) -> Option<MappedSlice> {
        let len = self.committed_position().checked_sub(position)?;
        if len == 0 { None } else { self.slice(position, len) }
    }

    /// Number of views held.
    pub fn views(&self) -> usize {
        self.mapping.views()
    }
}
