//! The directories that hold the files of one queue: one, or several on disks of their own (`MultiPathMappedFileQueue`).

use crate::error::{MapError, Result};
use crate::sync::{Arc, PoisonError, RwLock};
use std::path::{Path, PathBuf};
use store_disk_tools::{DirEntry, Disk, FileKind};

/// Where the files of a queue are, and where new ones go. Cheap to clone; clones share which directories are full.
///
/// Made from one path by `From`, from several by [`QueueDirectories::several`].
#[derive(Debug, Clone)]
pub struct QueueDirectories {
    /// Takes new files; sorted as text, as Apache sorts them.
    writable: Arc<[PathBuf]>,
    /// Is only read, and has files deleted from it.
    read_only: Arc<[PathBuf]>,
    full: Arc<RwLock<Vec<PathBuf>>>,
}

impl<P: AsRef<Path> + ?Sized> From<&P> for QueueDirectories {
    fn from(directory: &P) -> Self {
        Self::several(vec![directory.as_ref().to_owned()], Vec::new())
    }
}

impl QueueDirectories {
    /// Files lie in all of them; new ones are made in `writable` alone, by turns. A directory in both takes none. When
    /// nothing would be left to write to, all of `writable` is.
    ///
    /// # Panics
    ///
    /// If `writable` is empty.
    pub fn several(writable: Vec<PathBuf>, mut read_only: Vec<PathBuf>) -> Self {
        assert!(!writable.is_empty(), "a queue needs a directory to write to");
        let mut open: Vec<PathBuf> =
            writable.iter().filter(|path| !read_only.contains(path)).cloned().collect();
        if open.is_empty() {
            open = writable;
        }
        open.sort();
        open.dedup();
        read_only.retain(|path| !open.contains(path));
        read_only.sort();
        read_only.dedup();
        Self { writable: open.into(), read_only: read_only.into(), full: Arc::default() }
    }

    /// All directories, those for new files first.
    pub fn all(&self) -> impl Iterator<Item = &Path> {
        self.writable.iter().chain(self.read_only.iter()).map(PathBuf::as_path)
    }

    /// The first directory for new files: the only one, mostly.
    pub fn main(&self) -> &Path {
        &self.writable[0]
    }

    /// Directories that take new files.
    pub fn writable(&self) -> &[PathBuf] {
        &self.writable
    }

    /// Says which directories take no new file at present because their disk is too full.
    pub fn set_full(&self, full: Vec<PathBuf>) {
        *self.full.write().unwrap_or_else(PoisonError::into_inner) = full;
    }

    /// Where the file that begins at `from` is made: directories in turn, the full ones left out. The first is the
    /// choice, the rest to fall back on. When all are full, all of them in turn.
    pub(crate) fn for_new_file(&self, from: u64, file_size: u64) -> Vec<PathBuf> {
        let full = self.full.read().unwrap_or_else(PoisonError::into_inner);
        let (mut roomy, mut others): (Vec<PathBuf>, Vec<PathBuf>) =
            self.writable.iter().cloned().partition(|path| !full.contains(path));
        if roomy.is_empty() {
            std::mem::swap(&mut roomy, &mut others);
        }
        let turn = usize::try_from(from / file_size).unwrap_or(0) % roomy.len();
        roomy.rotate_left(turn);
        roomy.extend(others);
        roomy
    }

    /// The files of all directories in the order of their names, each with its directory. Directories inside are left
    /// out, missing ones are empty.
    ///
    /// # Errors
    ///
    /// [`MapError::Duplicate`] when two directories hold a file of the same name; whatever the disk reports.
    pub(crate) fn entries(&self, disk: &dyn Disk) -> Result<Vec<(PathBuf, DirEntry)>> {
        let mut entries = Vec::new();
        for directory in self.all() {
            let found =
                disk.read_dir(directory)?.into_iter().filter(|entry| entry.kind != FileKind::Directory);
            entries.extend(found.map(|entry| (directory.to_owned(), entry)));
        }
        entries.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
        for pair in entries.windows(2) {
            let [(first, a), (second, b)] = pair else { continue };
            if a.name == b.name {
                return Err(MapError::Duplicate { first: first.join(&a.name), second: second.join(&b.name) });
            }
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn new_files_go_to_the_directories_by_turns_in_the_order_of_their_names() {
        let directories = QueueDirectories::several(paths(&["/c", "/a", "/b"]), paths(&["/b", "/old"]));
        assert_eq!(directories.all().collect::<Vec<_>>(), ["/a", "/c", "/b", "/old"].map(Path::new));
        let first = |from| directories.for_new_file(from, 100)[0].clone();
        assert_eq!([first(0), first(100), first(200)], [PathBuf::from("/a"), "/c".into(), "/a".into()]);
    }

    #[test]
    fn a_full_directory_is_the_last_choice_and_all_full_ones_are_tried() {
        let directories = QueueDirectories::several(paths(&["/a", "/b"]), Vec::new());
        directories.set_full(paths(&["/a"]));
        assert_eq!(directories.for_new_file(0, 100), paths(&["/b", "/a"]));
        directories.set_full(paths(&["/a", "/b"]));
        assert_eq!(directories.for_new_file(100, 100), paths(&["/b", "/a"]));
    }

    #[test]
    fn when_every_directory_is_read_only_the_writable_ones_are_written() {
        let directories = QueueDirectories::several(paths(&["/a"]), paths(&["/a"]));
        assert_eq!(directories.writable(), paths(&["/a"]));
        assert_eq!(directories.all().count(), 1);
    }
}
