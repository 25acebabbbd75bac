//! All index files of a store, in the order they were made.

mod recover;

use crate::dispatch::DispatchRequest;
use crate::error::Result;
use crate::index_file::format::{IndexGeometry, key_of};
use crate::index_file::{IndexFile, IndexHeader, all_key_hashes_of};
use crate::message::sys_flag;
use crate::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use store_mmap::{Env, FileKind, UnixMillis, file_name};

/// Added to the name of a file that was set aside: no time any more, so Apache passes it over as well.
const UNUSABLE: &str = ".unusable";

/// The key index (`index/`). Written by the dispatcher alone.
#[derive(Debug)]
pub struct IndexFileSet {
    env: Env,
    directory: PathBuf,
    geometry: IndexGeometry,
    index_tags: bool,
    files: RwLock<Vec<Arc<IndexFile>>>,
}

/// The newest entry of the index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IndexEnd {
    /// Its record's store time.
    pub timestamp: i64,
    /// Its record's position.
    pub phy_offset: u64,
}

impl IndexFileSet {
    /// Opens the files of `directory`. Names that are no time are left alone. A file of another size than `geometry` says
    /// cannot be read; it and all behind it are set aside under another name, and the log fills the index again from
    /// where it ends now.
    pub fn load(env: &Env, directory: &Path, geometry: IndexGeometry, index_tags: bool) -> Result<Self> {
        let mut entries = env.disk().read_dir(directory)?;
        entries.retain(|entry| entry.kind == FileKind::File);
        entries.retain(|entry| {
            let is_index = IndexFile::is_file_name(&entry.name);
            if !is_index && !entry.name.ends_with(UNUSABLE) {
                tracing::warn!(directory = %directory.display(), name = entry.name, "passing over a file that is no index file");
            }
            is_index
        });
        let usable = entries.iter().position(|entry| entry.len != geometry.file_size());
        let unusable = entries.split_off(usable.unwrap_or(entries.len()));
        // From the last, each durably: a start after a crash in between must not take later files for those that follow.
        for entry in unusable.iter().rev() {
            set_aside(env, &directory.join(&entry.name), entry.len, geometry)?;
            env.disk().sync_dir(directory)?;
        }
        let files = entries
            .iter()
            .map(|entry| IndexFile::open(env, &directory.join(&entry.name), geometry).map(Arc::new))
            .collect::<Result<Vec<_>>>()?;
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

    fn write_files(&self) -> RwLockWriteGuard<'_, Vec<Arc<IndexFile>>> {
        self.files.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn last(&self) -> Option<Arc<IndexFile>> {
        self.files.read().unwrap_or_else(PoisonError::into_inner).last().cloned()
    }

    /// Indexes one record; `now` is asked for the name of a new file. Returns the file that became full and was closed
    /// on the way.
    pub fn put(
        &self,
        request: &DispatchRequest<'_>,
        now: impl Fn() -> UnixMillis,
    ) -> Result<Option<Arc<IndexFile>>> {
        let rolled_back = sys_flag::transaction(request.sys_flag) == sys_flag::TRANSACTION_ROLLBACK;
        let mut key_hashes = all_key_hashes_of(request, self.index_tags).peekable();
        if rolled_back || key_hashes.peek().is_none() {
            return Ok(None);
        }
        let mut last = self.last();
        if last.as_ref().map_or(Ok(false), |last| last.is_indexed(request.phy_offset))? {
            return Ok(None);
        }
        // Made before the first key is put: a record has all its keys in the index or none.
        let mut next = self.next_if_needed(last.as_deref(), request, &now)?;
        let mut closed = None;
        while key_hashes.peek().is_some() {
            let file = match last.take() {
                Some(file) if !file.is_full()? => file,
                full => {
                    let file = self.begin_file(next.take(), &now, full.as_deref())?;
                    closed = full.or(closed);
                    file
                }
            };
            file.put_keys(&mut key_hashes, request.phy_offset, request.store_timestamp)?;
            last = Some(file);
        }
        Ok(closed)
    }

    /// The next file, when the last one has no room for all keys of a record.
    fn next_if_needed(
        &self,
        last: Option<&IndexFile>,
        request: &DispatchRequest<'_>,
        now: impl Fn() -> UnixMillis,
    ) -> Result<Option<IndexFile>> {
        let room = match last {
            Some(last) => (self.geometry.entries - last.index_count()?) as usize,
            None => 0,
        };
        // Unique id, tags, and keys of one byte and a blank at least: nearly always enough to know.
        let most = 3 + request.keys.map_or(0, str::len) / 2;
        if most <= room || all_key_hashes_of(request, self.index_tags).count() <= room {
            return Ok(None);
        }
        self.make_file(now).map(Some)
    }

    fn make_file(&self, now: impl Fn() -> UnixMillis) -> Result<IndexFile> {
        IndexFile::open(&self.env, &self.new_path(now()), self.geometry)
    }

    fn begin_file(
        &self,
        made: Option<IndexFile>,
        now: impl Fn() -> UnixMillis,
        previous: Option<&IndexFile>,
    ) -> Result<Arc<IndexFile>> {
        let file = match made {
            Some(file) => file,
            None => self.make_file(now)?,
        };
        let file = Arc::new(file);
        file.set_header(&self.first_header(previous)?)?;
        self.write_files().push(Arc::clone(&file));
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

    /// Calls `accept` with the positions of records that may carry `key` and were stored in `begin..=end`, newest first and
    /// each once, until that breaks. Returns where the index ended when the search began.
    pub fn query(
        &self,
        topic: &str,
        key: &str,
        begin: i64,
        end: i64,
        mut accept: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<IndexEnd> {
        let files = self.files();
        let mut index_end = IndexEnd::default();
        if let Some(last) = files.last() {
            let header = last.header()?;
            index_end = IndexEnd { timestamp: header.end_timestamp, phy_offset: header.end_phy_offset };
        }
        let key = key_of(topic, key);
        let mut newest = None;
        let mut once = |phy_offset| {
            // A record whose keys lie in two files comes twice.
            if newest.replace(phy_offset) == Some(phy_offset) {
                return ControlFlow::Continue(());
            }
            accept(phy_offset)
        };
        for file in files.iter().rev() {
            let enough = file.overlaps(begin, end)? && file.select(&key, begin, end, &mut once)?.is_break();
            if enough || file.header()?.begin_timestamp < begin {
                break;
            }
        }
        Ok(index_end)
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

    /// Entries of all files.
    pub fn entries(&self) -> Result<u64> {
        let files = self.files();
        files.iter().map(|file| Ok(u64::from(file.index_count()?) - 1)).sum()
    }

    /// Makes all files durable.
    pub fn flush(&self) -> Result<()> {
        self.files().iter().try_for_each(|file| file.flush())
    }
}

/// Renames a file that does not have the size it should have; an empty one, left by a crash while it was made, goes.
fn set_aside(env: &Env, path: &Path, len: u64, geometry: IndexGeometry) -> Result<()> {
    if len == 0 {
        return Ok(env.disk().remove_file(path)?);
    }
    let mut name = path.as_os_str().to_owned();
    name.push(UNUSABLE);
    tracing::warn!(
        file = %path.display(),
        expected = geometry.file_size(),
        found = len,
        max_hash_slot_num = geometry.slots,
        max_index_num = geometry.entries,
        "an index file has another size than configured, or follows one that has; setting it aside and indexing anew"
    );
    Ok(env.disk().rename(path, Path::new(&name))?)
}

#[cfg(test)]
mod tests;
