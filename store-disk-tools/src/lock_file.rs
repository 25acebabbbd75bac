use crate::env::{Disk, DiskFile, OpenMode};
use crate::error::{DiskError, Result};
use std::io;
use std::path::Path;

/// Content of the lock file, as Apache writes it.
const CONTENT: &[u8] = b"lock";

/// The lock of one store root. Held while this value lives; the file itself stays for ever.
///
/// It is a POSIX record lock on byte 0, the kind a JVM takes, so a Java broker and this one exclude each other. Such
/// locks belong to the process: a second store on the same root *within* one process is not seen by it.
pub struct LockFile {
    _file: Box<dyn DiskFile>,
}

impl std::fmt::Debug for LockFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LockFile").field("path", &self._file.path()).finish()
    }
}

impl LockFile {
    /// Takes the lock, making the file (and its directory) when absent.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] when another process holds it, and whatever the disk reports.
    pub fn acquire(disk: &dyn Disk, path: &Path) -> Result<Self> {
        if let Some(parent) = path.parent() {
            disk.create_dir_all(parent)?;
        }
        let file = disk.open(path, OpenMode::OpenOrCreate)?;
        if !file.try_lock_first_byte()? {
            let reason = "another process (a StrataMQ or RocketMQ broker) is using this store; stop it first";
            return Err(DiskError::new("lock", path, io::Error::new(io::ErrorKind::WouldBlock, reason)));
        }
        if file.len()? != CONTENT.len() as u64 {
            file.set_len(0)?;
            file.write_all_at(CONTENT, 0)?;
            file.sync_all()?;
        }
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::OsDisk;

    #[test]
    fn content_is_apaches_and_survives_release() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store/lock");
        drop(LockFile::acquire(&OsDisk, &path).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), CONTENT);
        LockFile::acquire(&OsDisk, &path).unwrap();
    }
}
