//! All index files of a store, in the order they were made.

use crate::dispatch::DispatchRequest;
use crate::error::Result;
use crate::index_file::format::{IndexGeometry, key_of};
use crate::index_file::{IndexFile, IndexHeader, keys_of};
use crate::message::sys_flag;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use store_mmap::{Env, FileKind, UnixMillis, file_name};

/// The key index (`index/`). Written by the dispatcher alone.
#[derive(Debug)]
pub struct IndexFileSet {
    env: Env,
    directory: PathBuf,
    geometry: IndexGeometry,
    index_tags: bool,
    files: RwLock<Vec<Arc<IndexFile>>>,
}

/// What a key query found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexQuery {
    /// Positions of records that may carry the key, newest first.
    pub phy_offsets: Vec<u64>,
    /// Store time of the newest entry of the index.
    pub last_timestamp: i64,
    /// Record of the newest entry of the index.
    pub last_phy_offset: u64,
}

impl IndexFileSet {
    /// Opens the files of `directory`. Names that are no time are left alone; a file of another size than `geometry`
    /// says is an error.
    pub fn load(env: &Env, directory: &Path, geometry: IndexGeometry, index_tags: bool) -> Result<Self> {
        let mut files = Vec::new();
        for entry in env.disk().read_dir(directory)? {
            if entry.kind == FileKind::File && IndexFile::is_file_name(&entry.name) {
                files.push(Arc::new(IndexFile::open(env, &directory.join(&entry.name), geometry)?));
            }
        }
        Ok(Self {
            env: env.clone(),
            directory: directory.to_owned(),
            geometry,
            index_tags,
            files: RwLock::new(files),
        })
    }

    /// The files, oldest first.
    pub fn files(&self) -> Vec<Arc<IndexFile>> {
        self.files.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn last(&self) -> Option<Arc<IndexFile>> {
        self.files.read().unwrap_or_else(PoisonError::into_inner).last().cloned()
    }

    /// Indexes one record; `now` names a new file. Returns the file that became full and was closed on the way.
    pub fn put(&self, request: &DispatchRequest<'_>, now: UnixMillis) -> Result<Option<Arc<IndexFile>>> {
        let rolled_back = sys_flag::transaction(request.sys_flag) == sys_flag::TRANSACTION_ROLLBACK;
        let keys = keys_of(request, self.index_tags);
        if rolled_back || keys.is_empty() || self.is_indexed(request.phy_offset)? {
            return Ok(None);
        }
        let mut closed = None;
        for key in keys {
            let file = self.file_to_write(now, &mut closed)?;
            file.put(&key, request.phy_offset, request.store_timestamp)?;
        }
        Ok(closed)
    }

    /// True when the record's keys are all there. They are put together, so the newest record tells.
    fn is_indexed(&self, phy_offset: u64) -> Result<bool> {
        let Some(last) = self.last() else { return Ok(false) };
        let header = last.header()?;
        if header.index_count > 1 {
            return Ok(phy_offset <= header.end_phy_offset);
        }
        // A file just begun holds the end of the one before, whose last record may continue here.
        Ok(phy_offset < header.end_phy_offset)
    }

    fn file_to_write(&self, now: UnixMillis, closed: &mut Option<Arc<IndexFile>>) -> Result<Arc<IndexFile>> {
        let last = self.last();
        if let Some(file) = &last {
            if !file.is_full()? {
                return Ok(Arc::clone(file));
            }
        }
        let file = Arc::new(IndexFile::open(&self.env, &self.new_path(now), self.geometry)?);
        file.set_header(&self.first_header(last.as_deref())?)?;
        self.files.write().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&file));
        if last.is_some() {
            *closed = last;
        }
        Ok(file)
    }

    /// A file takes over the end of the one before, as Apache's do.
    fn first_header(&self, previous: Option<&IndexFile>) -> Result<IndexHeader> {
        let mut header = IndexHeader { index_count: 1, ..IndexHeader::default() };
        if let Some(previous) = previous {
            let end = previous.header()?;
            header.begin_timestamp = end.end_timestamp;
            header.end_timestamp = end.end_timestamp;
            header.begin_phy_offset = end.end_phy_offset;
            header.end_phy_offset = end.end_phy_offset;
        }
        Ok(header)
    }

    /// A name of its own that sorts behind all others, also when the clock stood still or went back.
    fn new_path(&self, now: UnixMillis) -> PathBuf {
        let name = file_name::human_time_name(now);
        let last = self.last().and_then(|file| Some(file.path().file_name()?.to_str()?.to_owned()));
        let last_number = last.and_then(|last| file_name::parse_offset_name(&last));
        match (last_number, file_name::parse_offset_name(&name)) {
            (Some(last), Some(number)) if number <= last => self.directory.join(format!("{:017}", last + 1)),
            _ => self.directory.join(name),
        }
    }

    /// Records that may carry `key` and were stored in `begin..=end`, at most `max`.
    pub fn query(&self, topic: &str, key: &str, max: usize, begin: i64, end: i64) -> Result<IndexQuery> {
        let files = self.files();
        let mut query = IndexQuery::default();
        if let Some(last) = files.last() {
            let header = last.header()?;
            query.last_timestamp = header.end_timestamp;
            query.last_phy_offset = header.end_phy_offset;
        }
        let key = key_of(topic, key);
        for file in files.iter().rev() {
            if file.overlaps(begin, end)? {
                file.select(&key, begin, end, max, &mut query.phy_offsets)?;
            }
            if query.phy_offsets.len() >= max || file.header()?.begin_timestamp < begin {
                break;
            }
        }
        query.phy_offsets.dedup();
        Ok(query)
    }

    /// Position of the newest record indexed; `None` when nothing is.
    pub fn end_phy_offset(&self) -> Result<Option<u64>> {
        for file in self.files().iter().rev() {
            let header = file.header()?;
            if header.index_count > 1 {
                return Ok(Some(header.end_phy_offset));
            }
        }
        Ok(None)
    }

    /// After a crash: makes every file agree with a log that ends at `log_end` (files closed before `safe_timestamp`,
    /// the checkpoint's index time, are durable and only cut). Returns the position from which records have to be
    /// indexed again; `None`: all of them.
    pub fn recover(&self, log_end: u64, safe_timestamp: i64) -> Result<Option<u64>> {
        for file in self.files() {
            let header = file.header()?;
            let durable =
                header.end_timestamp > 0 && header.end_timestamp <= safe_timestamp && file.is_full()?;
            if durable {
                file.truncate(log_end)?;
            } else {
                file.recover(log_end)?;
            }
        }
        self.end_phy_offset()
    }

    /// Cuts entries of records at or behind `log_end`.
    pub fn truncate(&self, log_end: u64) -> Result<()> {
        self.files().iter().try_for_each(|file| file.truncate(log_end))
    }

    /// Deletes files (but the last) whose records all lie below `log_min`; returns how many.
    pub fn delete_expired(&self, log_min: u64) -> Result<usize> {
        let mut deleted = 0;
        loop {
            let files = self.files();
            let Some(first) = files.first().filter(|_| files.len() > 1) else { return Ok(deleted) };
            if first.header()?.end_phy_offset >= log_min {
                return Ok(deleted);
            }
            self.env.disk().remove_file(first.path())?;
            self.env.disk().sync_dir(&self.directory)?;
            self.files
                .write()
                .unwrap_or_else(PoisonError::into_inner)
                .retain(|file| !Arc::ptr_eq(file, first));
            deleted += 1;
        }
    }

    /// Makes all files durable.
    pub fn flush(&self) -> Result<()> {
        self.files().iter().try_for_each(|file| file.flush())
    }
}

#[cfg(test)]
mod tests;
