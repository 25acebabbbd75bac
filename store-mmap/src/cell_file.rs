use crate::error::{MapError, Result};
use crate::mapping::Mapping;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use store_disk_tools::{DiskFile, Env, preallocate};

/// A file of fixed size that is rewritten in place while others read: the third door. Its content is reached as
/// big-endian cells of 4 or 8 bytes, each read and written whole.
#[derive(Debug)]
pub struct CellFile {
    mapping: Mapping,
    file: Box<dyn DiskFile>,
    reserved: AtomicU64,
}

impl CellFile {
    /// Makes or opens the file of `size` bytes, with the blocks of the first `reserved` bytes reserved.
    ///
    /// # Errors
    ///
    /// An existing file of another size; whatever the disk reports.
    pub fn open(env: &Env, path: &Path, size: u64, reserved: u64) -> Result<Self> {
        if let Some(parent) = path.parent() {
            env.disk().create_dir_all(parent)?;
        }
        let reserved = reserved.min(size);
        let (file, how) = preallocate::create_sized(env.disk(), path, size, reserved)?;
        if how == preallocate::Reservation::Existing {
            // Perhaps made by someone who does not reserve (Java): its holes are filled where that is possible.
            preallocate::reserve_in_place(&*file, 0, reserved)?;
        }
        Ok(Self { mapping: Mapping::new(&*file, size)?, file, reserved: AtomicU64::new(reserved) })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.mapping.len() as u64
    }

    /// Reserves the blocks below `end`, at least `step` bytes at a time. Called before cells there are stored to.
    pub fn reserve_up_to(&self, end: u64, step: u64) -> Result<()> {
        let reserved = self.reserved.load(Ordering::Relaxed);
        if end <= reserved {
            return Ok(());
        }
        let to = end.max(reserved.saturating_add(step)).min(self.size());
        // Entries of an earlier run may stand there already.
        preallocate::reserve_in_place(&*self.file, reserved, to - reserved)?;
        self.reserved.store(to, Ordering::Relaxed);
        Ok(())
    }

    /// The 4 bytes at `at`, which must be a multiple of 4.
    pub fn load_u32(&self, at: u64) -> Result<u32> {
        let cell = self.mapping.cell_u32(at as usize).ok_or_else(|| self.no_cell(at, 4))?;
        let value = u32::from_be(cell.load(Ordering::Acquire));
        self.check_fault().map(|()| value)
    }

    /// Sets the 4 bytes at `at`, which must be a multiple of 4.
    pub fn store_u32(&self, at: u64, value: u32) -> Result<()> {
        let cell = self.mapping.cell_u32(at as usize).ok_or_else(|| self.no_cell(at, 4))?;
        cell.store(value.to_be(), Ordering::Release);
        self.check_fault()
    }

    /// The 8 bytes at `at`, which must be a multiple of 8.
    pub fn load_u64(&self, at: u64) -> Result<u64> {
        let cell = self.mapping.cell_u64(at as usize).ok_or_else(|| self.no_cell(at, 8))?;
        let value = u64::from_be(cell.load(Ordering::Acquire));
        self.check_fault().map(|()| value)
    }

    /// Sets the 8 bytes at `at`, which must be a multiple of 8.
    pub fn store_u64(&self, at: u64, value: u64) -> Result<()> {
        let cell = self.mapping.cell_u64(at as usize).ok_or_else(|| self.no_cell(at, 8))?;
        cell.store(value.to_be(), Ordering::Release);
        self.check_fault()
    }

    /// Writes the bytes `from..to` back and waits for the disk.
    pub fn flush(&self, from: u64, to: u64) -> Result<()> {
        let to = to.min(self.size());
        if from >= to {
            return Ok(());
        }
        self.mapping.flush(self.path(), from as usize, to as usize)
    }

    /// Says whether the kernel failed to deliver a page since the file was opened.
    ///
    /// # Errors
    ///
    /// [`MapError::Fault`].
    pub fn check_fault(&self) -> Result<()> {
        self.mapping.check_fault(self.path())
    }

    fn no_cell(&self, at: u64, len: u64) -> MapError {
        MapError::NoCell { path: self.path().to_owned(), at, len }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store_disk_tools::OpenMode;

    #[test]
    fn cells_are_big_endian_and_survive() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("checkpoint");
        let file = CellFile::open(&Env::os(), &path, 4096, 4096).unwrap();
        file.store_u64(8, 0x0102_0304_0506_0708).unwrap();
        file.store_u32(4092, 9).unwrap();
        file.flush(0, 4096).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes[8..16], [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(bytes[4092..], [0, 0, 0, 9]);
        let again = CellFile::open(&Env::os(), &path, 4096, 4096).unwrap();
        assert_eq!(again.load_u64(8).unwrap(), 0x0102_0304_0506_0708);
    }

    #[test]
    fn a_file_shortened_behind_our_back_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index");
        let file = CellFile::open(&Env::os(), &path, 8192, 8192).unwrap();
        Env::os().disk().open(&path, OpenMode::ReadWrite).unwrap().set_len(4096).unwrap();
        file.store_u64(0, 1).unwrap();
        let fault = file.load_u64(4096).unwrap_err();
        assert!(matches!(&fault, MapError::Fault { at: 4096, path: at } if *at == path), "{fault}");
        assert!(file.store_u32(0, 1).is_err() && file.flush(0, 8).is_err());
    }

    #[test]
    fn outside_and_unaligned_cells_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        let file = CellFile::open(&Env::os(), &dir.path().join("f"), 16, 0).unwrap();
        for at in [1, 2, 3, 14, 16, u64::MAX] {
            assert!(file.load_u32(at).is_err(), "{at}");
            assert!(file.store_u64(at, 0).is_err(), "{at}");
        }
    }
}
