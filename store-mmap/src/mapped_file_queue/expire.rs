//! Deleting from the front.

use super::MappedFileQueue;
use crate::error::Result;
use crate::mapped_file::MappedFile;
use std::sync::Arc;

impl MappedFileQueue {
    /// Deletes the first file when `expired` says so. The last file always stays. Views of the file stay readable; its
    /// space comes back when the last one is dropped. Returns whether a file was deleted.
    pub fn expire_first(&self, expired: impl FnOnce(&Arc<MappedFile>) -> bool) -> Result<bool> {
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
        self.remove_first(&first)?;
        Ok(true)
    }

    fn remove_first(&self, first: &Arc<MappedFile>) -> Result<()> {
        let mut files = self.write_files();
        // Only the caller's own file: another deletion may have been faster.
        if files.first().is_some_and(|file| Arc::ptr_eq(file, first)) {
            self.env.disk().remove_file(first.path())?;
            if let Some(directory) = first.path().parent() {
                self.env.disk().sync_dir(directory)?;
            }
            first.mark_deleted();
            files.remove(0);
        }
        Ok(())
    }

    /// Time of the last change of a file (epoch milliseconds), as the file system has it; 0 when it is gone.
    pub fn modified_millis(&self, file: &MappedFile) -> Result<i64> {
        Ok(self.env.disk().stat(file.path())?.map_or(0, |stat| stat.modified))
    }
}
