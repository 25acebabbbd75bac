//! Looking at a whole store without opening it: what it is, whether its parts agree, where a message is.
//!
//! The inspectors of the layer below know one file each. A [`StoreInspection`] knows how the files of a store belong
//! together: it finds the sizes that are in none of them, checks log, queues, index and checkpoint against each other
//! ([`StoreInspection::verify`]), finds messages ([`StoreInspection::find`]) and adds up what each topic takes
//! ([`StoreInspection::usage_by_topic`]). It works on a store that a Java broker wrote as well.
//!
//! Nothing is changed, made, locked or deleted. A store that is in use can be looked at; what its broker writes
//! meanwhile may then look as if it were missing, so ask [`StoreInspection::in_use`] first.
//!
//! ```
//! use store_core::Env;
//! use store_core::config::MessageStoreConfig;
//! use store_core::inspectors::{InspectOptions, StoreInspection};
//!
//! let dir = tempfile::tempdir().unwrap();
//! let mut config = MessageStoreConfig::new(dir.path());
//! config.commit_log.mapped_file_size_commit_log = 1 << 20;
//! store_core::DefaultMessageStore::open(&Env::os(), config).unwrap().shutdown().unwrap();
//!
//! let store = StoreInspection::open(&Env::os(), dir.path(), &InspectOptions::default()).unwrap();
//! let summary = store.verify(&mut |_bytes| {}, &mut |finding| println!("{finding}")).unwrap();
//! assert_eq!(summary.errors, 0);
//! ```

mod cross_check;
mod find_message;
mod info;
mod options;
mod plain_read;
mod queue_types;
mod start_plan;
mod usage;

pub use cross_check::VerifySummary;
pub use find_message::MessageAddress;
pub use options::{InspectOptions, SizeSource};
pub use plain_read::PlainRead;
pub use store_logic::inspectors::{conditions, message_fields, record_fields};
pub use usage::TopicUsage;

use crate::config::MessageStoreConfig;
use crate::error::StoreError;
use crate::store_notes::StoreNotes;
use crate::store_paths::StorePaths;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store_logic::index_file::format::IndexGeometry;
use store_logic::inspect::{InspectError, LockHolder, Registry, lock_holder};
use store_logic::inspectors::{self, IndexReader, LogReader, QueueDirectory};
use store_logic::{Disk, DiskError, Env, FileKind};

/// Names below a store root that tell that it is one.
const PARTS: [&str; 4] = ["commitlog", "consumequeue", "index", "checkpoint"];

/// A store that is looked at.
#[derive(Debug)]
pub struct StoreInspection {
    env: Env,
    paths: StorePaths,
    /// Sizes the store was made with, as far as they could be told; otherwise Apache's defaults.
    config: MessageStoreConfig,
    sizes: SizeSource,
    geometries: Vec<IndexGeometry>,
    notes: Option<StoreNotes>,
    /// Topics with batch queues.
    batch_topics: Arc<BTreeSet<String>>,
}

impl StoreInspection {
    /// Looks at the store below `root`.
    ///
    /// # Errors
    ///
    /// No store is there, or its notes cannot be read.
    pub fn open(env: &Env, root: &Path, options: &InspectOptions) -> Result<Self, InspectError> {
        if !is_root(env.disk(), root)? && options.commit_log.is_empty() {
            return Err(InspectError::Unreadable {
                path: root.to_owned(),
                expected: format!("a store: a directory with one of {}", PARTS.join(", ")),
                found: "none of them".to_owned(),
            });
        }
        let mut config = MessageStoreConfig::new(root);
        config.store_path_commit_log.clone_from(&options.commit_log);
        let paths = StorePaths::new(&config);
        let notes = options::read_notes(env, &paths, &mut config)?;
        options::take_file_sizes(env, &paths, &mut config)?;
        let (geometries, sizes) = options::geometries(options, &mut config, notes.is_some());
        let batch_topics = Arc::new(queue_types::batch_topics(env, &paths)?);
        config.queue_types = queue_types::of(&batch_topics);
        Ok(Self { env: env.clone(), paths, config, sizes, geometries, notes, batch_topics })
    }

    /// The same store, whose records are checked against the CRC of the whole record where they have one
    /// (`forceVerifyPropCRC`).
    #[must_use]
    pub fn with_record_crc(mut self) -> Self {
        self.config.commit_log.force_verify_prop_crc = true;
        self
    }

    /// The root of the store that `path` (a file or directory of it, or the root) belongs to; `None` outside of a store.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn root_of(env: &Env, path: &Path) -> Result<Option<PathBuf>, DiskError> {
        for ancestor in path.ancestors() {
            if is_root(env.disk(), ancestor)? {
                return Ok(Some(ancestor.to_owned()));
            }
        }
        Ok(None)
    }

    /// Where the parts of the store are.
    pub fn paths(&self) -> &StorePaths {
        &self.paths
    }

    /// The inspectors for its files.
    pub fn registry(&self) -> Registry {
        inspectors::registry(&self.env, &self.geometries)
    }

    /// The process that runs a broker on the store. Asked without taking the lock; see [`lock_holder`].
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn in_use(&self) -> Result<Option<LockHolder>, DiskError> {
        lock_holder(self.env.disk(), &self.paths.lock())
    }

    /// True when the last stop was none: the store runs, or crashed.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn has_abort(&self) -> Result<bool, DiskError> {
        Ok(self.env.disk().stat(&self.paths.abort())?.is_some())
    }

    pub(crate) fn notes(&self) -> Option<&StoreNotes> {
        self.notes.as_ref()
    }

    pub(crate) fn log(&self) -> Result<LogReader, DiskError> {
        let log = LogReader::open_all(&self.env, self.paths.commit_logs().all())?;
        Ok(log.with_checksum(self.config.commit_log.checksum_on_recover()))
    }

    pub(crate) fn queues(&self) -> Result<Vec<QueueDirectory>, DiskError> {
        QueueDirectory::list(self.env.disk(), &self.paths.consume_queue())
    }

    pub(crate) fn batch_queues(&self) -> Result<Vec<QueueDirectory>, DiskError> {
        QueueDirectory::list(self.env.disk(), &self.paths.batch_consume_queue())
    }

    /// Index files that can be read, oldest first.
    fn index_files(&self) -> Result<Vec<PathBuf>, DiskError> {
        let directory = self.paths.index();
        let entries = self.env.disk().read_dir(&directory)?.into_iter();
        let usable = entries.filter(|entry| {
            entry.kind == FileKind::File
                && store_logic::index_file::IndexFile::is_file_name(&entry.name)
                && self.geometries.iter().any(|geometry| geometry.file_size() == entry.len)
        });
        Ok(usable.map(|entry| directory.join(entry.name)).collect())
    }

    /// Index files whose size is none of those known.
    pub(crate) fn unusable_index_files(&self) -> Result<usize, DiskError> {
        let entries = self.env.disk().read_dir(&self.paths.index())?;
        let is_named = |name: &str| store_logic::index_file::IndexFile::is_file_name(name);
        let named = entries.iter().filter(|entry| is_named(&entry.name) && entry.len > 0).count();
        Ok(named.saturating_sub(self.index_files()?.len()))
    }

    /// True when the topic has a directory of queues.
    pub(crate) fn has_queue(&self, topic: &str) -> Result<bool, DiskError> {
        Ok(self.env.disk().stat(&self.paths.consume_queue().join(topic))?.is_some())
    }

    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    /// Sizes the store was made with, as far as they could be told.
    pub(crate) fn config(&self) -> &MessageStoreConfig {
        &self.config
    }

    /// What a store has to be opened with that goes on with these files: their sizes, and otherwise the defaults.
    pub fn into_config(self) -> MessageStoreConfig {
        self.config
    }

    /// Takes back what was noted of queues and index at the last stop, because they are replaced.
    pub(crate) fn forget_clean_stop(&self) -> Result<(), StoreError> {
        match &self.notes {
            Some(notes) if notes.clean_stop().is_some() => {
                notes.set_clean_stop(None);
                Ok(notes.write()?)
            }
            _ => Ok(()),
        }
    }

    fn open_index(&self, path: &Path) -> Result<IndexReader, InspectError> {
        IndexReader::open(self.env.disk(), path, &self.geometries)
    }

    /// True when the record is of a topic that was deleted after the record was stored.
    pub(crate) fn is_of_deleted_topic(&self, topic: &str, phy_offset: u64) -> bool {
        self.notes.as_ref().is_some_and(|notes| notes.is_of_deleted_topic(topic, phy_offset))
    }

    /// True when the notes tell of deleted topics.
    pub(crate) fn has_deleted_topics(&self) -> bool {
        self.notes.as_ref().is_some_and(|notes| !notes.deleted_topics().is_empty())
    }

    /// True when the topic has batch queues: its records have no unit of the usual kind.
    pub(crate) fn has_batch_queues(&self, topic: &str) -> bool {
        self.batch_topics.contains(topic)
    }
}

/// Inspectors for files that were taken out of a store: index files have the shape given, or Apache's default.
pub fn registry(env: &Env, options: &InspectOptions) -> Registry {
    let mut config = MessageStoreConfig::new("");
    inspectors::registry(env, &options::geometries(options, &mut config, false).0)
}

fn is_root(disk: &dyn Disk, path: &Path) -> Result<bool, DiskError> {
    let entries = match disk.read_dir(path) {
        Ok(entries) => entries,
        // A file, or a directory that may not be listed: not a root.
        Err(_) => return Ok(false),
    };
    let is_part = |name: &str, kind| match name {
        "checkpoint" => kind == FileKind::File,
        _ => PARTS.contains(&name) && kind == FileKind::Directory,
    };
    Ok(entries.iter().any(|entry| is_part(&entry.name, entry.kind)))
}

#[cfg(test)]
mod tests;
