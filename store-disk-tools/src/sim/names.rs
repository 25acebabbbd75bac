//! Directory entries: live and durable apart.

use super::random::Random;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Node {
    File(u64),
    Directory,
}

/// A change that may not be durable yet.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Change {
    Put(PathBuf, Node),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf),
}

type Tree = BTreeMap<PathBuf, Node>;

#[derive(Debug, Default)]
pub(super) struct Names {
    live: Tree,
    durable: Tree,
    /// Changes since, in order.
    pending: Vec<Change>,
}

impl Names {
    pub(super) fn get(&self, path: &Path) -> Option<Node> {
        self.live.get(path).copied()
    }

    pub(super) fn put(&mut self, path: &Path, node: Node) {
        self.change(Change::Put(path.to_owned(), node));
    }

    pub(super) fn remove(&mut self, path: &Path) {
        self.change(Change::Remove(path.to_owned()));
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) {
        self.change(Change::Rename(from.to_owned(), to.to_owned()));
    }

    fn change(&mut self, change: Change) {
        apply(&mut self.live, &change);
        self.pending.push(change);
    }

    /// Names directly in `directory`, in order.
    pub(super) fn list(&self, directory: &Path) -> Vec<(String, Node)> {
        let inside = self.live.iter().filter(|(path, _)| path.parent() == Some(directory));
        inside.filter_map(|(path, node)| Some((path.file_name()?.to_str()?.to_owned(), *node))).collect()
    }

    /// Makes the changes of names in `directory` durable.
    pub(super) fn sync(&mut self, directory: &Path) {
        let in_directory = |path: &Path| path.parent() == Some(directory);
        let (synced, pending) =
            std::mem::take(&mut self.pending).into_iter().partition(|change| match change {
                Change::Put(path, _) | Change::Remove(path) => in_directory(path),
                Change::Rename(from, to) => in_directory(from) || in_directory(to),
            });
        self.pending = pending;
        let synced: Vec<Change> = synced;
        for change in &synced {
            apply(&mut self.durable, change);
        }
    }

    /// The names after a power cut: the changes not yet durable have happened up to some point.
    pub(super) fn after_power_cut(&self, random: &mut Random) -> Self {
        let happened = random.below(self.pending.len() as u64 + 1) as usize;
        let mut names = self.durable.clone();
        for change in &self.pending[..happened] {
            apply(&mut names, change);
        }
        // A name whose directory is not there cannot be reached.
        let reachable = |path: &Path| {
            path.ancestors().skip(1).all(|above| above.parent().is_none() || names.contains_key(above))
        };
        let live: Tree = names
            .iter()
            .filter(|(path, _)| reachable(path))
            .map(|(path, node)| (path.clone(), *node))
            .collect();
        Self { durable: live.clone(), live, pending: Vec::new() }
    }

    /// The names after the process was killed: all changes have happened, those pending stay so.
    pub(super) fn after_kill(&self) -> Self {
        Self { live: self.live.clone(), durable: self.durable.clone(), pending: self.pending.clone() }
    }

    /// Files that a name stands for.
    pub(super) fn files(&self) -> impl Iterator<Item = u64> {
        self.live.values().chain(self.durable.values()).filter_map(|node| match node {
            Node::File(file) => Some(*file),
            Node::Directory => None,
        })
    }
}

fn apply(names: &mut Tree, change: &Change) {
    match change {
        Change::Put(path, node) => {
            names.insert(path.clone(), *node);
        }
        Change::Remove(path) => {
            names.remove(path);
        }
        Change::Rename(from, to) => {
            if let Some(node) = names.remove(from) {
                names.insert(to.clone(), node);
            }
            // A directory takes along what is below it.
            let below: Vec<PathBuf> = names.keys().filter(|path| path.starts_with(from)).cloned().collect();
            for path in below {
                if let (Some(node), Ok(rest)) = (names.remove(&path), path.strip_prefix(from)) {
                    names.insert(to.join(rest), node);
                }
            }
        }
    }
}
