//! The real disk, but never full: how full the test machine is must not decide a test.

use std::path::Path;
use std::sync::Arc;
use store_core::{
    DirEntry, Disk, DiskError, DiskFile, Env, FileStat, OpenMode, OsDisk, Space, SystemClock, SystemEntropy,
};

type Result<T> = std::result::Result<T, DiskError>;

struct RoomyDisk;

/// The real world with a disk that has room.
pub fn env() -> Env {
    Env::new(Arc::new(RoomyDisk), Arc::new(SystemClock::new()), Arc::new(SystemEntropy))
}

impl Disk for RoomyDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> Result<Box<dyn DiskFile>> {
        OsDisk.open(path, mode)
    }

    fn create_dir_all(&self, path: &Path) -> Result<()> {
        OsDisk.create_dir_all(path)
    }

    fn read_dir(&self, path: &Path) -> Result<Vec<DirEntry>> {
        OsDisk.read_dir(path)
    }

    fn stat(&self, path: &Path) -> Result<Option<FileStat>> {
        OsDisk.stat(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        OsDisk.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        OsDisk.remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> Result<()> {
        OsDisk.remove_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> Result<()> {
        OsDisk.sync_dir(path)
    }

    fn space(&self, _path: &Path) -> Result<Space> {
        Ok(Space { total: 1 << 40, available: 1 << 39, used: 1 << 39 })
    }
}
