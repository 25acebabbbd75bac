use crate::mapped_file::MappedFile;
use std::sync::Arc;

/// Keeps the pages of a mapped file in memory (`mlock`) while it lives.
///
/// Locking is a wish: where the limit of locked memory is too low (`RLIMIT_MEMLOCK`) the file works unlocked.
pub struct MemoryLock {
    _guard: region::LockGuard,
    // The guard unlocks on drop (fields drop in order), so the mapping must outlive it.
    file: Arc<MappedFile>,
}

impl MemoryLock {
    /// Locks the whole file.
    ///
    /// # Errors
    ///
    /// The operating system's reason, most often the limit.
    pub fn new(file: Arc<MappedFile>) -> Result<Self, region::Error> {
        let guard = region::lock(file.address(), file.file_size() as usize)?;
        Ok(Self { _guard: guard, file })
    }

    /// The file.
    pub fn file(&self) -> &Arc<MappedFile> {
        &self.file
    }
}

impl std::fmt::Debug for MemoryLock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryLock").field("file", &self.file.path()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapped_file::ReservePolicy;
    use store_disk_tools::Env;

    #[test]
    fn a_locked_file_is_still_written_and_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("0");
        let file = Arc::new(MappedFile::create(&Env::os(), &path, 0, 8192, ReservePolicy::Whole).unwrap());
        // A limit of zero is legal on a machine; then there is nothing to see but the error.
        match MemoryLock::new(file.clone()) {
            Ok(lock) => {
                file.append(b"locked").unwrap();
                assert_eq!(&*file.slice(0, 6).unwrap(), b"locked");
                drop(lock);
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        assert_eq!(file.file_size(), 8192);
    }
}
