use super::fields::Fields;
use super::finding::Finding;
use super::window::Window;
use crate::env::{Disk, DiskFile, FileKind, OpenMode};
use crate::error::Result;
use crate::file_name::parse_offset_name;
use crate::zero_scan::first_nonzero;
use std::path::{Path, PathBuf};

/// One file of a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SequenceFile {
    /// Where it is.
    pub path: PathBuf,
    /// Offset of its first byte, as its name says.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
}

impl SequenceFile {
    /// Offset behind its last byte.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.len)
    }
}

/// Files named after the offset of their first byte, read as one range of bytes. Keeps one file open and one window in
/// memory, so it is made for reading in order.
#[derive(Debug)]
pub struct FileSequence {
    directory: PathBuf,
    files: Vec<SequenceFile>,
    strays: Vec<SequenceFile>,
    open: Option<(usize, Box<dyn DiskFile>)>,
    window: Window,
}

impl FileSequence {
    /// Lists the files of a directory; a missing directory is empty.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn list(disk: &dyn Disk, directory: &Path) -> Result<Self> {
        Self::list_all(disk, [directory])
    }

    /// Lists the files of several directories as one sequence; missing directories are empty.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn list_all<'a>(disk: &dyn Disk, directories: impl IntoIterator<Item = &'a Path>) -> Result<Self> {
        let mut files = Vec::new();
        let mut strays = Vec::new();
        let mut first = None;
        for directory in directories {
            first.get_or_insert_with(|| directory.to_owned());
            for entry in disk.read_dir(directory)? {
                if entry.kind != FileKind::File {
                    continue;
                }
                let offset = parse_offset_name(&entry.name);
                let listed = if offset.is_some() && entry.len > 0 { &mut files } else { &mut strays };
                let path = directory.join(&entry.name);
                listed.push(SequenceFile { path, offset: offset.unwrap_or(0), len: entry.len });
            }
        }
        files.sort_by_key(|file| file.offset);
        let directory = first.unwrap_or_default();
        Ok(Self { directory, files, strays, open: None, window: Window::new() })
    }

    /// A sequence of one file, taken out of its directory.
    pub fn of_file(path: &Path, offset: u64, len: u64) -> Self {
        let files = vec![SequenceFile { path: path.to_owned(), offset, len }];
        let directory = path.parent().unwrap_or(path).to_owned();
        Self { directory, files, strays: Vec::new(), open: None, window: Window::new() }
    }

    /// The directory, the first of several.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The files in the order of their offsets.
    pub fn files(&self) -> &[SequenceFile] {
        &self.files
    }

    /// Files that are no part of the sequence: empty ones and those with another name.
    pub fn strays(&self) -> &[SequenceFile] {
        &self.strays
    }

    /// Offset of the first byte.
    pub fn start(&self) -> Option<u64> {
        self.files.first().map(|file| file.offset)
    }

    /// Offset behind the last byte of the last file.
    pub fn end(&self) -> u64 {
        self.files.last().map_or(0, SequenceFile::end)
    }

    /// Bytes of all files.
    pub fn total_len(&self) -> u64 {
        self.files.iter().map(|file| file.len).sum()
    }

    /// Number of the file that holds `offset`.
    pub fn index_of(&self, offset: u64) -> Option<usize> {
        let behind = self.files.partition_point(|file| file.offset <= offset);
        let index = behind.checked_sub(1)?;
        (offset < self.files[index].end()).then_some(index)
    }

    /// The file that holds `offset`.
    pub fn file_at(&self, offset: u64) -> Option<&SequenceFile> {
        self.index_of(offset).map(|index| &self.files[index])
    }

    /// Bytes from `offset` on within its file: at least `want`, fewer only where the file ends; none when no file holds
    /// `offset`.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn bytes(&mut self, disk: &dyn Disk, offset: u64, want: usize) -> Result<&[u8]> {
        let Some(index) = self.index_of(offset) else { return Ok(&[]) };
        self.select(disk, index)?;
        let SequenceFile { offset: first, len, .. } = self.files[index];
        match &self.open {
            Some((_, file)) => self.window.bytes(&**file, len, offset - first, want),
            None => Ok(&[]),
        }
    }

    /// The place at `offset` or behind it, in the same file, where the next byte that is not zero stands; `None` when
    /// the rest of the file is zero. Stretches that were never written are not read.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn next_nonzero(&mut self, disk: &dyn Disk, offset: u64) -> Result<Option<u64>> {
        let Some(index) = self.index_of(offset) else { return Ok(None) };
        self.select(disk, index)?;
        let SequenceFile { offset: first, len, .. } = self.files[index];
        let Some((_, file)) = &self.open else { return Ok(None) };
        let mut at = offset - first;
        while at < len {
            let Some(data) = file.next_data(at)? else { return Ok(None) };
            at = data.max(at);
            if at >= len {
                break;
            }
            let bytes = self.window.bytes(&**file, len, at, 1)?;
            if let Some(byte) = first_nonzero(bytes) {
                return Ok(Some(first + at + byte as u64));
            }
            at += bytes.len() as u64;
        }
        Ok(None)
    }

    fn select(&mut self, disk: &dyn Disk, index: usize) -> Result<()> {
        if self.open.as_ref().is_none_or(|open| open.0 != index) {
            self.open = None;
            self.window.clear();
            self.open = Some((index, disk.open(&self.files[index].path, OpenMode::Read)?));
        }
        Ok(())
    }

    /// Closes the file and frees the window; the next read opens it again.
    pub fn rest(&mut self) {
        self.open = None;
        self.window = Window::new();
    }

    /// Findings about the files as such: names, lengths, gaps between neighbours.
    pub fn verify(&self, found: &mut dyn FnMut(Finding)) {
        for stray in &self.strays {
            if stray.len == 0 && stray.offset >= self.end() && stray.offset > 0 {
                let is = "0 bytes: left by a crash, a start deletes it";
                found(Finding::note("empty-file", &stray.path, "a file with content", is));
                continue;
            }
            let expected = "a name of digits and a file with content";
            let is = format!("{} bytes", stray.len);
            found(Finding::error("stray-file", &stray.path, expected, is));
        }
        let usual = self.files.first().map_or(0, |file| file.len);
        for file in &self.files {
            if file.len != usual {
                let expected = format!("{usual} bytes, as the first file has");
                found(Finding::error("file-length", &file.path, expected, format!("{} bytes", file.len)));
            }
        }
        for pair in self.files.windows(2) {
            if pair[1].offset != pair[0].end() {
                let expected = format!("the file to begin at {}, behind the one before", pair[0].end());
                let subject = Fields::new().with("previous", pair[0].path.display().to_string());
                found(
                    Finding::error("missing-file", &pair[1].path, expected, pair[1].offset.to_string())
                        .about(subject),
                );
            }
        }
    }
}
