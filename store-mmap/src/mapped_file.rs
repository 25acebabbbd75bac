//! One fixed-size file: who may write, what may be read, what has reached the disk.

mod append;
mod commit;
mod flush;
mod read;
#[cfg(test)]
mod tests;

use crate::access_policy::AccessPolicy;
use crate::error::{MapError, Result};
use crate::mapping::{CutRefused, Mapping, PublishedMapping};
use crate::sync::{Arc, AtomicBool, AtomicI64, AtomicU64, Mutex, MutexGuard, Ordering, PoisonError};
use commit::Stage;
use flush::FailedSync;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use store_disk_tools::{DiskFile, Env, OpenMode, preallocate, zero_rest};

/// Unit in which RocketMQ counts bytes that wait to be committed or flushed.
const OS_PAGE_SIZE: u64 = 4096;

/// Whether the bytes `from..to` of a file of `size` are worth moving on: `least_pages` pages are touched, the file is
/// full, or `least_pages` is 0.
fn worth_moving(from: u64, to: u64, size: u64, least_pages: u32) -> bool {
    let pages = (to / OS_PAGE_SIZE).saturating_sub(from / OS_PAGE_SIZE);
    from < to && (least_pages == 0 || to == size || pages >= u64::from(least_pages))
}

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
/// Marks, all positions within the file: `wrote` is the end of what was appended; below `committed` everything may be
/// read; below `flushed` it is durable. `flushed ≤ committed ≤ wrote ≤ size` always holds. `wrote` and `committed` differ
/// only while a write buffer of a [`crate::TransientStorePool`] stands in front of the file.
#[derive(Debug)]
pub struct MappedFile {
    /// The memory; its published end is the committed one.
    mapping: Arc<PublishedMapping>,
    /// Set when the file began with a write buffer in front.
    stage: OnceLock<Stage>,
    access: AccessPolicy,
    file: Box<dyn DiskFile>,
    path: PathBuf,
    file_from_offset: u64,
    flushed: AtomicU64,
    /// Held while bytes are written back, and while marks are lowered: a sync that began before a cut must not vouch for
    /// what is written after it.
    flushing: Mutex<()>,
    /// The first sync that failed: whatever a later one reports, the bytes may be gone.
    failed_sync: OnceLock<FailedSync>,
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
            stage: OnceLock::new(),
            access: AccessPolicy::default(),
            path: file.path().to_owned(),
            file,
            file_from_offset: from,
            flushed: AtomicU64::new(position),
            flushing: Mutex::new(()),
            failed_sync: OnceLock::new(),
            reserved: AtomicU64::new(reserved),
            reserve_step: policy.step(),
            store_timestamp: AtomicI64::new(0),
            deleted: AtomicBool::new(false),
        })
    }

    /// The file with the kernel told how it will be used.
    pub fn with_access(mut self, access: AccessPolicy) -> Self {
        self.set_access(access);
        self
    }

    pub(crate) fn set_access(&mut self, access: AccessPolicy) {
        if access != self.access {
            self.access = access;
            self.advise();
        }
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

    /// End of what was appended.
    pub fn wrote_position(&self) -> u64 {
        let staged = self.stage.get().and_then(Stage::wrote);
        staged.unwrap_or_else(|| self.committed_position())
    }

    /// Bytes below may be read (Apache's read position).
    pub fn committed_position(&self) -> u64 {
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

    pub(crate) fn touch(&self, from: u64, to: u64) {
        self.mapping.touch(from, to);
    }

    /// Advice is a wish: where the kernel does not listen, nothing is lost but time.
    fn advise(&self) {
        let full = self.committed_position() == self.file_size();
        self.mapping.map().advise(self.access.advice(full));
    }

    /// Tells the kernel that the file is only read from now on.
    fn advise_full(&self) {
        if self.access.changes_when_full() {
            self.advise();
        }
    }

    /// Lowers the marks to `at`: what lies above is free to be written again. What was not committed is forgotten, and
    /// the file is written through its mapping from then on.
    ///
    /// # Errors
    ///
    /// [`MapError::InUse`] while views are held, because they may lie above `at`; the marks are then unchanged.
    /// [`MapError::NoRoom`] when `at` is beyond what was committed.
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
            if let Some(stage) = self.stage.get() {
                stage.discard();
            }
            clear()
        };
        match self.mapping.cut(at, clear) {
            Ok(cleared) => {
                self.advise_full();
                cleared
            }
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
