//! Looking at files without changing them: the frame that the formats above plug into.
//!
//! An [`Inspector`] knows one kind of file: it recognises it by path and first bytes, says in a few [`Fields`] what is
//! in it, lists its entries, and checks what can be checked within the one file. A [`Registry`] asks its inspectors in
//! turn and falls back to [`RawInspector`], which knows bytes only. What stands in a file is a matter of the layer that
//! writes it, so the inspectors live there; what is the same for all of them lives here: opening for reading only,
//! bounded windows, files as one range ([`FileSequence`]), [`Finding`]s and their rendering ([`Report`]).
//!
//! Nothing here opens a file for writing, makes one or deletes one; see [`lock_holder`] for asking after a lock without
//! taking it.

mod fields;
mod file_sequence;
mod finding;
mod lock_probe;
mod raw;
mod report;
mod selection;
mod window;

pub use fields::{FieldValue, Fields};
pub use file_sequence::{FileSequence, SequenceFile};
pub use finding::{Finding, Severity};
pub use lock_probe::{LockHolder, lock_holder};
pub use raw::RawInspector;
pub use report::{Report, ReportFormat};
pub use selection::{Range, Selection};
pub use window::{Window, last_data, probable_end};

use crate::env::{Disk, DiskFile, FileKind, OpenMode};
use crate::error::DiskError;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Bytes of a file that are read to recognise it.
pub const HEAD_LEN: usize = 64;

/// Why something cannot be inspected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InspectError {
    /// The disk refused.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The file is not what it should be.
    #[error("{}: expected {expected}, found {found}", path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// The inspector cannot select by a condition.
    #[error("a {inspector} has no {condition} to select by; expected one of: {known}")]
    Condition {
        /// Name of the inspector.
        inspector: &'static str,
        /// The condition.
        condition: String,
        /// Conditions it knows.
        known: String,
    },
}

/// An open file that is looked at.
#[derive(Debug)]
pub struct Place {
    path: PathBuf,
    len: u64,
    head: Vec<u8>,
    file: Box<dyn DiskFile>,
}

impl Place {
    /// Opens a file for reading and reads its first bytes.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports; that it is a directory, too.
    pub fn open(disk: &dyn Disk, path: &Path) -> Result<Self, DiskError> {
        if disk.stat(path)?.is_some_and(|stat| stat.kind == FileKind::Directory) {
            return Err(DiskError::new("read", path, io::ErrorKind::IsADirectory.into()));
        }
        let file = disk.open(path, OpenMode::Read)?;
        let len = file.len()?;
        let mut head = vec![0; usize::try_from(len).unwrap_or(HEAD_LEN).min(HEAD_LEN)];
        file.read_exact_at(&mut head, 0)?;
        Ok(Self { path: path.to_owned(), len, head, file })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).unwrap_or("")
    }

    /// Name of the directory `levels` above the file: 1 is the one it lies in.
    pub fn directory(&self, levels: usize) -> &str {
        let above = self.path.ancestors().nth(levels).and_then(Path::file_name);
        above.and_then(|name| name.to_str()).unwrap_or("")
    }

    /// Bytes when it was opened.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True when it held no byte.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first bytes, at most [`HEAD_LEN`].
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The file; open for reading only.
    pub fn file(&self) -> &dyn DiskFile {
        &*self.file
    }

    /// Whole content of a small file.
    ///
    /// # Errors
    ///
    /// More than `limit` bytes, and whatever the disk reports.
    pub fn read_whole(&self, limit: u64) -> Result<Vec<u8>, InspectError> {
        if self.len > limit {
            return Err(InspectError::Unreadable {
                path: self.path.clone(),
                expected: format!("at most {limit} bytes"),
                found: format!("{} bytes", self.len),
            });
        }
        let mut bytes = vec![0; self.len as usize];
        self.file.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    }
}

/// Knows one kind of file.
pub trait Inspector: Send + Sync {
    /// What the kind is called, in the singular: `queue file`.
    fn name(&self) -> &'static str;

    /// True when the file is of this kind, by its path and first bytes.
    fn recognises(&self, place: &Place) -> bool;

    /// What is in the file, in a few fields and without reading all of it.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    fn summarise(&self, place: &Place) -> Result<Fields, InspectError>;

    /// Names of the conditions [`Inspector::dump`] understands.
    fn conditions(&self) -> &'static [&'static str] {
        &[]
    }

    /// Shows the entries that meet the selection, in the order of the file, until `visit` breaks. What cannot be read as
    /// an entry is passed over; [`Inspector::verify`] names it. A file without entries shows its summary.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or a condition is not known here.
    fn dump(
        &self,
        place: &Place,
        selection: &Selection,
        visit: &mut dyn FnMut(Fields) -> ControlFlow<()>,
    ) -> Result<(), InspectError> {
        selection.check(self)?;
        let _ = visit(self.summarise(place)?);
        Ok(())
    }

    /// Checks what can be checked within the file.
    ///
    /// # Errors
    ///
    /// The file cannot be read; what it holds is never an error but a finding.
    fn verify(&self, place: &Place, found: &mut dyn FnMut(Finding)) -> Result<(), InspectError>;
}

/// Who is shown every file of a walk and its inspector, until it breaks or fails.
pub type VisitFile<'a> = dyn FnMut(&Place, &dyn Inspector) -> Result<ControlFlow<()>, InspectError> + 'a;

/// The inspectors of a program, asked in their order.
#[derive(Default)]
pub struct Registry {
    inspectors: Vec<Box<dyn Inspector>>,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.inspectors.iter().map(|inspector| inspector.name())).finish()
    }
}

impl Registry {
    /// A registry that knows bytes only.
    pub fn new() -> Self {
        Self::default()
    }

    /// The registry with one more inspector, asked after those it has.
    #[must_use]
    pub fn with(mut self, inspector: impl Inspector + 'static) -> Self {
        self.inspectors.push(Box::new(inspector));
        self
    }

    /// The first inspector that recognises the file; [`RawInspector`] when none does.
    pub fn inspector_of(&self, place: &Place) -> &dyn Inspector {
        let known = self.inspectors.iter().find(|inspector| inspector.recognises(place));
        known.map_or(&RawInspector, |inspector| &**inspector)
    }

    /// Opens every file below `path` (or `path` itself, when it is a file), in the order of their names.
    ///
    /// # Errors
    ///
    /// The first error of the disk or of `visit`.
    pub fn walk(
        &self,
        disk: &dyn Disk,
        path: &Path,
        visit: &mut VisitFile<'_>,
    ) -> Result<ControlFlow<()>, InspectError> {
        let Some(stat) = disk.stat(path)? else {
            return Err(DiskError::new("open", path, io::ErrorKind::NotFound.into()).into());
        };
        if stat.kind == FileKind::File {
            let place = Place::open(disk, path)?;
            return visit(&place, self.inspector_of(&place));
        }
        for entry in disk.read_dir(path)? {
            if entry.kind == FileKind::Other {
                continue;
            }
            match self.walk(disk, &path.join(&entry.name), visit) {
                Ok(ControlFlow::Continue(())) => {}
                // A store that is in use makes and deletes files all the time.
                Err(InspectError::Disk(error)) if error.is_not_found() => {}
                broken_or_failed => return broken_or_failed,
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

#[cfg(test)]
mod tests;
