//! Which files are in the page cache, and how much of each.

use crate::env::{Disk, FileKind, OpenMode};
use crate::error::{DiskError, Result};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

/// How much of a file is in the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Residency {
    /// Bytes of the file.
    pub bytes: u64,
    /// Bytes of them in the page cache, in whole pages; `None` when the system does not tell.
    pub resident: Option<u64>,
}

impl Residency {
    /// The share in percent; `None` when the system does not tell, 0 for an empty file.
    pub fn percent(&self) -> Option<u64> {
        self.resident.map(|resident| (resident * 100).checked_div(self.bytes).unwrap_or(0))
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            resident: self.resident.zip(other.resident).map(|(left, right)| left + right),
        }
    }
}

/// Shows every file below `path` (or `path` itself) in the order of names until `visit` breaks. Nothing is read, so
/// asking does not change the answer.
///
/// # Errors
///
/// Nothing is there, and whatever the disk reports.
pub fn residency(
    disk: &dyn Disk,
    path: &Path,
    visit: &mut dyn FnMut(&Path, Residency) -> ControlFlow<()>,
) -> Result<ControlFlow<()>> {
    match disk.stat(path)?.map(|stat| stat.kind) {
        None => Err(DiskError::new("open", path, io::ErrorKind::NotFound.into())),
        Some(FileKind::Directory) => {
            for entry in disk.read_dir(path)? {
                if entry.kind == FileKind::Other {
                    continue;
                }
                match residency(disk, &path.join(&entry.name), visit) {
                    Ok(ControlFlow::Continue(())) => {}
                    // Deleted meanwhile.
                    Err(error) if error.is_not_found() => {}
                    broken_or_failed => return broken_or_failed,
                }
            }
            Ok(ControlFlow::Continue(()))
        }
        Some(_) => {
            let file = disk.open(path, OpenMode::Read)?;
            Ok(visit(path, Residency { bytes: file.len()?, resident: file.resident()? }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::OsDisk;

    #[test]
    fn what_was_written_is_there_and_holes_are_not() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), vec![1; 10_000]).unwrap();
        let hole = OsDisk.open(&dir.path().join("b"), OpenMode::CreateNew).unwrap();
        hole.set_len(1 << 20).unwrap();
        OsDisk.open(&dir.path().join("c"), OpenMode::CreateNew).unwrap();
        let mut seen = Vec::new();
        let walked = residency(&OsDisk, dir.path(), &mut |path, residency| {
            seen.push((path.file_name().unwrap().to_str().unwrap().to_owned(), residency));
            ControlFlow::Continue(())
        });
        assert!(walked.unwrap().is_continue());
        let bytes: Vec<_> = seen.iter().map(|(name, file)| (name.as_str(), file.bytes)).collect();
        assert_eq!(bytes, [("a", 10_000), ("b", 1 << 20), ("c", 0)]);
        if cfg!(target_os = "linux") {
            assert_eq!(seen[1].1.resident, Some(0), "a hole");
            assert!(seen[0].1.resident.is_some_and(|resident| resident <= 10_000));
            assert_eq!(seen[2].1.percent(), Some(0));
        }
    }
}
