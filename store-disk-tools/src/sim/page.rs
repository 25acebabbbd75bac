//! One page of a file at some moment.

use std::sync::{Arc, LazyLock};

/// Bytes of a page: the unit of write-back, and the alignment of a mapping.
pub(super) const PAGE: usize = 4096;
/// Words of 8 bytes in a page. A word holds its bytes as they lie in memory.
pub(super) const WORDS: usize = PAGE / 8;
/// Words of a sector: what a disk writes at once.
const SECTOR_WORDS: usize = 64;
/// Sectors of a page.
pub(super) const SECTORS: usize = WORDS / SECTOR_WORDS;

static ZERO: LazyLock<PageImage> = LazyLock::new(|| PageImage::new([0; WORDS]));

/// The bytes of a page at some moment; clones share them.
#[derive(Debug, Clone)]
pub(super) struct PageImage(Arc<Words>);

#[derive(Debug)]
struct Words {
    words: [u64; WORDS],
    hash: u64,
}

impl PageImage {
    pub(super) fn new(words: [u64; WORDS]) -> Self {
        let hash = words.iter().fold(0, |hash, word| mix(hash, *word));
        Self(Arc::new(Words { words, hash }))
    }

    /// A page that was never written.
    pub(super) fn zero() -> Self {
        ZERO.clone()
    }

    pub(super) fn is_zero(&self) -> bool {
        self.same(&ZERO)
    }

    pub(super) fn words(&self) -> &[u64; WORDS] {
        &self.0.words
    }

    pub(super) fn hash(&self) -> u64 {
        self.0.hash
    }

    pub(super) fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.0.hash == other.0.hash && self.0.words == other.0.words)
    }

    /// Each sector from `self` or, where its bit in `from_other` is set, from `other`.
    pub(super) fn with_sectors(&self, other: &Self, from_other: u8) -> Self {
        let mut words = self.0.words;
        for sector in (0..SECTORS).filter(|sector| from_other >> sector & 1 == 1) {
            let range = sector * SECTOR_WORDS..(sector + 1) * SECTOR_WORDS;
            words[range.clone()].copy_from_slice(&other.0.words[range]);
        }
        Self::new(words)
    }

    /// `other` up to word number `word` of the page, within the sector that word is in; the rest from `self`.
    pub(super) fn with_torn_sector(&self, other: &Self, word: usize) -> Self {
        let range = word - word % SECTOR_WORDS..word;
        let mut words = self.0.words;
        words[range.clone()].copy_from_slice(&other.0.words[range]);
        Self::new(words)
    }

    /// The page up to byte `len`, zeros behind.
    pub(super) fn cut(&self, len: usize) -> Self {
        if len >= PAGE {
            return self.clone();
        }
        let mut words = self.0.words;
        let whole = len / 8;
        if len % 8 != 0 {
            let mask = u64::MAX << (64 - len % 8 * 8);
            words[whole] &= mask.to_be();
        }
        words[len.div_ceil(8)..].fill(0);
        let cut = Self::new(words);
        if cut.same(self) { self.clone() } else { cut }
    }

    /// The page with bit `bit` of byte `at` changed.
    pub(super) fn with_flipped_bit(&self, at: usize, bit: u32) -> Self {
        let mut words = self.0.words;
        words[at / 8] ^= byte_in_word(1 << bit, at % 8);
        Self::new(words)
    }
}

/// A word whose byte at place `at` (in memory) is `byte`, all others 0.
pub(super) fn byte_in_word(byte: u8, at: usize) -> u64 {
    (u64::from(byte) << (56 - 8 * at)).to_be()
}

/// One more number in a hash.
pub(super) fn mix(hash: u64, number: u64) -> u64 {
    let mixed = (hash.rotate_left(23) ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 29)
}
