//! Deleting from the front.

use super::MappedFileQueue;
use crate::error::Result;
use crate::mapped_file::MappedFile;
use std::sync::Arc;

impl MappedFileQueue {
    /// Deletes the first file when `expired` says so. The last file always stays. Views of the file stay readable; its
    /// space comes back when the last one is dropped. Returns whether a file was deleted.
    pub fn expire_first(&self, expired: impl FnOnce(&Arc<MappedFile>) -> bool) -> Result<bool> {
        let _removing = self.lock_removing();
        let first = {
            let files = self.read_files();
            match files.first() {
                Some(first) if files.len() > 1 => Arc::clone(first),
                _ => return Ok(false),
            }
        };
        if !expired(&first) {
            return Ok(false);
        }
        self.env.disk().remove_file(first.path())?;
        first.mark_deleted();
        // Whoever else takes files away waits, so the first file is still this one.
        self.write_files().remove(0);
        if let Some(directory) = first.path().parent() {
            self.env.disk().sync_dir(directory)?;
        }
        Ok(true)
    }

    /// Time of the last change of a file (epoch milliseconds), as the file system has it; 0 when it is gone.
    pub fn modified_millis(&self, file: &MappedFile) -> Result<i64> {
        Ok(self.env.disk().stat(file.path())?.map_or(0, |stat| stat.modified))
    }
}
