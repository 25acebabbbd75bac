use std::path::PathBuf;
use store_mmap::{DiskError, MapError};

/// Result of this crate's calls.
pub type Result<T> = std::result::Result<T, LogicError>;

/// What can go wrong with the objects of a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogicError {
    /// The mapping refused.
    #[error(transparent)]
    Map(#[from] MapError),
    /// The disk refused.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A file of StrataMQ's own cannot be written.
    #[error(transparent)]
    Snapshot(#[from] crate::snapshot_file::SnapshotError),
    /// A file holds something else than it should.
    #[error("{}, offset {offset}: expected {expected}, found {found}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Position in it.
        offset: u64,
        /// What should stand there.
        expected: String,
        /// What stands there.
        found: String,
    },
}

impl LogicError {
    /// True when the disk is full.
    pub fn is_no_space(&self) -> bool {
        match self {
            Self::Map(error) => error.is_no_space(),
            Self::Disk(error) => error.is_no_space(),
            _ => false,
        }
    }
}
