//! The real world, in safe code; the few calls that `std` lacks are in `linux.rs`, their poorer twins in `portable.rs`.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as sys;
#[cfg(not(target_os = "linux"))]
mod portable;
#[cfg(not(target_os = "linux"))]
use portable as sys;

use crate::env::{DirEntry, Disk, DiskFile, FileKind, FileStat, Mappable, OpenMode, Space};
use crate::error::{DiskError, Result};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The operating system's file system.
#[derive(Debug)]
pub struct OsDisk;

/// An open file of the operating system.
#[derive(Debug)]
struct OsFile {
    file: File,
    path: PathBuf,
}

impl OsFile {
    fn wrap<T>(&self, action: &'static str, result: io::Result<T>) -> Result<T> {
        result.map_err(|error| DiskError::new(action, &self.path, error))
    }
}

fn wrap<T>(action: &'static str, path: &Path, result: io::Result<T>) -> Result<T> {
    result.map_err(|error| DiskError::new(action, path, error))
}

fn kind_of(file_type: fs::FileType) -> FileKind {
    if file_type.is_file() {
        FileKind::File
    } else if file_type.is_dir() {
        FileKind::Directory
    } else {
        FileKind::Other
    }
}

fn modified_millis(metadata: &fs::Metadata) -> i64 {
    let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
    let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

impl Disk for OsDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true);
        match mode {
            OpenMode::Read => {}
            OpenMode::ReadWrite => {
                options.write(true);
            }
            OpenMode::CreateNew => {
                options.write(true).create_new(true);
            }
            OpenMode::OpenOrCreate => {
                options.write(true).create(true).truncate(false);
            }
        }
        let file = wrap("open", path, options.open(path))?;
        Ok(Box::new(OsFile { file, path: path.to_owned() }))
    }

    fn create_dir_all(&self, path: &Path) -> Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Some(parent) = parent {
            self.create_dir_all(parent)?;
        }
        match fs::create_dir(path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
            Err(error) => return Err(DiskError::new("make directory", path, error)),
        }
        // Left as it is, it would be found by the next call and taken for durable.
        parent.map_or(Ok(()), |parent| self.sync_dir(parent)).inspect_err(|_| drop(fs::remove_dir(path)))
    }

    fn read_dir(&self, path: &Path) -> Result<Vec<DirEntry>> {
        let listing = match fs::read_dir(path) {
            Ok(listing) => listing,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(DiskError::new("list", path, error)),
        };
        let mut entries = Vec::new();
        for entry in listing {
            let entry = wrap("list", path, entry)?;
            let metadata = wrap("look at", &entry.path(), entry.metadata())?;
            entries.push(DirEntry {
                name: entry.file_name().to_string_lossy().into_owned(),
                kind: kind_of(metadata.file_type()),
                len: metadata.len(),
            });
        }
        entries.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(entries)
    }

    fn stat(&self, path: &Path) -> Result<Option<FileStat>> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(Some(FileStat {
                kind: kind_of(metadata.file_type()),
                len: metadata.len(),
                modified: modified_millis(&metadata),
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(DiskError::new("look at", path, error)),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        wrap("rename", from, fs::rename(from, to))
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        wrap("delete", path, fs::remove_file(path))
    }

    fn remove_dir(&self, path: &Path) -> Result<()> {
        wrap("delete directory", path, fs::remove_dir(path))
    }

    fn sync_dir(&self, path: &Path) -> Result<()> {
        // A relative path of one component has the parent "".
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let directory = wrap("open directory", path, File::open(path))?;
        wrap("sync directory", path, directory.sync_all())
    }

    fn space(&self, path: &Path) -> Result<Space> {
        wrap("ask for the free space at", path, sys::space(path))
    }

    fn direct_alignment(&self, path: &Path) -> Result<Option<u32>> {
        wrap("read directly", path, sys::direct_alignment(path))
    }
}

impl DiskFile for OsFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn len(&self) -> Result<u64> {
        self.wrap("look at", self.file.metadata()).map(|metadata| metadata.len())
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> Result<()> {
        self.wrap("read", self.file.read_exact_at(buf, offset))
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        self.wrap("write", self.file.write_all_at(bytes, offset))
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.wrap("resize", self.file.set_len(len))
    }

    fn allocate(&self, offset: u64, len: u64) -> Result<()> {
        self.wrap("reserve blocks for", sys::allocate(&self.file, offset, len))
    }

    fn next_data(&self, offset: u64) -> Result<Option<u64>> {
        self.wrap("look for data in", sys::next_data(&self.file, offset))
    }

    fn resident(&self) -> Result<Option<u64>> {
        self.wrap("ask for the cached pages of", sys::resident(&self.file, self.len()?))
    }

    fn sync_data(&self) -> Result<()> {
        self.wrap("sync", self.file.sync_data())
    }

    fn sync_all(&self) -> Result<()> {
        self.wrap("sync", self.file.sync_all())
    }

    fn try_lock_first_byte(&self) -> Result<bool> {
        self.wrap("lock", sys::try_lock_first_byte(&self.file))
    }

    fn mappable(&self) -> Mappable<'_> {
        Mappable::Os(&self.file)
    }
}

/// Memory of the machine in bytes; 24 GiB when the system does not say, as Apache assumes.
pub fn total_memory() -> u64 {
    sys::total_memory().unwrap_or(24 << 30)
}
