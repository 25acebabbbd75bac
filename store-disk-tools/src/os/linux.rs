//! Linux calls that `std` lacks. One of the two homes of `unsafe` in the workspace.
#![allow(unsafe_code, reason = "system calls")]

use crate::env::Space;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
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

/// Bytes mapped in one go to ask for their pages.
const ASKED: u64 = 1 << 30;

/// `mincore(2)`: bytes of the file's pages in memory. Needs a mapping, through which nothing is read.
pub(super) fn resident(file: &File, len: u64) -> io::Result<Option<u64>> {
    let page = page_size();
    let mut resident = 0;
    let mut at = 0;
    while at < len {
        let part = ASKED.min(len - at);
        let pages = part.div_ceil(page);
        let offset = libc::off_t::try_from(at).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        let size = part as libc::size_t;
        // SAFETY: a new mapping of an open file at a place the kernel chooses, at a multiple of the page size.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size,
                libc::PROT_READ,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                offset,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let mut states = vec![0_u8; pages as usize];
        // SAFETY: the range is the mapping made above, and `states` has a byte for each of its pages.
        let result = unsafe { libc::mincore(start, size, states.as_mut_ptr()) };
        let error = io::Error::last_os_error();
        // SAFETY: unmaps exactly what was mapped above; nobody holds a pointer into it.
        unsafe { libc::munmap(start, size) };
        if result != 0 {
            return Err(error);
        }
        let in_memory = states.iter().zip(0_u64..).filter(|(state, _)| **state & 1 == 1);
        resident += in_memory.map(|(_, number)| page.min(part - number * page)).sum::<u64>();
        at += part;
    }
    Ok(Some(resident))
}

fn page_size() -> u64 {
    // SAFETY: `sysconf` takes a number and no pointer.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(size).unwrap_or(4096).max(1)
}

/// Tries to read the first bytes of the file with `O_DIRECT`, with growing alignment.
pub(super) fn direct_alignment(path: &Path) -> io::Result<Option<u32>> {
    const LARGEST: usize = 4096;
    let file = match std::fs::OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path) {
        Ok(file) => file,
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut buf = vec![0_u8; 3 * LARGEST];
    let aligned = buf.as_ptr().align_offset(LARGEST);
    for alignment in [512, 1024, 2048, LARGEST] {
        // Aligned to this, and to nothing larger.
        let from = aligned + if alignment == LARGEST { 0 } else { alignment };
        let Some(target) = buf.get_mut(from..from + alignment) else { return Ok(None) };
        match file.read_at(target, 0) {
            Ok(_) => return Ok(u32::try_from(alignment).ok()),
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
