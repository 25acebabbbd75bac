//! Whole directories: deleting and copying them.

use crate::env::{Disk, FileKind, OpenMode};
use crate::error::Result;
use std::path::Path;

/// Bytes copied in one go.
const STEP: u64 = 1 << 20;

/// Deletes a directory and everything in it; nothing there is fine. Durable when the directory above is synced.
pub fn remove_tree(disk: &dyn Disk, path: &Path) -> Result<()> {
    match disk.stat(path)?.map(|stat| stat.kind) {
        None => Ok(()),
        Some(FileKind::Directory) => {
            for entry in disk.read_dir(path)? {
                remove_tree(disk, &path.join(&entry.name))?;
            }
            disk.remove_dir(path)
        }
        Some(_) => disk.remove_file(path),
    }
}

/// Copies a directory and the files in it; stretches that were never written stay so. `to` must not hold files of the
/// same names. The copy is durable when this returns, its name when the directory above `to` is synced.
pub fn copy_tree(disk: &dyn Disk, from: &Path, to: &Path) -> Result<()> {
    disk.create_dir_all(to)?;
    for entry in disk.read_dir(from)? {
        let (from, to) = (from.join(&entry.name), to.join(&entry.name));
        match entry.kind {
            FileKind::Directory => copy_tree(disk, &from, &to)?,
            FileKind::File => copy_file(disk, &from, &to)?,
            FileKind::Other => {}
        }
    }
    disk.sync_dir(to)
}

fn copy_file(disk: &dyn Disk, from: &Path, to: &Path) -> Result<()> {
    let source = disk.open(from, OpenMode::Read)?;
    let target = disk.open(to, OpenMode::CreateNew)?;
    let len = source.len()?;
    target.set_len(len)?;
    let mut buf = vec![0; STEP.min(len) as usize];
    let mut at = 0;
    while let Some(data) = source.next_data(at)?.map(|data| data.max(at)).filter(|data| *data < len) {
        let part = &mut buf[..STEP.min(len - data) as usize];
        source.read_exact_at(part, data)?;
        target.write_all_at(part, data)?;
        at = data + part.len() as u64;
    }
    target.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::OsDisk;

    #[test]
    fn copies_and_removes_what_is_below() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        OsDisk.create_dir_all(&from.join("a/b")).unwrap();
        std::fs::write(from.join("a/b/f"), b"content").unwrap();
        let sparse = OsDisk.open(&from.join("sparse"), OpenMode::CreateNew).unwrap();
        sparse.set_len(3 << 20).unwrap();
        sparse.write_all_at(b"end", (3 << 20) - 3).unwrap();
        copy_tree(&OsDisk, &from, &to).unwrap();
        assert_eq!(std::fs::read(to.join("a/b/f")).unwrap(), b"content");
        assert_eq!(std::fs::read(to.join("sparse")).unwrap(), std::fs::read(from.join("sparse")).unwrap());
        remove_tree(&OsDisk, &from).unwrap();
        remove_tree(&OsDisk, &from).unwrap();
        assert_eq!(OsDisk.stat(&from).unwrap(), None);
        assert!(OsDisk.stat(&to).unwrap().is_some());
    }
}
