use std::io;
use std::path::{Path, PathBuf};

/// Result of this crate's calls.
pub type Result<T> = std::result::Result<T, DiskError>;

/// A call to the operating system that failed: what was tried, on which path, and why.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}: {source}", path.display())]
pub struct DiskError {
    action: &'static str,
    path: PathBuf,
    source: io::Error,
}

impl DiskError {
    /// Names a failed call. `action` completes the sentence "cannot … PATH".
    pub fn new(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self { action, path: path.to_owned(), source }
    }

    /// The path the call was about.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The operating system's reason.
    pub fn io(&self) -> &io::Error {
        &self.source
    }

    /// True when the file or directory does not exist.
    pub fn is_not_found(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }

    /// True when the disk is full.
    pub fn is_no_space(&self) -> bool {
        self.source.kind() == io::ErrorKind::StorageFull
    }
}
