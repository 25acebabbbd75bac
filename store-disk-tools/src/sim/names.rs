//! Directory entries: live and durable apart.

use super::random::SimRandom;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Node {
    File(u64),
    Directory,
}

/// A change that may not be durable yet.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Change {
    Put(Arc<Path>, Node),
    Remove(Arc<Path>),
    /// From, to, and what the name stands for: the change is whole also when the one that made the name is lost.
    Rename(Arc<Path>, Arc<Path>, Node),
}

pub(super) type Tree = BTreeMap<Arc<Path>, Node>;

#[derive(Debug, Default, Clone)]
pub(super) struct Names {
    live: Tree,
    durable: Arc<Tree>,
    /// Changes since, in order.
    pending: Vec<Change>,
}

impl Names {
    /// Names that are all durable.
    pub(super) fn of(tree: Tree) -> Self {
        Self { durable: Arc::new(tree.clone()), live: tree, pending: Vec::new() }
    }

    pub(super) fn live(&self) -> &Tree {
        &self.live
    }

    pub(super) fn get(&self, path: &Path) -> Option<Node> {
        self.live.get(path).copied()
    }

    pub(super) fn put(&mut self, path: &Path, node: Node) {
        self.change(Change::Put(path.into(), node));
    }

    pub(super) fn remove(&mut self, path: &Path) {
        self.change(Change::Remove(path.into()));
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) {
        if let Some(node) = self.get(from) {
            self.change(Change::Rename(from.into(), to.into(), node));
        }
    }

    fn change(&mut self, change: Change) {
        apply(&mut self.live, &change);
        self.pending.push(change);
    }

    /// Names directly in `directory`, in order.
    pub(super) fn list(&self, directory: &Path) -> Vec<(String, Node)> {
        let from = (Bound::Included(directory), Bound::Unbounded);
        let below = self.live.range::<Path, _>(from).take_while(|(path, _)| path.starts_with(directory));
        let inside = below.filter(|(path, _)| path.parent() == Some(directory));
        inside.filter_map(|(path, node)| Some((path.file_name()?.to_str()?.to_owned(), *node))).collect()
    }

    /// Makes the changes of names in `directory` durable.
    pub(super) fn sync(&mut self, directory: &Path) {
        let in_directory = |path: &Path| path.parent() == Some(directory);
        let is_synced = |change: &Change| match change {
            Change::Put(path, _) | Change::Remove(path) => in_directory(path),
            Change::Rename(from, to, _) => in_directory(from) || in_directory(to),
        };
        if !self.pending.iter().any(is_synced) {
            return;
        }
        let durable = Arc::make_mut(&mut self.durable);
        self.pending.retain(|change| {
            let synced = is_synced(change);
            if synced {
                apply(durable, change);
            }
            !synced
        });
    }

    /// Changes that are not durable.
    pub(super) fn pending(&self) -> usize {
        self.pending.len()
    }

    /// The names after a power cut when of the changes not yet durable those have happened for which `happened` says so.
    pub(super) fn after_power_cut(&self, mut happened: impl FnMut(usize) -> bool) -> Tree {
        let mut names = Tree::clone(&self.durable);
        for (number, change) in self.pending.iter().enumerate() {
            if happened(number) {
                apply(&mut names, change);
            }
        }
        if self.pending.is_empty() {
            return names;
        }
        // A name whose directory is not there cannot be reached.
        let reachable = |path: &Path| {
            path.ancestors().skip(1).all(|above| above.parent().is_none() || names.contains_key(above))
        };
        let lost: Vec<Arc<Path>> = names.keys().filter(|path| !reachable(path)).cloned().collect();
        lost.iter().for_each(|path| {
            names.remove(path);
        });
        names
    }

    /// Which changes happened: up to some point in their order, or each by chance.
    pub(super) fn choose(&self, random: &mut SimRandom) -> Vec<bool> {
        let pending = self.pending.len();
        if random.happens(1, 2) {
            let happened = random.below(pending + 1);
            return (0..pending).map(|number| number < happened).collect();
        }
        (0..pending).map(|_| random.happens(1, 2)).collect()
    }

    /// Files that a name stands for, or may stand for after a power cut.
    pub(super) fn files(&self) -> impl Iterator<Item = u64> {
        let pending = self.pending.iter().filter_map(|change| match change {
            Change::Put(_, node) | Change::Rename(_, _, node) => Some(node),
            Change::Remove(_) => None,
        });
        self.live.values().chain(self.durable.values()).chain(pending).filter_map(|node| match node {
            Node::File(file) => Some(*file),
            Node::Directory => None,
        })
    }
}

fn apply(names: &mut Tree, change: &Change) {
    match change {
        Change::Put(path, node) => {
            names.insert(Arc::clone(path), *node);
        }
        Change::Remove(path) => {
            names.remove(path);
        }
        Change::Rename(from, to, node) => {
            names.remove(from);
            names.insert(Arc::clone(to), *node);
            // A directory takes along what is below it.
            let below: Vec<Arc<Path>> = names.keys().filter(|path| path.starts_with(from)).cloned().collect();
            for path in below {
                if let (Some(node), Ok(rest)) = (names.remove(&path), path.strip_prefix(from)) {
                    names.insert(to.join(rest).into(), node);
                }
            }
        }
    }
}
