//! Opening a directory and judging what is there.

use super::{MappedFileQueue, QueueOptions};
use crate::error::{MapError, Result};
use crate::file_supplier::FileSupplier;
use crate::mapped_file::MappedFile;
use crate::queue_directories::QueueDirectories;
use crate::sync::{Arc, AtomicU64, Mutex, RwLock};
use std::path::{Path, PathBuf};
use store_disk_tools::{DirEntry, Env, file_name};

impl MappedFileQueue {
    /// Opens the files of `directories`, a path or several (a missing directory is an empty one). Directories inside are
    /// ignored; an empty last file, left by a crash between creation and reservation, is deleted. The marks of every file
    /// stand at its end until recovery lowers the last one.
    ///
    /// # Errors
    ///
    /// [`MapError::WrongSize`], [`MapError::StrayFile`], [`MapError::MissingFile`], [`MapError::Duplicate`] name what does
    /// not belong there.
    pub fn load(
        env: &Env,
        directories: impl Into<QueueDirectories>,
        options: QueueOptions,
        supplier: Arc<dyn FileSupplier>,
    ) -> Result<Self> {
        let directories = directories.into();
        let mut entries = directories.entries(env.disk())?;
        remove_empty_last(env, &mut entries)?;
        let mut files: Vec<Arc<MappedFile>> = Vec::with_capacity(entries.len());
        for (directory, entry) in &entries {
            let file = open_entry(env, directory, entry, options)?;
            if let Some(before) = files.last() {
                let expected = before.file_from_offset() + options.file_size;
                check_neighbour(directory, expected, file.file_from_offset())?;
            }
            files.push(Arc::new(file));
        }
        let flushed = files.last().map_or(0, |file| file.file_from_offset() + file.file_size());
        Ok(Self {
            env: env.clone(),
            directories,
            options,
            supplier,
            pool: None,
            files: RwLock::new(files),
            removing: Mutex::new(()),
            flushed_where: AtomicU64::new(flushed),
        })
    }
}

/// Deletes the last file when it is empty: a crash came between its creation and its reservation.
fn remove_empty_last(env: &Env, entries: &mut Vec<(PathBuf, DirEntry)>) -> Result<()> {
    let is_leftover = |(_, entry): &&(PathBuf, DirEntry)| {
        entry.len == 0 && file_name::parse_offset_name(&entry.name).is_some()
    };
    if let Some((directory, empty)) = entries.last().filter(is_leftover) {
        tracing::warn!(file = %directory.join(&empty.name).display(), "deleting an empty last file");
        env.disk().remove_file(&directory.join(&empty.name))?;
        env.disk().sync_dir(directory)?;
        entries.pop();
    }
    Ok(())
}

fn open_entry(env: &Env, directory: &Path, entry: &DirEntry, options: QueueOptions) -> Result<MappedFile> {
    let path = directory.join(&entry.name);
    if entry.len != options.file_size {
        return Err(MapError::WrongSize { path, expected: options.file_size, found: entry.len });
    }
    let from = file_name::parse_offset_name(&entry.name)
        .ok_or_else(|| MapError::StrayFile { path: path.clone() })?;
    let file = MappedFile::open(env, &path, from, options.file_size, options.reserve)?;
    Ok(file.with_access(options.access))
}

fn check_neighbour(directory: &Path, expected: u64, found: u64) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(MapError::MissingFile { directory: directory.to_owned(), expected, found })
}
