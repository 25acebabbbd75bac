use crate::env::UnixMillis;
use crate::error::Result;
use std::fs::File;
use std::path::Path;

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// Existing file, reading only.
    Read,
    /// Existing file, reading and writing.
    ReadWrite,
    /// A file that must not exist yet.
    CreateNew,
    /// Reading and writing; made when absent, kept as it is when present.
    OpenOrCreate,
}

/// What a directory entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Regular file.
    File,
    /// Directory.
    Directory,
    /// Anything else (link, socket …).
    Other,
}

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// Name without the directory. Names that are not UTF-8 are shown with replacement characters.
    pub name: String,
    /// What it is.
    pub kind: FileKind,
    /// Bytes, for a file.
    pub len: u64,
}

/// Size and age of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStat {
    /// What it is.
    pub kind: FileKind,
    /// Bytes.
    pub len: u64,
    /// Time of the last change of content.
    pub modified: UnixMillis,
}

/// Space of the file system that holds a path, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Whole file system.
    pub total: u64,
    /// What this process may still use.
    pub available: u64,
    /// What is in use.
    pub used: u64,
}

/// A file system. Durability is stated call by call; nothing not stated is promised.
pub trait Disk: Send + Sync {
    /// Opens a file. A created name is durable only after [`Disk::sync_dir`] of its directory.
    fn open(&self, path: &Path, mode: OpenMode) -> Result<Box<dyn DiskFile>>;

    /// Makes a directory and its parents. Every new name on the way is made durable; one that cannot be is removed again.
    fn create_dir_all(&self, path: &Path) -> Result<()>;

    /// Entries of a directory, sorted by name. A missing directory is empty.
    fn read_dir(&self, path: &Path) -> Result<Vec<DirEntry>>;

    /// Size and age; `None` when nothing is there.
    fn stat(&self, path: &Path) -> Result<Option<FileStat>>;

    /// Renames over whatever stands at `to`. Readers see the old or the new file; durable after [`Disk::sync_dir`].
    fn rename(&self, from: &Path, to: &Path) -> Result<()>;

    /// Deletes a file. Durable after [`Disk::sync_dir`].
    fn remove_file(&self, path: &Path) -> Result<()>;

    /// Deletes an empty directory.
    fn remove_dir(&self, path: &Path) -> Result<()>;

    /// Makes the names in a directory durable: creations, renames and deletions done before.
    fn sync_dir(&self, path: &Path) -> Result<()>;

    /// Space of the file system that holds `path` (which must exist).
    fn space(&self, path: &Path) -> Result<Space>;

    /// Smallest alignment in bytes at which an existing file of at least 4 KiB can be read past the page cache; `None`
    /// where it cannot.
    fn direct_alignment(&self, _path: &Path) -> Result<Option<u32>> {
        Ok(None)
    }
}

/// An open file.
pub trait DiskFile: Send + Sync {
    /// Where it was opened.
    fn path(&self) -> &Path;

    /// Length in bytes.
    fn len(&self) -> Result<u64>;

    /// True when the file holds no byte.
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads exactly `buf.len()` bytes at `offset`; an end of file before that is an error.
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> Result<()>;

    /// Writes all of `bytes` at `offset`. Durable after [`DiskFile::sync_data`].
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<()>;

    /// Cuts or extends the file; new bytes are zero and take no blocks.
    fn set_len(&self, len: u64) -> Result<()>;

    /// Reserves blocks for `len` bytes at `offset` (extending the file when they lie beyond its end), so that later
    /// writes there, mapped ones too, cannot run out of space. Content that is there stays.
    ///
    /// # Errors
    ///
    /// [`std::io::ErrorKind::Unsupported`] where the file system cannot reserve, and whatever it reports.
    fn allocate(&self, offset: u64, len: u64) -> Result<()>;

    /// Where the next bytes that were ever written may begin, at `offset` or behind it; `None` when none were up to the
    /// end of the file. A hint that saves reading: what is passed over reads as zero.
    fn next_data(&self, offset: u64) -> Result<Option<u64>> {
        Ok(Some(offset))
    }

    /// Bytes of the file in the page cache, in whole pages; `None` where the system does not tell.
    fn resident(&self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Makes content and length durable.
    fn sync_data(&self) -> Result<()>;

    /// Makes content, length and times durable.
    fn sync_all(&self) -> Result<()>;

    /// Takes the exclusive lock on byte 0 without waiting; false when another process holds it. Held until the file is
    /// dropped. The same kind of lock as a Java `FileChannel.tryLock(0, 1, false)`.
    fn try_lock_first_byte(&self) -> Result<bool>;

    /// What a mapping is made of.
    fn mappable(&self) -> Mappable<'_>;
}

/// Access for the layer that maps files.
#[derive(Debug)]
#[non_exhaustive]
pub enum Mappable<'a> {
    /// A file of the operating system.
    Os(&'a File),
    /// A file of the simulated disk.
    #[cfg(any(test, feature = "sim"))]
    Sim(crate::sim::SimMapping),
}

impl std::fmt::Debug for dyn DiskFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("DiskFile").field(&self.path()).finish()
    }
}
