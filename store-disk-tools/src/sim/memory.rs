use super::page::{PAGE, PageImage, WORDS, byte_in_word};
use super::world::Shared;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[repr(C, align(4096))]
struct Page([AtomicU64; WORDS]);

/// What a file holds now, reached by calls and by mappings alike. Words are atomics so that this module stays safe; the
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
        let zero_page = || Page([const { AtomicU64::new(0) }; WORDS]);
        Self { pages: (0..len.div_ceil(PAGE)).map(|_| zero_page()).collect() }
    }

    /// Memory that holds `pages`.
    pub(super) fn of(pages: &[PageImage]) -> Self {
        let memory = Self::new(pages.len() * PAGE);
        for (page, image) in pages.iter().enumerate() {
            memory.set_page(page, image);
        }
        memory
    }

    /// The same bytes with room for `len`, which is not less.
    pub(super) fn resized(&self, len: usize) -> Self {
        let larger = Self::new(len);
        for page in 0..self.pages.len() {
            larger.set_page(page, &self.page(page));
        }
        larger
    }

    fn set_page(&self, page: usize, image: &PageImage) {
        if image.is_zero() {
            return;
        }
        for (cell, word) in self.pages[page].0.iter().zip(image.words()) {
            cell.store(*word, Ordering::Relaxed);
        }
    }

    pub(super) fn pages(&self) -> usize {
        self.pages.len()
    }

    pub(super) fn capacity(&self) -> usize {
        self.pages.len() * PAGE
    }

    /// The page as it is now; one beyond the memory is zero.
    pub(super) fn page(&self, page: usize) -> PageImage {
        let Some(page) = self.pages.get(page) else { return PageImage::zero() };
        let mut words = [0; WORDS];
        for (word, cell) in words.iter_mut().zip(&page.0) {
            *word = cell.load(Ordering::Relaxed);
        }
        PageImage::new(words)
    }

    /// True when the page is as in `image`.
    pub(super) fn is(&self, page: usize, image: &PageImage) -> bool {
        let Some(page) = self.pages.get(page) else { return image.is_zero() };
        page.0.iter().zip(image.words()).all(|(cell, word)| cell.load(Ordering::Relaxed) == *word)
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        &self.pages[at / PAGE].0[at % PAGE / 8]
    }

    pub(super) fn read(&self, at: usize, buf: &mut [u8]) {
        let mut done = 0;
        while done < buf.len() {
            let from = at + done;
            // `to_be_bytes` of the word in big-endian order: the bytes as they lie in memory, on any machine.
            let bytes = u64::from_be(self.word(from).load(Ordering::Relaxed)).to_be_bytes();
            let part = (8 - from % 8).min(buf.len() - done);
            buf[done..done + part].copy_from_slice(&bytes[from % 8..from % 8 + part]);
            done += part;
        }
    }

    pub(super) fn write(&self, at: usize, bytes: &[u8]) {
        let mut done = 0;
        while done < bytes.len() {
            let to = at + done;
            let cell = self.word(to);
            match bytes[done..].first_chunk::<8>() {
                Some(word) if to % 8 == 0 => {
                    cell.store(u64::from_be_bytes(*word).to_be(), Ordering::Relaxed);
                    done += 8;
                }
                _ => {
                    let changed = cell.load(Ordering::Relaxed) & byte_in_word(0xFF, to % 8);
                    cell.fetch_xor(changed ^ byte_in_word(bytes[done], to % 8), Ordering::Relaxed);
                    done += 1;
                }
            }
        }
    }

    /// Makes the bytes `from..to` zero, as far as there are any.
    pub(super) fn clear(&self, from: usize, to: usize) {
        let mut at = from;
        let to = to.min(self.capacity());
        while at < to {
            if at % 8 == 0 && at + 8 <= to {
                self.word(at).store(0, Ordering::Relaxed);
                at += 8;
            } else {
                self.write(at, &[0]);
                at += 1;
            }
        }
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
