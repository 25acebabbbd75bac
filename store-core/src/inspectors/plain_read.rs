//! Reading every file and nothing more: what the time of [`StoreInspection::verify`] is held against.

use super::StoreInspection;
use std::path::Path;
use store_logic::inspect::{Fields, InspectError};
use store_logic::{DiskError, FileKind, OpenMode};

/// Bytes read in one go.
const STEP: usize = 1 << 20;

/// What a plain read came across.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlainRead {
    /// Files read.
    pub files: u64,
    /// Bytes read, from the first to the last of each file.
    pub bytes: u64,
    /// CRC32 of all of them, file by file in the order of their names.
    pub crc32: u32,
}

impl PlainRead {
    /// As fields.
    pub fn fields(&self) -> Fields {
        Fields::new()
            .with("files", self.files)
            .with("bytes", self.bytes)
            .with("crc32", format!("{:08X}", self.crc32))
    }
}

impl StoreInspection {
    /// Reads every file of the store from its first to its last byte and takes one CRC32 over them: the least that any
    /// check of the whole store has to do.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn plain_read(&self) -> Result<PlainRead, InspectError> {
        let mut reader = PlainReader {
            store: self,
            read: PlainRead::default(),
            crc: crc32fast::Hasher::new(),
            buf: vec![0; STEP],
        };
        reader.directory(self.paths.root())?;
        if !self.paths.commit_log().starts_with(self.paths.root()) {
            reader.directory(self.paths.commit_log())?;
        }
        Ok(PlainRead { crc32: reader.crc.finalize(), ..reader.read })
    }
}

struct PlainReader<'a> {
    store: &'a StoreInspection,
    read: PlainRead,
    crc: crc32fast::Hasher,
    buf: Vec<u8>,
}

impl PlainReader<'_> {
    fn directory(&mut self, directory: &Path) -> Result<(), DiskError> {
        for entry in self.store.env.disk().read_dir(directory)? {
            let path = directory.join(&entry.name);
            match entry.kind {
                FileKind::Directory => self.directory(&path)?,
                FileKind::File => self.file(&path)?,
                FileKind::Other => {}
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<(), DiskError> {
        let file = self.store.env.disk().open(path, OpenMode::Read)?;
        let len = file.len()?;
        let mut at = 0;
        while at < len {
            let part = usize::try_from(len - at).map_or(STEP, |left| left.min(STEP));
            file.read_exact_at(&mut self.buf[..part], at)?;
            self.crc.update(&self.buf[..part]);
            at += part as u64;
        }
        self.read.files += 1;
        self.read.bytes += len;
        Ok(())
    }
}
