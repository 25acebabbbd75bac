//! The real disk, but as full and with files as old as a test decides: the test machine must not decide a test.
#![allow(dead_code, reason = "every test program uses its own part")]

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use store_core::{
    DirEntry, Disk, DiskError, DiskFile, Env, FileStat, OpenMode, OsDisk, Space, SystemClock, SystemEntropy,
    UnixMillis,
};

type Result<T> = std::result::Result<T, DiskError>;
type BeforeRemove = Arc<dyn Fn(&Path) + Send + Sync>;

/// The disk. Half full, and files were last changed when the system says, unless a test has told otherwise.
pub struct RoomyDisk {
    used_percent: AtomicU64,
    all_modified: Option<UnixMillis>,
    modified: Mutex<HashMap<PathBuf, UnixMillis>>,
    before_remove: Mutex<Option<BeforeRemove>>,
    refused: Mutex<Option<(PathBuf, ErrorKind)>>,
    directory_syncs: AtomicU64,
}

/// The real world with a disk that has room.
pub fn env() -> Env {
    Env::new(Arc::new(RoomyDisk::new()), Arc::new(SystemClock::new()), Arc::new(SystemEntropy))
}

impl RoomyDisk {
    pub fn new() -> Self {
        Self {
            used_percent: 50.into(),
            all_modified: None,
            modified: Mutex::default(),
            before_remove: Mutex::default(),
            refused: Mutex::default(),
            directory_syncs: 0.into(),
        }
    }

    /// A disk on which every file was last changed at `time`.
    pub fn with_all_modified(time: UnixMillis) -> Self {
        Self { all_modified: Some(time), ..Self::new() }
    }

    pub fn set_used_percent(&self, percent: u64) {
        self.used_percent.store(percent, Ordering::SeqCst);
    }

    /// Makes a file look last changed at `time`.
    pub fn set_modified(&self, path: &Path, time: UnixMillis) {
        self.modified.lock().expect("no panic").insert(path.to_owned(), time);
    }

    /// Lets no file be made below a directory, or any again.
    pub fn refuse_new_files(&self, directory: &Path, error: Option<ErrorKind>) {
        *self.refused.lock().expect("no panic") = error.map(|error| (directory.to_owned(), error));
    }

    /// Directories synced so far.
    pub fn directory_syncs(&self) -> u64 {
        self.directory_syncs.load(Ordering::SeqCst)
    }

    /// What is done before each deletion of a file.
    pub fn before_remove(&self, action: impl Fn(&Path) + Send + Sync + 'static) {
        *self.before_remove.lock().expect("no panic") = Some(Arc::new(action));
    }
}

impl Disk for RoomyDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> Result<Box<dyn DiskFile>> {
        let refused = self.refused.lock().expect("no panic").clone();
        match refused {
            Some((directory, error)) if path.starts_with(&directory) && !path.exists() => {
                Err(DiskError::new("create", path, error.into()))
            }
            _ => OsDisk.open(path, mode),
        }
    }

    fn create_dir_all(&self, path: &Path) -> Result<()> {
        OsDisk.create_dir_all(path)
    }

    fn read_dir(&self, path: &Path) -> Result<Vec<DirEntry>> {
        OsDisk.read_dir(path)
    }

    fn stat(&self, path: &Path) -> Result<Option<FileStat>> {
        let told = self.modified.lock().expect("no panic").get(path).copied().or(self.all_modified);
        let stat = OsDisk.stat(path)?;
        Ok(stat.map(|stat| FileStat { modified: told.unwrap_or(stat.modified), ..stat }))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        OsDisk.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        let action = self.before_remove.lock().expect("no panic").clone();
        if let Some(action) = action {
            action(path);
        }
        OsDisk.remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> Result<()> {
        OsDisk.remove_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> Result<()> {
        self.directory_syncs.fetch_add(1, Ordering::SeqCst);
        OsDisk.sync_dir(path)
    }

    fn space(&self, _path: &Path) -> Result<Space> {
        let used = self.used_percent.load(Ordering::SeqCst);
        Ok(Space { total: 100 << 30, available: (100 - used) << 30, used: used << 30 })
    }
}
