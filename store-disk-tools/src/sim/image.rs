//! What a disk holds, all of it durable.

use super::clock::SimClock;
use super::page::{PAGE, PageImage, mix};
use super::world::SimWorld;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The content of a disk as a machine finds it when it comes up. Cheap to clone: pages are shared.
#[derive(Debug, Clone)]
pub struct Image {
    pub(super) nodes: BTreeMap<Arc<Path>, ImageNode>,
}

#[derive(Debug, Clone)]
pub(super) enum ImageNode {
    Directory,
    File(Arc<FileImage>),
}

#[derive(Debug, Clone)]
pub(super) struct FileImage {
    pub(super) len: usize,
    /// Epoch milliseconds.
    pub(super) modified: i64,
    /// As many as `len` needs; bytes behind it are zero.
    pub(super) pages: Vec<PageImage>,
}

impl FileImage {
    pub(super) fn new(len: usize, modified: i64, mut pages: Vec<PageImage>) -> Self {
        pages.resize_with(len.div_ceil(PAGE), PageImage::zero);
        if let Some(last) = pages.last_mut() {
            *last = last.cut(len - (len.div_ceil(PAGE) - 1) * PAGE);
        }
        Self { len, modified, pages }
    }

    fn hash(&self) -> u64 {
        self.pages.iter().fold(mix(1, self.len as u64), |hash, page| mix(hash, page.hash()))
    }
}

impl Image {
    /// Equal for images with the same names, lengths and bytes; times do not count.
    pub fn hash(&self) -> u64 {
        self.hash_without(&[])
    }

    /// [`Image::hash`] as if the files and directories of these names, and all below, were not there.
    pub fn hash_without(&self, names: &[&str]) -> u64 {
        let mut hash = 0;
        for (path, node) in &self.nodes {
            if !names.is_empty() && path.iter().any(|part| names.iter().any(|name| part == *name)) {
                continue;
            }
            hash = path.as_os_str().as_encoded_bytes().chunks(8).fold(hash, |hash, chunk| {
                let number = chunk.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
                mix(hash, number)
            });
            hash = match node {
                ImageNode::Directory => mix(hash, 0),
                ImageNode::File(file) => mix(hash, file.hash()),
            };
        }
        hash
    }

    /// A machine with this disk that comes up at the time of `clock`.
    pub fn boot(&self, seed: u64, clock: &SimClock) -> SimWorld {
        SimWorld::of_image(self, seed, clock.clone())
    }

    /// Paths of all files.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.nodes.iter().filter_map(|(path, node)| matches!(node, ImageNode::File(_)).then_some(&**path))
    }

    /// Bytes of a file; `None` when there is none.
    pub fn read(&self, path: &Path) -> Option<Vec<u8>> {
        let Some(ImageNode::File(file)) = self.nodes.get(path) else { return None };
        let mut bytes = vec![0; file.len];
        super::memory::Memory::of(&file.pages).read(0, &mut bytes);
        Some(bytes)
    }

    /// The image after bit rot: bit `bit` (0 to 7) of the byte at `at` of a file has changed. `None` when there is no
    /// such byte.
    pub fn flip_bit(&self, path: &Path, at: usize, bit: u32) -> Option<Self> {
        let Some(ImageNode::File(file)) = self.nodes.get(path) else { return None };
        if at >= file.len || bit > 7 {
            return None;
        }
        let mut rotten = FileImage::clone(file);
        rotten.pages[at / PAGE] = rotten.pages[at / PAGE].with_flipped_bit(at % PAGE, bit);
        let mut image = self.clone();
        image.nodes.insert(path.into(), ImageNode::File(Arc::new(rotten)));
        Some(image)
    }

    /// What tells the two apart, file by file: for messages of failed tests.
    pub fn difference(&self, other: &Self) -> String {
        let mut found = String::new();
        let paths: std::collections::BTreeSet<&Path> =
            self.nodes.keys().chain(other.nodes.keys()).map(|path| &**path).collect();
        for path in paths {
            let (one, two) = (self.read(path), other.read(path));
            match (self.nodes.contains_key(path), other.nodes.contains_key(path)) {
                (true, false) => found.push_str(&format!("{}: only before; ", path.display())),
                (false, true) => found.push_str(&format!("{}: only after; ", path.display())),
                _ if one != two => {
                    let (one, two) = (one.unwrap_or_default(), two.unwrap_or_default());
                    let at = one.iter().zip(&two).position(|(one, two)| one != two);
                    let lens = (one.len(), two.len());
                    found.push_str(&format!("{}: lengths {lens:?}, first at {at:?}; ", path.display()));
                }
                _ => {}
            }
        }
        found
    }
}

impl std::fmt::Display for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (path, node) in &self.nodes {
            match node {
                ImageNode::Directory => writeln!(f, "{}/", path.display())?,
                ImageNode::File(file) => {
                    writeln!(f, "{} {} B {:016x}", path.display(), file.len, file.hash())?
                }
            }
        }
        Ok(())
    }
}
