//! Linux calls that `std` lacks. One of the two homes of `unsafe` in the workspace.
#![allow(unsafe_code, reason = "system calls")]

use crate::env::Space;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// `fallocate(2)`: reserves blocks and extends the file; content that is there stays.
pub(super) fn allocate(file: &File, offset: u64, len: u64) -> io::Result<()> {
    let too_large = |_| io::Error::from(io::ErrorKind::FileTooLarge);
    let offset = libc::off_t::try_from(offset).map_err(too_large)?;
    let len = libc::off_t::try_from(len).map_err(too_large)?;
    loop {
        // SAFETY: the descriptor is open for as long as `file` is borrowed; the call takes no pointer.
        let result = unsafe { libc::fallocate(file.as_raw_fd(), 0, offset, len) };
        if result == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::EOPNOTSUPP | libc::ENOSYS) => return Err(io::ErrorKind::Unsupported.into()),
            _ => return Err(error),
        }
    }
}

/// `lseek(2)` with `SEEK_DATA`; blocks that are reserved and were never written count as none. Moves the file's cursor,
/// which nobody here uses.
pub(super) fn next_data(file: &File, offset: u64) -> io::Result<Option<u64>> {
    let from = libc::off_t::try_from(offset).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    // SAFETY: the descriptor is open for as long as `file` is borrowed; the call takes no pointer.
    let found = unsafe { libc::lseek(file.as_raw_fd(), from, libc::SEEK_DATA) };
    if let Ok(found) = u64::try_from(found) {
        return Ok(Some(found));
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        // No data up to the end of the file.
        Some(libc::ENXIO) => Ok(None),
        // A file system that cannot tell.
        Some(libc::EINVAL | libc::EOPNOTSUPP) => Ok(Some(offset)),
        _ => Err(error),
    }
}

/// `statvfs(3)` of the file system that holds `path`.
pub(super) fn space(path: &Path) -> io::Result<Space> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let mut stat = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: `path` is NUL-terminated and `stat` is a writable statvfs; both live across the call.
    let result = unsafe { libc::statvfs(path.as_ptr(), stat.as_mut_ptr()) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call returned success, so it filled the whole structure.
    let stat = unsafe { stat.assume_init() };
    let unit = stat.f_frsize;
    Ok(Space {
        total: stat.f_blocks.saturating_mul(unit),
        available: stat.f_bavail.saturating_mul(unit),
        used: stat.f_blocks.saturating_sub(stat.f_bfree).saturating_mul(unit),
    })
}

/// POSIX record lock on byte 0, the kind the JVM takes; `flock` would not exclude a Java broker.
pub(super) fn try_lock_first_byte(file: &File) -> io::Result<bool> {
    let lock = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 1,
        l_pid: 0,
    };
    // SAFETY: the descriptor is open while `file` is borrowed and `lock` is a valid flock for the length of the call.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &raw const lock) };
    if result == 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EAGAIN) => Ok(false),
        _ => Err(error),
    }
}

/// Memory of the machine in bytes; `None` when the system does not say.
pub(super) fn total_memory() -> Option<u64> {
    // SAFETY: `sysconf` takes a number and no pointer.
    let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    u64::try_from(pages).ok()?.checked_mul(u64::try_from(size).ok()?)
}
