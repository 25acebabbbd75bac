use crate::mapped_file::MappedFile;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A counted view of published bytes. It keeps its file mapped (also after deletion) and its bytes unchanged for as
/// long as it lives, so it can be handed to a socket without a copy.
#[doc(alias = "SelectMappedBufferResult")]
pub struct MappedSlice {
    file: Arc<MappedFile>,
    position: usize,
    len: usize,
}

impl MappedSlice {
    /// Takes over a view that `MappedFile::slice` has counted.
    pub(crate) fn new(file: Arc<MappedFile>, position: usize, len: usize) -> Self {
        Self { file, position, len }
    }

    /// Queue offset of the first byte.
    pub fn start_offset(&self) -> u64 {
        self.file.file_from_offset() + self.position as u64
    }

    /// A view of a part.
    ///
    /// # Panics
    ///
    /// If the range leaves this view.
    pub fn part(&self, range: Range<usize>) -> Self {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "{range:?} leaves a view of {} bytes",
            self.len
        );
        self.file.add_view();
        Self::new(Arc::clone(&self.file), self.position + range.start, range.end - range.start)
    }
}

impl Clone for MappedSlice {
    fn clone(&self) -> Self {
        self.part(0..self.len)
    }
}

impl Drop for MappedSlice {
    fn drop(&mut self) {
        self.file.release_view();
    }
}

impl Deref for MappedSlice {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.file.viewed(self.position, self.len)
    }
}

impl AsRef<[u8]> for MappedSlice {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for MappedSlice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MappedSlice").field("start", &self.start_offset()).field("len", &self.len).finish()
    }
}
