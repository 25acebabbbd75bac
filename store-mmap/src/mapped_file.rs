//! One fixed-size file: who may write, what may be read, what has reached the disk.

mod append;
mod flush;
mod read;

use crate::error::{MapError, Result};
use crate::mapping::{CutRefused, Mapping, PublishedMapping};
use crate::sync::{Arc, AtomicBool, AtomicI64, AtomicU64, Mutex, MutexGuard, Ordering, PoisonError};
use std::path::{Path, PathBuf};
use store_disk_tools::{DiskFile, Env, OpenMode, preallocate, zero_rest};

/// How much of a file has its blocks reserved when it is made or first written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReservePolicy {
    /// Everything at once: for log files.
    Whole,
    /// So many bytes at a time, ahead of the write position: for the many, slowly growing queue files.
    Steps(u64),
}

impl ReservePolicy {
    fn step(self) -> u64 {
        match self {
            Self::Whole => u64::MAX,
            Self::Steps(step) => step,
        }
    }
}

/// A file of fixed size in memory.
///
/// Marks, all positions within the file: `wrote` is the published end, everything below may be read; `flushed` is the
/// durable end. `flushed ≤ wrote ≤ size` always holds.
#[derive(Debug)]
pub struct MappedFile {
    /// The memory and its published end.
    mapping: Arc<PublishedMapping>,
    file: Box<dyn DiskFile>,
    path: PathBuf,
    file_from_offset: u64,
    flushed: AtomicU64,
    /// Held while bytes are written back, and while marks are lowered: a sync that began before a cut must not vouch for
    /// what is written after it.
    flushing: Mutex<()>,
    /// Blocks are reserved below this position, as far as this process knows.
    reserved: AtomicU64,
    reserve_step: u64,
    /// Time the layer above gave the last append, 0 before any.
    store_timestamp: AtomicI64,
    deleted: AtomicBool,
}

impl MappedFile {
    /// Makes (or opens, when it is there with its full size) the file whose first byte has the queue offset `from`.
    /// The write position is 0.
    pub fn create(env: &Env, path: &Path, from: u64, size: u64, policy: ReservePolicy) -> Result<Self> {
        let (file, _) = preallocate::create_sized(env.disk(), path, size, policy.step().min(size))?;
        Self::map(file, from, size, policy, policy.step().min(size), 0)
    }

    /// Opens an existing file; as nothing is known about its content the marks stand at its end, and the layer above
    /// lowers them with [`MappedFile::truncate`].
    pub fn open(env: &Env, path: &Path, from: u64, size: u64, policy: ReservePolicy) -> Result<Self> {
        let file = env.disk().open(path, OpenMode::ReadWrite)?;
        let found = file.len()?;
        if found != size {
            return Err(MapError::WrongSize { path: path.to_owned(), expected: size, found });
        }
        Self::map(file, from, size, policy, 0, size)
    }

    fn map(
        file: Box<dyn DiskFile>,
        from: u64,
        size: u64,
        policy: ReservePolicy,
        reserved: u64,
        position: u64,
    ) -> Result<Self> {
        Ok(Self {
            mapping: Arc::new(PublishedMapping::new(Mapping::new(&*file, size)?, position)),
            path: file.path().to_owned(),
            file,
            file_from_offset: from,
            flushed: AtomicU64::new(position),
            flushing: Mutex::new(()),
            reserved: AtomicU64::new(reserved),
            reserve_step: policy.step(),
            store_timestamp: AtomicI64::new(0),
            deleted: AtomicBool::new(false),
        })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Queue offset of the first byte, the number in its name.
    pub fn file_from_offset(&self) -> u64 {
        self.file_from_offset
    }

    /// Size in bytes.
    pub fn file_size(&self) -> u64 {
        self.mapping.map().len() as u64
    }

    /// Published end: bytes below may be read.
    pub fn wrote_position(&self) -> u64 {
        self.mapping.wrote()
    }

    /// Durable end.
    pub fn flushed_position(&self) -> u64 {
        self.flushed.load(Ordering::Acquire)
    }

    /// True when nothing can be appended any more.
    pub fn is_full(&self) -> bool {
        self.wrote_position() == self.file_size()
    }

    /// Time given with the last append, 0 when there was none since the file was opened.
    pub fn store_timestamp(&self) -> i64 {
        self.store_timestamp.load(Ordering::Relaxed)
    }

    /// Notes the time of the last append (epoch milliseconds); the layer above calls it with its own clock's time.
    pub fn set_store_timestamp(&self, at: i64) {
        self.store_timestamp.store(at, Ordering::Relaxed);
    }

    /// True once the file was deleted; views taken before stay readable.
    pub fn is_deleted(&self) -> bool {
        self.deleted.load(Ordering::Acquire)
    }

    /// Says whether the kernel failed to deliver a page since the file was opened. What is read or written while that
    /// happens sees zeros, so whoever has copied something asks afterwards.
    ///
    /// # Errors
    ///
    /// [`MapError::Fault`].
    pub fn check_fault(&self) -> Result<()> {
        self.mapping.map().check_fault(&self.path)
    }

    pub(crate) fn mark_deleted(&self) {
        self.deleted.store(true, Ordering::Release);
    }

    pub(crate) fn address(&self) -> *const u8 {
        self.mapping.map().address()
    }

    pub(crate) fn populate(&self, from: u64, to: u64) -> bool {
        self.mapping.map().populate(from as usize, to as usize)
    }

    /// Lowers the marks to `at`: what lies above is free to be written again.
    ///
    /// # Errors
    ///
    /// [`MapError::InUse`] while views are held, because they may lie above `at`; the marks are then unchanged.
    /// [`MapError::NoRoom`] when `at` is beyond what was published.
    pub fn truncate(&self, at: u64) -> Result<()> {
        self.cut(at, || Ok(()))
    }

    /// Lowers the marks to `at`: the layer above vouches for the bytes below (recovery). What stands behind is cleared:
    /// were it left, bytes written later might lead a reader on into it.
    ///
    /// # Errors
    ///
    /// As [`MappedFile::truncate`], and whatever the disk reports.
    pub fn set_recovered_position(&self, at: u64) -> Result<()> {
        self.cut(at, || Ok(zero_rest(&*self.file, at).map(drop)?))
    }

    fn cut(&self, at: u64, clear: impl FnOnce() -> Result<()>) -> Result<()> {
        let _flushing = self.lock_flushing();
        let clear = || {
            self.flushed.fetch_min(at, Ordering::AcqRel);
            clear()
        };
        match self.mapping.cut(at, clear) {
            Ok(cleared) => cleared,
            Err(CutRefused::ViewsHeld(views)) => Err(MapError::InUse { path: self.path.clone(), at, views }),
            Err(CutRefused::AboveMark(wrote)) => {
                Err(MapError::NoRoom { path: self.path.clone(), len: 0, position: at, size: wrote })
            }
        }
    }

    fn lock_flushing(&self) -> MutexGuard<'_, ()> {
        // The lock guards no data of its own: marks are whole at every moment.
        self.flushing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
