//! The same calls where the platform is not Linux: weaker, and saying so through `Unsupported`.

use crate::env::Space;
use std::fs::File;
use std::io;
use std::path::Path;

/// No portable way to reserve blocks: the caller falls back to writing zeros.
pub(super) fn allocate(_file: &File, _offset: u64, _len: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Not known: everything may be data.
pub(super) fn next_data(_file: &File, offset: u64) -> io::Result<Option<u64>> {
    Ok(Some(offset))
}

/// Unknown: the caller treats the disk as roomy.
pub(super) fn space(_path: &Path) -> io::Result<Space> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The standard library's whole-file lock; it excludes a second StrataMQ, not a Java broker.
pub(super) fn try_lock_first_byte(file: &File) -> io::Result<bool> {
    // Needs a platform whose `std` has file locks (Rust 1.89); Linux, the supported platform, does not come here.
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(std::fs::TryLockError::WouldBlock) => Ok(false),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}

/// Not known without a system call of its own.
pub(super) fn total_memory() -> Option<u64> {
    None
}

/// Not known without a system call of its own.
pub(super) fn resident(_file: &File, _len: u64) -> io::Result<Option<u64>> {
    Ok(None)
}

/// Not tried.
pub(super) fn direct_alignment(_path: &Path) -> io::Result<Option<u32>> {
    Ok(None)
}
