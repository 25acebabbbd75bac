//! Small files that are replaced as a whole (`config/*.json`, the abort file, snapshots).
//!
//! Writing: the new bytes go to `NAME.tmp` and are synced; the present file is linked over to `NAME.bak` by a copy that
//! is synced too; the new one is renamed into place; the directory is synced. At every moment `NAME` is the old or the
//! new file. Apache's own order (rename to `.bak`, then write) has a moment with only the backup; its readers and
//! writers accept what is left here.

use crate::env::{Disk, OpenMode};
use crate::error::{DiskError, Result};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Largest file that is read whole.
const MAX_LEN: u64 = 1 << 30;

/// `NAME.bak`, the file's last but one content.
pub fn backup_path(path: &Path) -> PathBuf {
    with_suffix(path, ".bak")
}

/// The path with `suffix` added to its last component.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Replaces `path` by `bytes`, keeping the old content as `.bak`; parent directories are made. On return the new
/// content is durable.
pub fn replace(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(parent) = parent_of(path) {
        disk.create_dir_all(parent)?;
    }
    if let Some(old) = read(disk, path)? {
        write_whole(disk, &backup_path(path), &old)?;
    }
    write_whole(disk, path, bytes)
}

/// Replaces `path` by `bytes` without keeping the old content.
pub fn write_whole(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = with_suffix(path, ".tmp");
    let file = disk.open(&temporary, OpenMode::OpenOrCreate)?;
    file.set_len(0)?;
    file.write_all_at(bytes, 0)?;
    file.sync_all()?;
    drop(file);
    disk.rename(&temporary, path)?;
    parent_of(path).map_or(Ok(()), |parent| disk.sync_dir(parent))
}

/// Whole content; `None` when the file does not exist.
///
/// # Errors
///
/// A file of more than 1 GiB, and whatever the disk reports.
pub fn read(disk: &dyn Disk, path: &Path) -> Result<Option<Vec<u8>>> {
    let file = match disk.open(path, OpenMode::Read) {
        Ok(file) => file,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error),
    };
    let len = file.len()?;
    if len > MAX_LEN {
        let reason = format!("expected at most {MAX_LEN} bytes, found {len}");
        return Err(DiskError::new("read", path, io::Error::new(io::ErrorKind::InvalidData, reason)));
    }
    let mut bytes = vec![0; len as usize];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(Some(bytes))
}

/// Deletes `path` durably; a missing file is fine.
pub fn remove(disk: &dyn Disk, path: &Path) -> Result<()> {
    match disk.remove_file(path) {
        Ok(()) => parent_of(path).map_or(Ok(()), |parent| disk.sync_dir(parent)),
        Err(error) if error.is_not_found() => Ok(()),
        Err(error) => Err(error),
    }
}

fn parent_of(path: &Path) -> Option<&Path> {
    path.parent().filter(|parent| !parent.as_os_str().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::OsDisk;

    #[test]
    fn keeps_the_content_before() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config/topics.json");
        replace(&OsDisk, &path, b"one").unwrap();
        assert_eq!(read(&OsDisk, &backup_path(&path)).unwrap(), None);
        replace(&OsDisk, &path, b"two").unwrap();
        assert_eq!(read(&OsDisk, &path).unwrap().unwrap(), b"two");
        assert_eq!(read(&OsDisk, &backup_path(&path)).unwrap().unwrap(), b"one");
    }

    #[test]
    fn a_leftover_temporary_is_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(with_suffix(&path, ".tmp"), b"a long leftover of a crash").unwrap();
        replace(&OsDisk, &path, b"new").unwrap();
        assert_eq!(read(&OsDisk, &path).unwrap().unwrap(), b"new");
        assert!(!with_suffix(&path, ".tmp").exists());
    }

    #[test]
    fn removing_nothing_is_fine() {
        let dir = tempfile::tempdir().unwrap();
        remove(&OsDisk, &dir.path().join("absent")).unwrap();
    }
}
