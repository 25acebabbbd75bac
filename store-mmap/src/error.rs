use std::path::PathBuf;
use store_disk_tools::DiskError;

/// Result of this crate's calls.
pub type Result<T> = std::result::Result<T, MapError>;

/// What can go wrong with mapped files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// The disk refused.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The operating system refused to map a file.
    #[error("cannot map {}: {source}", path.display())]
    Map {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// Mapped bytes could not be written back. Whether they will ever reach the disk is unknown; trying again may report
    /// success although they were dropped, so the store has to stop accepting.
    #[error("cannot write back bytes {from}..{to} of {}: {source}", path.display())]
    Flush {
        /// The file.
        path: PathBuf,
        /// First byte of the range.
        from: u64,
        /// First byte behind the range.
        to: u64,
        /// The reason.
        source: std::io::Error,
    },
    /// A mapped page could not be delivered: the file was shortened by somebody else, or the device failed to read it.
    /// Bytes at and behind the place are not those of the file, and what was written there is lost.
    #[error("{}: the mapped page at {at} cannot be read or written: the file was shortened, or its device failed", path.display())]
    Fault {
        /// The file.
        path: PathBuf,
        /// First byte of the page.
        at: u64,
    },
    /// Bytes could not be moved from a write buffer to their file. They are still in the buffer.
    #[error("cannot commit bytes {from}..{to} of {}: {source}", path.display())]
    Commit {
        /// The file.
        path: PathBuf,
        /// First byte of the range.
        from: u64,
        /// First byte behind the range.
        to: u64,
        /// The reason.
        source: DiskError,
    },
    /// A new file would get no write buffer (`fastFailIfNoBufferInStorePool`). One comes back soon.
    #[error("{}: all write buffers are in use; one comes back when its file is full and committed", directory.display())]
    NoBuffer {
        /// Directory of the queue.
        directory: PathBuf,
    },
    /// A file of a queue has another size than configured.
    #[error("{}: expected a file of {expected} bytes, found {found}", path.display())]
    WrongSize {
        /// The file.
        path: PathBuf,
        /// Configured size in bytes.
        expected: u64,
        /// Its size in bytes.
        found: u64,
    },
    /// A file in the directory of a queue is not named by an offset.
    #[error("{}: expected a name of 20 digits, the offset of the first byte", path.display())]
    StrayFile {
        /// The file.
        path: PathBuf,
    },
    /// The files of a queue are not neighbours.
    #[error("{}: expected a file that begins at offset {expected}, found the next one at {found}", directory.display())]
    MissingFile {
        /// Directory of the queue.
        directory: PathBuf,
        /// Offset at which a file should begin.
        expected: u64,
        /// Offset of the file found instead.
        found: u64,
    },
    /// Two directories of a queue hold the same stretch of it.
    #[error("{} and {} are the same file of one queue; move one of them away", first.display(), second.display())]
    Duplicate {
        /// One file.
        first: PathBuf,
        /// The other one.
        second: PathBuf,
    },
    /// Bytes do not fit behind the write position.
    #[error("{}: {len} bytes do not fit behind position {position} of {size}", path.display())]
    NoRoom {
        /// The file.
        path: PathBuf,
        /// Bytes to append.
        len: u64,
        /// Write position.
        position: u64,
        /// File size.
        size: u64,
    },
    /// Bytes that should be cut are still being read.
    #[error("{}: cannot cut at {at}: {views} views of the file are held", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
        /// Position of the cut.
        at: u64,
        /// Views held.
        views: usize,
    },
    /// A cell outside the file or not aligned.
    #[error("{}: no cell of {len} bytes at {at}", path.display())]
    NoCell {
        /// The file.
        path: PathBuf,
        /// Position asked for.
        at: u64,
        /// Bytes of the cell.
        len: u64,
    },
}

impl MapError {
    /// True when the disk is full.
    pub fn is_no_space(&self) -> bool {
        matches!(self, Self::Disk(error) | Self::Commit { source: error, .. } if error.is_no_space())
    }
}
