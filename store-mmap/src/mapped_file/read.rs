//! The second door: bytes below the mark, for everyone.
#![allow(unsafe_code, reason = "borrowing published bytes of the mapping")]

use super::MappedFile;
use crate::mapped_slice::MappedSlice;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl MappedFile {
    /// A view of `len` bytes at `position`; `None` unless all of them are published. The view keeps the mapping alive,
    /// also after the file was deleted.
    pub fn slice(self: &Arc<Self>, position: u64, len: u64) -> Option<MappedSlice> {
        // Counted first, checked second: `truncate` reads the count after lowering the mark.
        self.views.fetch_add(1, Ordering::SeqCst);
        let published = position.checked_add(len).is_some_and(|end| end <= self.wrote.load(Ordering::SeqCst));
        if !published {
            self.release_view();
            return None;
        }
        Some(MappedSlice::new(Arc::clone(self), position as usize, len as usize))
    }

    /// A view of everything published from `position` on; `None` when there is nothing.
    pub fn slice_rest(self: &Arc<Self>, position: u64) -> Option<MappedSlice> {
        let len = self.wrote_position().checked_sub(position)?;
        if len == 0 { None } else { self.slice(position, len) }
    }

    /// Copies published bytes into `target`; false unless all of them are published.
    pub fn read_into(self: &Arc<Self>, position: u64, target: &mut [u8]) -> bool {
        match self.slice(position, target.len() as u64) {
            Some(view) => {
                target.copy_from_slice(&view);
                true
            }
            None => false,
        }
    }

    /// Number of views held.
    pub fn views(&self) -> usize {
        self.views.load(Ordering::SeqCst)
    }

    pub(crate) fn add_view(&self) {
        self.views.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn release_view(&self) {
        self.views.fetch_sub(1, Ordering::SeqCst);
    }

    /// Bytes of a view.
    pub(crate) fn viewed(&self, position: usize, len: usize) -> &[u8] {
        // SAFETY: only `MappedSlice` calls this, with a range that was below the mark while the view was already counted.
        // The writer stays above the mark, and `truncate` refuses to lower it while a view is counted.
        unsafe { self.mapping.slice(position, len) }
    }
}
