//! Which log files are locked in memory.

use crate::sync::Arc;
use store_logic::{MappedFile, MemoryLock};

/// Locks a file.
type LockFile = fn(Arc<MappedFile>) -> Result<MemoryLock, String>;

/// The locked files: the one that is written and the next one, no others.
pub(super) struct PageLocks {
    lock: LockFile,
    held: Vec<MemoryLock>,
    /// The limit of locked memory was met, and told.
    refused: bool,
}

impl PageLocks {
    pub(super) fn new(lock: LockFile) -> Self {
        Self { lock, held: Vec::new(), refused: false }
    }

    /// Locks `wanted` and nothing else. Where the system refuses, the store works with unlocked files, after one warning.
    pub(super) fn keep(&mut self, wanted: &[Arc<MappedFile>]) {
        self.held.retain(|held| wanted.iter().any(|file| Arc::ptr_eq(held.file(), file)));
        for file in wanted {
            if self.refused || self.held.iter().any(|held| Arc::ptr_eq(held.file(), file)) {
                continue;
            }
            match (self.lock)(Arc::clone(file)) {
                Ok(lock) => self.held.push(lock),
                Err(error) => {
                    self.refused = true;
                    tracing::warn!(
                        %error,
                        bytes = file.file_size(),
                        "log files are not locked in memory (see the limit of locked memory)"
                    );
                }
            }
        }
    }

    /// Offsets of the locked files.
    #[cfg(test)]
    pub(super) fn offsets(&self) -> Vec<u64> {
        let mut offsets: Vec<u64> = self.held.iter().map(|held| held.file().file_from_offset()).collect();
        offsets.sort_unstable();
        offsets
    }
}
