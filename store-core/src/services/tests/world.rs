//! A disk whose level and a clock whose time the test decides.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;
use store_logic::{
    Clock, DirEntry, Disk, DiskError, DiskFile, Env, FileStat, OpenMode, OsDisk, Space, SystemEntropy,
    UnixMillis,
};

type Result<T> = std::result::Result<T, DiskError>;

/// What the test decides.
#[derive(Clone)]
pub(super) struct World {
    now: Arc<AtomicI64>,
    used_percent: Arc<AtomicU64>,
}

impl World {
    /// Noon of some day, and half the disk used.
    pub(super) fn new() -> Self {
        Self { now: Arc::new(1_700_000_000_000.into()), used_percent: Arc::new(50.into()) }
    }

    pub(super) fn env(&self) -> Env {
        Env::new(Arc::new(self.clone()), Arc::new(self.clone()), Arc::new(SystemEntropy))
    }

    pub(super) fn now(&self) -> i64 {
        self.now.load(Ordering::SeqCst)
    }

    pub(super) fn set_now(&self, now: i64) {
        self.now.store(now, Ordering::SeqCst);
    }

    pub(super) fn pass(&self, time: Duration) {
        self.now.fetch_add(time.as_millis() as i64, Ordering::SeqCst);
    }

    pub(super) fn set_used_percent(&self, percent: u64) {
        self.used_percent.store(percent, Ordering::SeqCst);
    }
}

impl Clock for World {
    fn now_millis(&self) -> UnixMillis {
        self.now()
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.now() as u64)
    }
}

impl Disk for World {
    fn open(&self, path: &Path, mode: OpenMode) -> Result<Box<dyn DiskFile>> {
        OsDisk.open(path, mode)
    }

    fn create_dir_all(&self, path: &Path) -> Result<()> {
        OsDisk.create_dir_all(path)
    }

    fn read_dir(&self, path: &Path) -> Result<Vec<DirEntry>> {
        OsDisk.read_dir(path)
    }

    /// Every file was last written now.
    fn stat(&self, path: &Path) -> Result<Option<FileStat>> {
        let stat = OsDisk.stat(path)?;
        Ok(stat.map(|stat| FileStat { modified: 1_700_000_000_000, ..stat }))
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
        let used = self.used_percent.load(Ordering::SeqCst);
        Ok(Space { total: 100 << 30, available: (100 - used) << 30, used: used << 30 })
    }
}
