use super::disk::Shared;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Bytes of a page: the unit of write-back, and the alignment of a mapping.
pub(super) const PAGE: usize = 4096;

#[repr(C, align(4096))]
struct Page([AtomicU8; PAGE]);

/// What a file holds now, reached by calls and by mappings alike. Bytes are atomics so that this module stays safe; the
/// mapping layer borrows them under its own rules.
pub(super) struct Memory {
    pages: Box<[Page]>,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").field("pages", &self.pages.len()).finish()
    }
}

impl Memory {
    /// Zeros for `len` bytes.
    pub(super) fn new(len: usize) -> Self {
        let zero_page = || Page(std::array::from_fn(|_| AtomicU8::new(0)));
        Self { pages: (0..len.div_ceil(PAGE)).map(|_| zero_page()).collect() }
    }

    /// The same bytes with room for `len`.
    pub(super) fn resized(&self, len: usize) -> Self {
        let larger = Self::new(len);
        for (at, byte) in (0..self.capacity().min(larger.capacity())).map(|at| (at, self.get(at))) {
            if byte != 0 {
                larger.set(at, byte);
            }
        }
        larger
    }

    pub(super) fn capacity(&self) -> usize {
        self.pages.len() * PAGE
    }

    pub(super) fn get(&self, at: usize) -> u8 {
        self.pages[at / PAGE].0[at % PAGE].load(Ordering::Relaxed)
    }

    pub(super) fn set(&self, at: usize, byte: u8) {
        self.pages[at / PAGE].0[at % PAGE].store(byte, Ordering::Relaxed);
    }

    /// Bytes of a page, cut at `len` of the file.
    pub(super) fn page(&self, page: usize, len: usize) -> Vec<u8> {
        let end = ((page + 1) * PAGE).min(len);
        (page * PAGE..end.max(page * PAGE)).map(|at| self.get(at)).collect()
    }
}

/// A simulated file as memory, for the layer that maps files.
#[derive(Debug, Clone)]
pub struct SimMapping {
    pub(super) memory: Arc<Memory>,
    pub(super) world: Arc<Shared>,
    pub(super) file: u64,
}

impl SimMapping {
    /// Address of the first byte; page-aligned and valid as long as this value (or a clone) lives.
    pub fn base(&self) -> *const u8 {
        self.memory.pages.as_ptr().cast()
    }

    /// Bytes that can be reached.
    pub fn len(&self) -> usize {
        self.memory.capacity()
    }

    /// True for a file without bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the pages of `from..to` back, as `msync` does.
    ///
    /// # Errors
    ///
    /// A planned fault, or no power.
    pub fn sync_range(&self, from: usize, to: usize) -> io::Result<()> {
        self.world.sync_content(self.file, from..to)
    }
}
