//! Memory of a file, of the operating system or of the simulated disk. One of the two homes of `unsafe` in the
//! workspace.
//!
//! `memmap2::MmapRaw` and not `MmapMut`, because no `&mut [u8]` over the whole shared mapping may ever exist. Every
//! access is bounds-checked here; what the callers must keep (who may touch which byte when) is said at each `unsafe fn`
//! and kept by exactly two callers, `MappedFile` and `CellFile`.
#![allow(unsafe_code, reason = "the only code that dereferences mapped memory")]

use super::guard::Guard;
use crate::error::{MapError, Result};
use memmap2::{Advice, MmapOptions, MmapRaw};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64};
#[cfg(any(test, feature = "sim"))]
use store_disk_tools::sim::SimMapping;
use store_disk_tools::{DiskFile, Mappable};

/// A whole file in memory, shared with the page cache.
#[derive(Debug)]
pub(crate) struct Mapping {
    memory: Memory,
    /// Bytes of the file; a simulated file's memory has room for whole pages.
    len: usize,
    /// Tells the model checker who touches what.
    #[cfg(loom)]
    watched: super::watched::Watched,
}

/// Where the memory comes from.
#[derive(Debug)]
enum Memory {
    /// The operating system's page cache. The guard goes before the memory it guards.
    Os { guard: Guard, map: MmapRaw },
    /// Memory of this process alone, zero at first; pages come when they are first written.
    Anonymous(MmapRaw),
    /// Pages of a simulated file, on the heap.
    #[cfg(any(test, feature = "sim"))]
    Sim(SimMapping),
}

impl Mapping {
    /// Maps the first `len` bytes of `file`, which must have at least that length and keep it while mapped . Nobody in this
    /// workspace shortens a mapped file; when somebody else does, or the device cannot be read, see [`Mapping::fault`].
    pub(crate) fn new(file: &dyn DiskFile, len: u64) -> Result<Self> {
        let fail = |source| MapError::Map { path: file.path().to_owned(), source };
        let size = usize::try_from(len).map_err(|_| fail(io::ErrorKind::FileTooLarge.into()))?;
        let found = file.len()?;
        if found < len {
            return Err(MapError::WrongSize { path: file.path().to_owned(), expected: len, found });
        }
        let memory = match file.mappable() {
            Mappable::Os(file) => {
                let map = MmapOptions::new().len(size).map_raw(file).map_err(fail)?;
                Memory::Os { guard: Guard::new(map.as_ptr(), size), map }
            }
            #[cfg(any(test, feature = "sim"))]
            Mappable::Sim(mapping) if mapping.len() >= size => Memory::Sim(mapping),
            _ => return Err(fail(io::ErrorKind::Unsupported.into())),
        };
        Ok(Self::of(memory, size))
    }

    fn of(memory: Memory, len: usize) -> Self {
        Self {
            memory,
            len,
            #[cfg(loom)]
            watched: super::watched::Watched::new(len),
        }
    }

    /// Zeros that belong to no file.
    ///
    /// # Errors
    ///
    /// The operating system's reason, most often a limit on memory.
    pub(crate) fn anonymous(len: u64) -> io::Result<Self> {
        let size = usize::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let memory = MmapOptions::new().len(size).no_reserve_swap().map_anon()?;
        Ok(Self::of(Memory::Anonymous(memory.into()), size))
    }

    /// The lowest byte that the kernel could not deliver; bytes from there on are not those of the file.
    pub(crate) fn fault(&self) -> Option<u64> {
        match &self.memory {
            Memory::Os { guard, .. } => guard.fault(),
            Memory::Anonymous(_) => None,
            #[cfg(any(test, feature = "sim"))]
            Memory::Sim(_) => None,
        }
    }

    /// An error when a page could not be delivered.
    pub(crate) fn check_fault(&self, path: &Path) -> Result<()> {
        match self.fault() {
            Some(at) => Err(MapError::Fault { path: path.to_owned(), at }),
            None => Ok(()),
        }
    }

    /// Length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Address of the first byte; valid and writable for `len` bytes as long as `self` lives, and page-aligned.
    fn base(&self) -> *mut u8 {
        match &self.memory {
            Memory::Os { map, .. } | Memory::Anonymous(map) => map.as_mut_ptr(),
            // Simulated pages are made of atomics, so writing through a shared pointer is what they are for.
            #[cfg(any(test, feature = "sim"))]
            Memory::Sim(mapping) => mapping.base().cast_mut(),
        }
    }

    /// Borrows `len` bytes at `at`.
    ///
    /// # Safety
    ///
    /// Nobody may write to those bytes while the slice lives.
    ///
    /// # Panics
    ///
    /// If the range leaves the mapping.
    pub(crate) unsafe fn slice(&self, at: usize, len: usize) -> &[u8] {
        self.check(at, len);
        #[cfg(loom)]
        self.watched.read(at, len);
        // SAFETY: the range lies in the mapping (checked), which lives as long as `self`; any bit pattern is a `u8`; the
        // caller keeps writers away.
        unsafe { std::slice::from_raw_parts(self.base().add(at), len) }
    }

    /// Borrows `len` bytes at `at` for writing.
    ///
    /// # Safety
    ///
    /// No other reference to those bytes may exist while the slice lives, and no cell access may touch them.
    ///
    /// # Panics
    ///
    /// If the range leaves the mapping.
    #[allow(clippy::mut_from_ref, reason = "exclusive access is the caller's contract")]
    pub(crate) unsafe fn slice_mut(&self, at: usize, len: usize) -> &mut [u8] {
        self.check(at, len);
        #[cfg(loom)]
        self.watched.write(at, len);
        // SAFETY: the range lies in the mapping (checked) and is writable; the caller holds the only reference to it.
        unsafe { std::slice::from_raw_parts_mut(self.base().add(at), len) }
    }

    /// The 4-byte cell at `at`; `None` outside the mapping or unaligned.
    pub(crate) fn cell_u32(&self, at: usize) -> Option<&AtomicU32> {
        if at % 4 != 0 || at.checked_add(4)? > self.len() {
            return None;
        }
        // SAFETY: inside the mapping and 4-aligned (a mapping begins on a page); mapped cells are reached only as atomics
        // (`CellFile` never makes slices), so shared access is sound; the memory lives as long as `self`.
        Some(unsafe { AtomicU32::from_ptr(self.base().add(at).cast()) })
    }

    /// The 8-byte cell at `at`; `None` outside the mapping or unaligned.
    pub(crate) fn cell_u64(&self, at: usize) -> Option<&AtomicU64> {
        if at % 8 != 0 || at.checked_add(8)? > self.len() {
            return None;
        }
        // SAFETY: as for `cell_u32`, with 8-byte alignment.
        Some(unsafe { AtomicU64::from_ptr(self.base().add(at).cast()) })
    }

    /// Writes the bytes `from..to` back and waits for the disk. Memory without a file has none.
    ///
    /// # Errors
    ///
    /// [`MapError::Flush`], and [`MapError::Fault`] when what was written since may be lost.
    pub(crate) fn flush(&self, path: &Path, from: usize, to: usize) -> Result<()> {
        self.check_fault(path)?;
        let written = match &self.memory {
            Memory::Os { map, .. } => map.flush_range(from, to - from),
            Memory::Anonymous(_) => Ok(()),
            #[cfg(any(test, feature = "sim"))]
            Memory::Sim(mapping) => mapping.sync_range(from, to),
        };
        written.map_err(|source| MapError::Flush {
            path: path.to_owned(),
            from: from as u64,
            to: to as u64,
            source,
        })
    }

    /// Makes the pages of `from..to` present and writable without changing a byte; false where the kernel cannot.
    pub(crate) fn populate(&self, from: usize, to: usize) -> bool {
        match &self.memory {
            #[cfg(target_os = "linux")]
            Memory::Os { map, .. } | Memory::Anonymous(map) => {
                map.advise_range(Advice::PopulateWrite, from, to - from).is_ok()
            }
            #[cfg(not(target_os = "linux"))]
            Memory::Os { .. } | Memory::Anonymous(_) => false,
            #[cfg(any(test, feature = "sim"))]
            Memory::Sim(_) => true,
        }
    }

    /// Asks for huge pages: the first touch of one costs a quarter of those of the small ones it replaces.
    pub(crate) fn advise_huge(&self) {
        #[cfg(target_os = "linux")]
        let _ = self.advise(Advice::HugePage);
    }

    /// Tells the kernel how the memory will be used; false where it does not listen.
    pub(crate) fn advise(&self, advice: Advice) -> bool {
        match &self.memory {
            Memory::Os { map, .. } | Memory::Anonymous(map) => map.advise(advice).is_ok(),
            #[cfg(any(test, feature = "sim"))]
            Memory::Sim(_) => true,
        }
    }

    /// Address of the first byte, for locking.
    pub(crate) fn address(&self) -> *const u8 {
        self.base().cast_const()
    }

    fn check(&self, at: usize, len: usize) {
        let end = at.checked_add(len);
        assert!(
            end.is_some_and(|end| end <= self.len()),
            "bytes {at}+{len} leave a mapping of {}",
            self.len()
        );
    }
}
