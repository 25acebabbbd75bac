//! Cutting what recovery found unusable.

use super::MappedFileQueue;
use crate::error::Result;
use crate::mapped_file::MappedFile;
use crate::sync::Ordering;
use store_disk_tools::Disk;

impl MappedFileQueue {
    /// Keeps the bytes below `end` and cuts everything behind: the file that holds `end` (or begins there) gets its marks
    /// there, later files are deleted, and what stands behind `end` is cleared. For recovery: what is kept counts as durable.
    ///
    /// Files go one by one from the last, each durably: a power cut in between leaves no gap.
    ///
    /// # Errors
    ///
    /// [`crate::MapError::InUse`] while views of the cut file are held; whatever the disk reports.
    pub fn truncate(&self, end: u64) -> Result<()> {
        let size = self.options.file_size;
        let _removing = self.lock_removing();
        let mut files = self.write_files();
        let before = files.len();
        while let Some(last) = files.last() {
            if last.file_from_offset() <= end {
                break;
            }
            self.remove(last)?;
            files.pop();
        }
        if let Some(last) = files.last() {
            last.set_recovered_position((end - last.file_from_offset()).min(size))?;
        }
        // A start cuts every queue, and most have nothing behind their end: a sync for each would take minutes.
        if files.len() < before {
            self.sync_directories()?;
        }
        self.flushed_where.store(end, Ordering::Release);
        Ok(())
    }

    fn remove(&self, file: &MappedFile) -> Result<()> {
        file.mark_deleted();
        self.env.disk().remove_file(file.path())?;
        file.path().parent().map_or(Ok(()), |directory| Ok(self.env.disk().sync_dir(directory)?))
    }

    /// Deletes all files, from the last to the first, and the directories.
    pub fn destroy(&self) -> Result<()> {
        let _removing = self.lock_removing();
        let mut files = self.write_files();
        while let Some(last) = files.last() {
            self.remove(last)?;
            files.pop();
        }
        self.flushed_where.store(0, Ordering::Release);
        self.directories.all().try_for_each(|directory| remove_empty_dir(self.env.disk(), directory))
    }
}

fn remove_empty_dir(disk: &dyn Disk, directory: &std::path::Path) -> Result<()> {
    if disk.stat(directory)?.is_some() && disk.read_dir(directory)?.is_empty() {
        disk.remove_dir(directory)?;
        if let Some(parent) = directory.parent() {
            disk.sync_dir(parent)?;
        }
    }
    Ok(())
}
