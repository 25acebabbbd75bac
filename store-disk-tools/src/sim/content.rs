//! What a file holds: live and durable apart.

use super::memory::{Memory, PAGE};
use super::random::Random;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Bytes that reach the disk whole or not at all.
const SECTOR: usize = 512;

#[derive(Debug)]
pub(super) struct Content {
    pub(super) memory: Arc<Memory>,
    pub(super) len: usize,
    durable: Vec<u8>,
    /// Pages that a failed sync dropped, as they were then: the kernel takes them for clean.
    dropped: BTreeMap<usize, Vec<u8>>,
}

impl Content {
    pub(super) fn new() -> Self {
        Self { memory: Arc::new(Memory::new(0)), len: 0, durable: Vec::new(), dropped: BTreeMap::new() }
    }

    /// A file that holds `durable` and nothing else.
    fn from_durable(durable: Vec<u8>) -> Self {
        let memory = Memory::new(durable.len());
        for (at, byte) in durable.iter().enumerate() {
            memory.set(at, *byte);
        }
        Self { memory: Arc::new(memory), len: durable.len(), durable, dropped: BTreeMap::new() }
    }

    /// Changes the length; new bytes are zero. A file that is mapped keeps its memory as long as that is large enough.
    pub(super) fn set_len(&mut self, len: usize) {
        if len > self.memory.capacity() {
            self.memory = Arc::new(self.memory.resized(len));
        }
        for at in len..self.len {
            self.memory.set(at, 0);
        }
        self.len = len;
    }

    pub(super) fn write(&mut self, bytes: &[u8], at: usize) {
        if at + bytes.len() > self.len {
            self.set_len(at + bytes.len());
        }
        for (offset, byte) in bytes.iter().enumerate() {
            self.memory.set(at + offset, *byte);
        }
    }

    fn pages(&self, range: &Range<usize>) -> Range<usize> {
        range.start / PAGE..range.end.min(self.len).div_ceil(PAGE)
    }

    /// Makes the pages of `range` and the length durable.
    pub(super) fn sync(&mut self, range: &Range<usize>) {
        self.durable.resize(self.len, 0);
        for page in self.pages(range) {
            let bytes = self.memory.page(page, self.len);
            if self.dropped.get(&page) == Some(&bytes) {
                continue;
            }
            self.dropped.remove(&page);
            self.durable[page * PAGE..page * PAGE + bytes.len()].copy_from_slice(&bytes);
        }
    }

    /// A sync of `range` failed: its pages count as clean and are not durable.
    pub(super) fn drop_pages(&mut self, range: &Range<usize>) {
        for page in self.pages(range) {
            let bytes = self.memory.page(page, self.len);
            if self.durable.get(page * PAGE..page * PAGE + bytes.len()) != Some(&bytes[..]) {
                self.dropped.insert(page, bytes);
            }
        }
    }

    /// What the file may hold after a power cut.
    pub(super) fn after_power_cut(&self, random: &mut Random) -> Self {
        let len = if random.below(2) == 0 { self.durable.len() } else { self.len };
        let mut survived = self.durable.clone();
        survived.resize(len, 0);
        for page in 0..len.div_ceil(PAGE) {
            let live = self.memory.page(page, self.len.min(len));
            let old = page * PAGE..(page * PAGE + live.len()).min(len);
            if survived[old.clone()] != live[..] {
                keep_some(&mut survived[old], &live, random);
            }
        }
        Self::from_durable(survived)
    }

    /// What the file holds after its process was killed: everything that was written.
    pub(super) fn after_kill(&self) -> Self {
        let live = (0..self.len).map(|at| self.memory.get(at)).collect();
        let mut content = Self::from_durable(live);
        content.durable = self.durable.clone();
        content.dropped = self.dropped.clone();
        content
    }
}

/// A page is old, new, or new up to some sector.
fn keep_some(old: &mut [u8], live: &[u8], random: &mut Random) {
    let kept = match random.below(3) {
        0 => 0,
        1 => live.len(),
        _ => (random.below((PAGE / SECTOR) as u64) as usize * SECTOR).min(live.len()),
    };
    old[..kept].copy_from_slice(&live[..kept]);
}
