//! Files of equal size, each named by the offset of its first byte, as one continuous range of bytes.

mod commit;
mod expire;
mod find;
mod flush;
mod load;
mod roll;
mod truncate;

use crate::access_policy::AccessPolicy;
use crate::file_supplier::FileSupplier;
use crate::mapped_file::{MappedFile, ReservePolicy};
use crate::queue_directories::QueueDirectories;
use crate::sync::{
    Arc, AtomicU64, Mutex, MutexGuard, Ordering, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
use crate::transient_store_pool::TransientStorePool;
use store_disk_tools::Env;

/// Shape of a queue's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueOptions {
    /// Size of every file in bytes.
    pub file_size: u64,
    /// How blocks are reserved.
    pub reserve: ReservePolicy,
    /// What the kernel is told about their use.
    pub access: AccessPolicy,
}

impl Default for QueueOptions {
    /// Log files of 1 GiB.
    fn default() -> Self {
        Self { file_size: 1 << 30, reserve: ReservePolicy::Whole, access: AccessPolicy::default() }
    }
}

/// An ordered list of [`MappedFile`]s. The first one need not begin at 0: old files are deleted, and a replica may begin
/// in the middle.
///
/// Reading, flushing and deleting may happen at any time from any thread; appending is for one writer at a time, which
/// the owner arranges (the log's tail lock, a queue's dispatcher).
pub struct MappedFileQueue {
    env: Env,
    directories: QueueDirectories,
    options: QueueOptions,
    supplier: Arc<dyn FileSupplier>,
    /// Where write buffers for new files come from.
    pool: Option<Arc<TransientStorePool>>,
    files: RwLock<Vec<Arc<MappedFile>>>,
    /// Held by whoever takes files away. The list itself is locked for moments only: deleting a large file may take
    /// seconds, and reads and appends go on meanwhile.
    removing: Mutex<()>,
    /// Everything below is durable.
    flushed_where: AtomicU64,
}

impl std::fmt::Debug for MappedFileQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MappedFileQueue")
            .field("directories", &self.directories)
            .field("min_offset", &self.min_offset())
            .field("max_offset", &self.max_offset())
            .finish_non_exhaustive()
    }
}

impl MappedFileQueue {
    /// The queue with the kernel told how its files will be used.
    pub fn with_access(mut self, access: AccessPolicy) -> Self {
        self.options.access = access;
        for file in self.write_files().iter_mut() {
            // Nobody else has a file of a queue that is still being set up.
            if let Some(file) = Arc::get_mut(file) {
                file.set_access(access);
            }
        }
        self
    }

    /// Directories of the files.
    pub fn directories(&self) -> &QueueDirectories {
        &self.directories
    }

    /// Size of every file in bytes.
    pub fn file_size(&self) -> u64 {
        self.options.file_size
    }

    /// Number of files.
    pub fn file_count(&self) -> usize {
        self.read_files().len()
    }

    /// The files, in order.
    pub fn files(&self) -> Vec<Arc<MappedFile>> {
        self.read_files().clone()
    }

    /// Offset of the first byte held; `None` without files.
    pub fn min_offset(&self) -> Option<u64> {
        self.read_files().first().map(|file| file.file_from_offset())
    }

    /// Offset behind the last byte that can be read; 0 without files.
    pub fn max_offset(&self) -> u64 {
        let files = self.read_files();
        // Bytes are committed in order: nothing is missing before a file that has some.
        let file = files.iter().rfind(|file| file.committed_position() > 0).or(files.first());
        file.map_or(0, |file| file.file_from_offset() + file.committed_position())
    }

    /// Offset behind the last byte appended; 0 without files. With write buffers it runs ahead of
    /// [`MappedFileQueue::max_offset`].
    pub fn wrote_offset(&self) -> u64 {
        self.read_files().last().map_or(0, |file| file.file_from_offset() + file.wrote_position())
    }

    /// Everything below this offset is durable.
    pub fn flushed_where(&self) -> u64 {
        self.flushed_where.load(Ordering::Acquire)
    }

    /// Appended bytes that are not durable yet.
    pub fn dirty_bytes(&self) -> u64 {
        self.wrote_offset().saturating_sub(self.flushed_where())
    }

    /// Says whether the kernel failed to deliver a page of any file; see [`MappedFile::check_fault`].
    ///
    /// # Errors
    ///
    /// [`crate::MapError::Fault`] of the first such file.
    pub fn check_fault(&self) -> crate::Result<()> {
        self.read_files().iter().try_for_each(|file| file.check_fault())
    }

    fn read_files(&self) -> RwLockReadGuard<'_, Vec<Arc<MappedFile>>> {
        // A list of `Arc`s is whole at every moment, so a panic elsewhere does not spoil it.
        self.files.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_removing(&self) -> MutexGuard<'_, ()> {
        self.removing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_files(&self) -> RwLockWriteGuard<'_, Vec<Arc<MappedFile>>> {
        self.files.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod commit_tests;
#[cfg(test)]
mod tests;

#[cfg(test)]
mod against_bytes;
