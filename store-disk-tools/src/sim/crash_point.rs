//! The moment at which the power fails, and what it may leave.

use super::content::{Content, History};
use super::image::{FileImage, Image, ImageNode};
use super::names::{Names, Node};
use super::page::{PageImage, SECTORS, WORDS};
use super::random::SimRandom;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Parts that are not durable up to which every combination of lost and kept ones is an image.
const ALL_COMBINATIONS: usize = 5;

/// A disk at the moment at which one of its operations begins: what is durable, and what is on its way.
#[derive(Debug, Clone)]
pub struct CrashPoint {
    operation: u64,
    names: Names,
    files: BTreeMap<u64, FileState>,
}

#[derive(Debug, Clone)]
struct FileState {
    history: Arc<History>,
    dropped: BTreeMap<usize, PageImage>,
}

/// What a power cut leaves of everything that is not durable.
struct Choice<'a> {
    /// For each change of a name, whether it happened.
    names: Vec<bool>,
    /// Which of `n` lengths or of `n` versions of a page is found.
    part: &'a mut dyn FnMut(&[PageImage]) -> PageImage,
    len: &'a mut dyn FnMut(&[usize]) -> usize,
}

impl CrashPoint {
    pub(super) fn new(operation: u64, names: &Names, files: &mut BTreeMap<u64, Content>) -> Self {
        let mut states = BTreeMap::new();
        for file in names.files() {
            let Some(content) = files.get_mut(&file).filter(|_| !states.contains_key(&file)) else {
                continue;
            };
            content.observe();
            let (history, dropped) = (Arc::clone(content.history()), content.dropped().clone());
            states.insert(file, FileState { history, dropped });
        }
        Self { operation, names: names.clone(), files: states }
    }

    /// Number of the operation that does not happen any more.
    pub fn operation(&self) -> u64 {
        self.operation
    }

    /// Changes of names that are not durable.
    pub fn unsynced_names(&self) -> usize {
        self.names.pending()
    }

    /// Names, lengths and pages that are not durable.
    pub fn unsynced(&self) -> usize {
        let of_file = |state: &FileState| {
            let pages = state.history.pages.iter().filter(|versions| versions.len() > 1).count();
            pages + usize::from(state.history.lens.len() > 1)
        };
        self.names.pending() + self.files.values().map(of_file).sum::<usize>()
    }

    /// What a power cut may leave: with few parts not durable every combination of lost and kept ones; with more nothing
    /// of them, all of them, all but one and only one, for each. Then `torn` images by chance from `seed`, with older
    /// versions and torn pages.
    pub fn images(&self, seed: u64, torn: usize) -> impl Iterator<Item = Image> {
        let parts = self.unsynced();
        let whole = if parts <= ALL_COMBINATIONS { 1 << parts } else { 2 + 2 * parts };
        let torn = if parts == 0 { 0 } else { torn };
        let mut random = SimRandom::new(seed ^ self.operation.wrapping_mul(0x2545_F491_4F6C_DD1D));
        (0..whole + torn).map(move |number| match number.checked_sub(whole) {
            None if parts <= ALL_COMBINATIONS => self.whole(|part| number >> part & 1 == 1),
            None => self.whole(|part| match number {
                0 | 1 => number == 1,
                _ => (part == (number - 2) / 2) == (number % 2 == 0),
            }),
            Some(_) => self.by_chance(&mut random),
        })
    }

    /// Everything that is not durable is lost.
    pub fn least(&self) -> Image {
        self.whole(|_| false)
    }

    /// Everything has reached the disk.
    pub fn most(&self) -> Image {
        self.whole(|_| true)
    }

    /// The parts for which `kept` says so have reached the disk as they are, the others have not.
    fn whole(&self, kept: impl Fn(usize) -> bool) -> Image {
        let names = (0..self.names.pending()).map(&kept).collect();
        let number = std::cell::Cell::new(self.names.pending());
        let next = || {
            number.set(number.get() + 1);
            kept(number.get() - 1)
        };
        self.image(Choice {
            names,
            part: &mut |versions| versions[if next() { versions.len() - 1 } else { 0 }].clone(),
            len: &mut |lens| lens[if next() { lens.len() - 1 } else { 0 }],
        })
    }

    /// Every part as chance will have it.
    pub fn by_chance(&self, random: &mut SimRandom) -> Image {
        let names = self.names.choose(random);
        // Some images lose nearly everything, some nearly nothing.
        let kept_of_8 = [1, 2, 4, 6, 7][random.below(5)];
        let chance = std::cell::RefCell::new(random);
        self.image(Choice {
            names,
            part: &mut |versions| page_by_chance(versions, kept_of_8, &mut chance.borrow_mut()),
            len: &mut |lens| {
                let mut random = chance.borrow_mut();
                if random.happens(kept_of_8, 8) {
                    lens[lens.len() - 1]
                } else {
                    lens[random.below(lens.len())]
                }
            },
        })
    }

    fn image(&self, choice: Choice<'_>) -> Image {
        let tree = self.names.after_power_cut(|number| choice.names[number]);
        let mut found = BTreeMap::new();
        // In the order of the files and not of their names: a part has the same number in every image.
        for (file, state) in &self.files {
            let lens = &state.history.lens;
            let len = if lens.len() > 1 { (choice.len)(lens) } else { lens[0] };
            let pages = state.history.pages.iter();
            let pages = pages
                .map(|page| if page.len() > 1 { (choice.part)(page) } else { page[0].clone() })
                .collect();
            found.insert(*file, Arc::new(FileImage::new(len, state.history.modified, pages)));
        }
        let node = |node: Node| match node {
            Node::Directory => Some(ImageNode::Directory),
            Node::File(file) => found.get(&file).cloned().map(ImageNode::File),
        };
        Image { nodes: tree.into_iter().filter_map(|(path, is)| Some((path, node(is)?))).collect() }
    }

    /// Names and files of a machine whose process was killed here: everything written is there, what was not durable
    /// still is not.
    pub(super) fn resume(&self) -> (Names, BTreeMap<u64, Content>) {
        let files = self.files.iter();
        let files = files.map(|(file, state)| (*file, Content::resume(&state.history, &state.dropped)));
        (self.names.clone(), files.collect())
    }
}

/// One version of a page, or sectors of two.
fn page_by_chance(versions: &[PageImage], kept_of_8: usize, random: &mut SimRandom) -> PageImage {
    let last = versions.len() - 1;
    let later = if random.happens(3, 4) { last } else { 1 + random.below(last) };
    let earlier = random.below(later + 1);
    match random.below(4) {
        0 => versions[earlier].with_sectors(&versions[later], random.next_number() as u8),
        1 => {
            let sectors = (1 << random.below(SECTORS)) - 1;
            let page = versions[earlier].with_sectors(&versions[later], sectors);
            page.with_torn_sector(&versions[later], random.below(WORDS))
        }
        _ if random.happens(kept_of_8, 8) => versions[later].clone(),
        _ => versions[earlier.min(later - 1)].clone(),
    }
}
