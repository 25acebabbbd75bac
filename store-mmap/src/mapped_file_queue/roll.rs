//! Taking the next file.

use super::MappedFileQueue;
use crate::error::Result;
use crate::file_supplier::FileRequest;
use crate::mapped_file::MappedFile;
use crate::sync::{Arc, Ordering};

impl MappedFileQueue {
    /// The file to append to: the last one, or the next one when that is full, or the first one of an empty queue,
    /// which then begins at `start_offset` rounded down to a multiple of the file size.
    pub fn last_for_append(&self, start_offset: u64) -> Result<Arc<MappedFile>> {
        let size = self.options.file_size;
        let from = match self.last() {
            Some(last) if !last.is_full() => return Ok(last),
            Some(last) => last.file_from_offset() + size,
            None => start_offset - start_offset % size,
        };
        self.add_file(from)
    }

    fn add_file(&self, from: u64) -> Result<Arc<MappedFile>> {
        let request = FileRequest {
            directories: self.directories.clone(),
            from,
            size: self.options.file_size,
            reserve: self.options.reserve,
            access: self.options.access,
        };
        let buffer = self.buffer_for_next()?;
        let file = self.supplier.supply(&self.env, &request)?;
        if let Some(buffer) = buffer {
            file.stage_in(buffer);
        }
        let mut files = self.write_files();
        if files.is_empty() {
            self.flushed_where.store(from, Ordering::Release);
        }
        files.push(Arc::clone(&file));
        Ok(file)
    }

    /// Deletes files that were made ahead of need and are not part of the queue (orderly stop).
    pub fn discard_unused(&self) -> Result<()> {
        self.supplier.discard_unused(&self.env)
    }
}
