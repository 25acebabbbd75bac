//! Sizes that are not in the files themselves.

use crate::config::MessageStoreConfig;
use crate::error::StoreError;
use crate::store_notes::StoreNotes;
use crate::store_paths::StorePaths;
use std::path::{Path, PathBuf};
use store_logic::index_file::format::IndexGeometry;
use store_logic::inspect::{FileSequence, InspectError};
use store_logic::inspectors::QueueDirectory;
use store_logic::{DiskError, Env};

/// What the person who asks knows about the store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InspectOptions {
    /// Directories of the log, when it is not below the root (`storePathCommitLog`, `readOnlyCommitLogStorePaths`).
    pub commit_log: Vec<PathBuf>,
    /// Slots of an index file (`maxHashSlotNum`).
    pub max_hash_slot_num: Option<u32>,
    /// Entries of an index file (`maxIndexNum`).
    pub max_index_num: Option<u32>,
}

/// Where the shape of the index files is known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeSource {
    /// The person who asked said so.
    Options,
    /// The store's own notes say so.
    Notes,
    /// Nobody says anything: Apache's defaults.
    Defaults,
}

impl SizeSource {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Options => "as given",
            Self::Notes => "from stratamq.snapshot",
            Self::Defaults => "RocketMQ's defaults",
        }
    }
}

/// Reads the store's notes and takes over the sizes they name; `None` when there are none.
pub(super) fn read_notes(
    env: &Env,
    paths: &StorePaths,
    config: &mut MessageStoreConfig,
) -> Result<Option<StoreNotes>, InspectError> {
    if env.disk().stat(&paths.snapshot())?.is_none() {
        return Ok(None);
    }
    // The notes refuse a configuration of another size and name theirs, one at a time.
    loop {
        match StoreNotes::read(env, paths, config) {
            Ok(notes) => return Ok(Some(notes)),
            Err(StoreError::Geometry { key, made_with, .. }) => {
                if !set(config, key, made_with) {
                    return Err(unreadable(&paths.snapshot(), "a size that is known", key.to_owned()));
                }
            }
            Err(StoreError::Disk(error)) => return Err(error.into()),
            Err(other) => return Err(unreadable(&paths.snapshot(), "readable notes", other.to_string())),
        }
    }
}

fn unreadable(path: &Path, expected: &str, found: String) -> InspectError {
    InspectError::Unreadable { path: path.to_owned(), expected: expected.to_owned(), found }
}

/// Sets a size; false when there is none of that name or the value does not change it.
fn set(config: &mut MessageStoreConfig, key: &str, value: u64) -> bool {
    let number = u32::try_from(value).unwrap_or(u32::MAX);
    match key {
        "mappedFileSizeCommitLog" => {
            std::mem::replace(&mut config.commit_log.mapped_file_size_commit_log, value) != value
        }
        "mappedFileSizeConsumeQueue" => {
            std::mem::replace(&mut config.consume_queue.mapped_file_size_consume_queue, value) != value
        }
        "mapperFileSizeBatchConsumeQueue" => {
            let size = &mut config.consume_queue.mapper_file_size_batch_consume_queue;
            std::mem::replace(size, value) != value
        }
        "maxHashSlotNum" => std::mem::replace(&mut config.index.max_hash_slot_num, number) != number,
        "maxIndexNum" => std::mem::replace(&mut config.index.max_index_num, number) != number,
        _ => false,
    }
}

/// Files of log and queues have the size they were made with: the first one of each kind tells.
pub(super) fn take_file_sizes(
    env: &Env,
    paths: &StorePaths,
    config: &mut MessageStoreConfig,
) -> Result<(), DiskError> {
    let log = FileSequence::list_all(env.disk(), paths.commit_logs().all())?;
    if let Some(file) = log.files().first() {
        config.commit_log.mapped_file_size_commit_log = file.len;
    }
    if let Some(len) = first_queue_file(env, &paths.consume_queue())? {
        config.consume_queue.mapped_file_size_consume_queue = len;
    }
    if let Some(len) = first_queue_file(env, &paths.batch_consume_queue())? {
        config.consume_queue.mapper_file_size_batch_consume_queue = len;
    }
    Ok(())
}

/// Bytes of the first file of any queue below `root`.
fn first_queue_file(env: &Env, root: &Path) -> Result<Option<u64>, DiskError> {
    for queue in QueueDirectory::list(env.disk(), root)? {
        let files = FileSequence::list(env.disk(), &queue.path)?;
        if let Some(file) = files.files().first() {
            return Ok(Some(file.len));
        }
    }
    Ok(None)
}

/// Shapes that index files may have, the likeliest first.
pub(super) fn geometries(
    options: &InspectOptions,
    config: &mut MessageStoreConfig,
    has_notes: bool,
) -> (Vec<IndexGeometry>, SizeSource) {
    let of = |config: &MessageStoreConfig| IndexGeometry {
        slots: config.index.max_hash_slot_num,
        entries: config.index.max_index_num,
    };
    let noted = of(config);
    if options.max_hash_slot_num.is_some() || options.max_index_num.is_some() {
        config.index.max_hash_slot_num = options.max_hash_slot_num.unwrap_or(noted.slots);
        config.index.max_index_num = options.max_index_num.unwrap_or(noted.entries);
        return (vec![of(config)], SizeSource::Options);
    }
    if has_notes {
        return (vec![noted], SizeSource::Notes);
    }
    (vec![noted], SizeSource::Defaults)
}
