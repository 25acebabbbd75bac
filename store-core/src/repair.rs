//! Mending a store that a start refuses, or that somebody wants to cut: with the store stopped, by whoever holds its
//! lock. Works on a store that a Java broker wrote as well.
//!
//! [`StoreRepair::damages`] tells what is there. [`StoreRepair::truncate`] keeps what stands before a position,
//! [`StoreRepair::skip`] keeps what stands before and behind a damaged stretch. Both save what they cut in
//! `stratamq.cut` first, and both can tell what they would do instead of doing it.
//!
//! ```
//! use store_core::Env;
//! use store_core::record_format::Checksum;
//! use store_core::config::MessageStoreConfig;
//! use store_core::inspectors::InspectOptions;
//! use store_core::repair::StoreRepair;
//!
//! let dir = tempfile::tempdir().unwrap();
//! let mut config = MessageStoreConfig::new(dir.path());
//! config.commit_log.mapped_file_size_commit_log = 1 << 20;
//! store_core::DefaultMessageStore::open(&Env::os(), config).unwrap().shutdown().unwrap();
//!
//! let store = StoreRepair::open(&Env::os(), dir.path(), &InspectOptions::default()).unwrap();
//! assert!(store.damages(Checksum::Body).unwrap().is_empty());
//! ```

mod batches;
mod places;
mod skip;
mod truncate;

pub use skip::Skipped;
pub(crate) use skip::skip;
pub use truncate::Truncated;
pub(crate) use truncate::forget_beyond;

use crate::error::StoreError;
use crate::inspectors::{InspectOptions, StoreInspection};
use crate::log_damage::{Ending, KnownDurable, LogDamage, LogEndPlace, examine};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use store_logic::commit_log::format::Checksum;
use store_logic::inspectors::{LogItem, LogReader};
use store_logic::{Env, LockFile};

/// Whether a repair is done or only told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepairMode {
    /// Change the store.
    Do,
    /// Change nothing.
    DryRun,
}

/// A stopped store that is mended. Its lock is held for as long as this value lives.
#[derive(Debug)]
pub struct StoreRepair {
    env: Env,
    store: StoreInspection,
    _lock: LockFile,
}

impl StoreRepair {
    /// Takes the lock of the store below `root`.
    ///
    /// # Errors
    ///
    /// No store is there, or a broker, Java's included, is using it.
    pub fn open(env: &Env, root: &Path, options: &InspectOptions) -> Result<Self, StoreError> {
        let store = StoreInspection::open(env, root, options)?;
        let lock = LockFile::acquire(env.disk(), &store.paths().lock())?;
        Ok(Self { env: env.clone(), store, _lock: lock })
    }

    /// Every damaged stretch of the whole log, in order, as far as `checksum` tells it, and the torn tail if there is one ([`LogDamage::durable`] is
    /// `None` then: a start cuts it by itself). A start reads the end of the log only, and stops at the first one there.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn damages(&self, checksum: Checksum) -> Result<Vec<LogDamage>, StoreError> {
        let known = self.known_durable()?;
        let mut damages = Vec::new();
        let mut places = Vec::new();
        let mut newest = 0;
        let summary = self.log()?.with_checksum(checksum).walk(0, u64::MAX, &mut |phy_offset, item| {
            match item {
                LogItem::Record(view) => newest = view.store_timestamp.max(newest),
                LogItem::Damage(_) => places.push(LogEndPlace { at: phy_offset, newest, checksum }),
                LogItem::Blank => {}
            }
            ControlFlow::Continue(())
        })?;
        if places.is_empty() {
            places.push(LogEndPlace { at: summary.end, newest, checksum });
        }
        for place in places {
            match examine(&self.env, self.store.paths(), &known, place)? {
                Ending::Whole => {}
                Ending::Damaged(damage) => damages.push(damage),
                // What stands behind goes with it.
                Ending::Tail(tail) => {
                    damages.push(tail);
                    break;
                }
            }
        }
        Ok(damages)
    }

    /// Saves a damaged stretch and puts fillers in its place; what stands behind it stays. The places of its messages in
    /// their queues stay empty, and no later message gets their offsets.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn skip(&self, damage: &LogDamage, mode: RepairMode) -> Result<Skipped, StoreError> {
        match mode {
            RepairMode::Do => skip(&self.env, self.store.paths(), self.store.notes(), damage),
            RepairMode::DryRun => skip::plan(&self.env, self.store.paths(), damage),
        }
    }

    /// Where what is cut is saved.
    pub fn set_aside_directory(&self) -> PathBuf {
        self.store.paths().set_aside()
    }

    fn known_durable(&self) -> Result<KnownDurable, StoreError> {
        let clean = !self.store.has_abort()?;
        Ok(KnownDurable::read(&self.env, self.store.paths(), self.store.notes(), clean)?)
    }

    fn log(&self) -> Result<LogReader, StoreError> {
        Ok(LogReader::open_all(&self.env, self.store.paths().commit_logs().all())?)
    }
}
