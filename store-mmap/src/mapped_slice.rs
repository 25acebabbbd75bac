use crate::mapping::View;
use std::fmt;
use std::ops::{Deref, Range};

/// A counted view of published bytes. It keeps them mapped (also after their file was deleted) and unchanged for as long
/// as it lives, so it can be handed to a socket without a copy.
#[doc(alias = "SelectMappedBufferResult")]
pub struct MappedSlice {
    view: View,
    start_offset: u64,
}

impl MappedSlice {
    pub(crate) fn new(view: View, start_offset: u64) -> Self {
        Self { view, start_offset }
    }

    /// Queue offset of the first byte.
    pub fn start_offset(&self) -> u64 {
        self.start_offset
    }

    /// A view of a part.
    ///
    /// # Panics
    ///
    /// If the range leaves this view.
    pub fn part(&self, range: Range<usize>) -> Self {
        let start_offset = self.start_offset + range.start as u64;
        Self { view: self.view.part(range), start_offset }
    }
}

impl Clone for MappedSlice {
    fn clone(&self) -> Self {
        self.part(0..self.len())
    }
}

impl Deref for MappedSlice {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.view
    }
}

impl AsRef<[u8]> for MappedSlice {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for MappedSlice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MappedSlice").field("start", &self.start_offset).field("len", &self.len()).finish()
    }
}
