//! What appending to a mapped file can do at best: the same copies, and nothing else.

use crate::error::Result;
use crate::mapping::ExclusiveMapping;
use std::path::Path;
use std::time::Duration;
use store_disk_tools::preallocate::reserve;
use store_disk_tools::{DiskFile, Env, OpenMode};

/// Bytes made present in one call.
const STEP: usize = 16 << 20;

/// State of the file's pages before the first copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pages {
    /// The file has no blocks and no pages: each first touch of a page is a fault that finds both.
    Sparse,
    /// Its blocks are reserved, and its pages are present and writable.
    Present,
}

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyLimit {
    /// Records copied.
    pub records: u64,
    /// Time of the copies alone.
    pub took: Duration,
}

/// Copies a record of `record_len` bytes behind one another into a new file at `path` until `bytes` are full, on this
/// thread, and deletes the file.
///
/// # Errors
///
/// Whatever the disk reports; the file is deleted all the same.
pub fn copy_limit(
    env: &Env,
    path: &Path,
    record_len: usize,
    bytes: usize,
    pages: Pages,
) -> Result<CopyLimit> {
    let file = env.disk().open(path, OpenMode::CreateNew)?;
    let measured = measure(env, &*file, record_len.max(1), bytes.max(1), pages);
    let removed = env.disk().remove_file(path);
    let limit = measured?;
    removed?;
    Ok(limit)
}

fn measure(
    env: &Env,
    file: &dyn DiskFile,
    record_len: usize,
    bytes: usize,
    pages: Pages,
) -> Result<CopyLimit> {
    file.set_len(bytes as u64)?;
    if pages == Pages::Present {
        reserve(file, 0, bytes as u64)?;
    }
    let mut mapping = ExclusiveMapping::new(file, bytes as u64)?;
    if pages == Pages::Present {
        for from in (0..bytes).step_by(STEP) {
            let to = bytes.min(from + STEP);
            if !mapping.populate(from, to) {
                mapping.bytes_mut()[from..to].fill(0);
            }
        }
    }
    let record = vec![7_u8; record_len];
    let began = env.clock().monotonic();
    let mut records = 0;
    for place in mapping.bytes_mut().chunks_exact_mut(record_len) {
        place.copy_from_slice(std::hint::black_box(&record));
        records += 1;
    }
    let took = env.clock().monotonic().saturating_sub(began);
    mapping.check_fault(file.path())?;
    Ok(CopyLimit { records, took })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_records_are_copied_and_nothing_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("copies");
        for pages in [Pages::Sparse, Pages::Present] {
            let limit = copy_limit(&Env::os(), &path, 1000, 64 << 10, pages).unwrap();
            assert_eq!(limit.records, 65);
            assert!(!path.exists());
        }
    }

    #[test]
    fn a_file_that_is_there_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("copies");
        std::fs::write(&path, b"kept").unwrap();
        assert!(copy_limit(&Env::os(), &path, 10, 100, Pages::Sparse).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"kept");
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let path = Path::new("no-such-directory").join("copies");
        let error = copy_limit(&Env::os(), &path, 10, 100, Pages::Sparse).unwrap_err().to_string();
        assert!(error.contains("no-such-directory"), "{error}");
    }
}
