//! What a file holds: live, durable, and what it has held in between.

use super::image::FileImage;
use super::memory::Memory;
use super::page::{PAGE, PageImage};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Content {
    pub(super) memory: Arc<Memory>,
    pub(super) len: usize,
    /// Epoch milliseconds.
    pub(super) modified: i64,
    history: Arc<History>,
    /// Pages that a failed sync dropped, as they were then: the kernel takes them for clean.
    dropped: BTreeMap<usize, PageImage>,
}

/// What may be found of a file after a power cut.
#[derive(Debug, Clone)]
pub(super) struct History {
    /// Lengths since the last sync, the durable one first.
    pub(super) lens: Vec<usize>,
    /// Every page as it was at the last sync and as it was seen since, the durable one first.
    pub(super) pages: Vec<Vec<PageImage>>,
    pub(super) modified: i64,
}

impl Content {
    pub(super) fn new(now: i64) -> Self {
        Self::of(&FileImage { len: 0, modified: now, pages: Vec::new() })
    }

    /// A file all of which is durable.
    pub(super) fn of(image: &FileImage) -> Self {
        let history = History {
            lens: vec![image.len],
            pages: image.pages.iter().map(|page| vec![page.clone()]).collect(),
            modified: image.modified,
        };
        let memory = Arc::new(Memory::of(&image.pages));
        let dropped = BTreeMap::new();
        Self { memory, len: image.len, modified: image.modified, history: Arc::new(history), dropped }
    }

    /// A file of which what is not durable stays so (its process was killed).
    pub(super) fn resume(history: &Arc<History>, dropped: &BTreeMap<usize, PageImage>) -> Self {
        let len = history.lens.last().copied().unwrap_or(0);
        let live = |versions: &Vec<PageImage>| versions.last().cloned().unwrap_or_else(PageImage::zero);
        let mut pages: Vec<PageImage> = history.pages.iter().map(live).collect();
        let needed = len.div_ceil(PAGE).max(pages.len());
        pages.resize_with(needed, PageImage::zero);
        Self {
            memory: Arc::new(Memory::of(&pages)),
            len,
            modified: history.modified,
            history: Arc::clone(history),
            dropped: dropped.clone(),
        }
    }

    /// Changes the length; new bytes are zero. A file that is mapped keeps its memory as long as that is large enough.
    pub(super) fn set_len(&mut self, len: usize) {
        if len > self.memory.capacity() {
            self.memory = Arc::new(self.memory.resized(len));
        }
        self.memory.clear(len, self.len);
        self.len = len;
    }

    pub(super) fn write(&mut self, bytes: &[u8], at: usize) {
        if at + bytes.len() > self.len {
            self.set_len(at + bytes.len());
        }
        self.memory.write(at, bytes);
        // Written pages are dirty again, whatever a failed sync had made of them.
        for page in at / PAGE..(at + bytes.len()).div_ceil(PAGE) {
            self.dropped.remove(&page);
        }
    }

    /// Notes every page and the length as they are now: the kernel may write them back from here on.
    pub(super) fn observe(&mut self) {
        let pages = self.memory.pages().max(self.history.pages.len());
        for page in 0..pages {
            let last = self.history.pages.get(page).and_then(|versions| versions.last());
            let is_noted = match last {
                Some(last) => self.memory.is(page, last),
                None => self.memory.is(page, &PageImage::zero()),
            };
            if !is_noted {
                let image = self.memory.page(page);
                self.versions(page).push(image);
            }
        }
        if self.history.lens.last() != Some(&self.len) {
            let len = self.len;
            Arc::make_mut(&mut self.history).lens.push(len);
        }
        if self.history.modified != self.modified {
            Arc::make_mut(&mut self.history).modified = self.modified;
        }
    }

    fn versions(&mut self, page: usize) -> &mut Vec<PageImage> {
        let history = Arc::make_mut(&mut self.history);
        while history.pages.len() <= page {
            history.pages.push(vec![PageImage::zero()]);
        }
        &mut history.pages[page]
    }

    pub(super) fn history(&self) -> &Arc<History> {
        &self.history
    }

    pub(super) fn dropped(&self) -> &BTreeMap<usize, PageImage> {
        &self.dropped
    }

    fn pages(&self, range: &Range<usize>) -> Range<usize> {
        range.start / PAGE..range.end.div_ceil(PAGE).min(self.memory.pages().max(self.history.pages.len()))
    }

    /// Makes the pages of `range` and the length durable.
    pub(super) fn sync(&mut self, range: &Range<usize>, now: i64) {
        for page in self.pages(range) {
            let live = self.memory.page(page);
            if self.dropped.get(&page).is_some_and(|dropped| dropped.same(&live)) {
                continue;
            }
            self.dropped.remove(&page);
            let versions = self.versions(page);
            if versions.len() != 1 || !versions[0].same(&live) {
                *versions = vec![live];
                self.modified = now;
            }
        }
        if self.history.lens != [self.len] {
            Arc::make_mut(&mut self.history).lens = vec![self.len];
        }
    }

    /// A sync of `range` failed: its pages count as clean and are not durable.
    pub(super) fn drop_pages(&mut self, range: &Range<usize>) {
        for page in self.pages(range) {
            let live = self.memory.page(page);
            let durable = self.history.pages.get(page).and_then(|versions| versions.first());
            if !durable.is_some_and(|durable| durable.same(&live)) {
                self.dropped.insert(page, live);
            }
        }
    }
}
