//! What Apache's files do not say about a store: the sizes it was made with, how far it went at the last clean stop, and
//! which topics were deleted while their records stay in the log. Advisory: a store without this file, or one that a
//! Java broker has written since, opens all the same.

use crate::config::MessageStoreConfig;
use crate::error::StoreError;
use crate::store_paths::StorePaths;
use crate::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use store_logic::Env;
use store_logic::snapshot_file::{self, SnapshotError};

/// Kind and version of the snapshot's state.
const KIND: u32 = 0x0001_0002;

/// The notes of a store, in memory and in its snapshot file.
#[derive(Debug)]
pub(crate) struct StoreNotes {
    env: Env,
    path: PathBuf,
    state: RwLock<State>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    geometry: StoreGeometry,
    clean_stop: Option<CleanStop>,
    /// End of the log when the topic was deleted: its records below are of no queue.
    deleted_topics: BTreeMap<String, u64>,
}

/// How far a store went when it was last stopped in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CleanStop {
    /// End of the log, all of it durable and dispatched.
    pub(crate) log_end: u64,
    /// Units of all queues, counted from queue offset 0.
    pub(crate) units: u64,
    /// The index, if there was one.
    pub(crate) index: Option<IndexExtent>,
}

/// How much an index holds. Outside of crashes it only grows; compared field by field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct IndexExtent {
    /// The newest record indexed; `None` when no record had a key.
    pub(crate) end: Option<u64>,
    /// Entries of all files.
    pub(crate) entries: u64,
}

/// Sizes that must not change over the life of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct StoreGeometry {
    mapped_file_size_commit_log: u64,
    mapped_file_size_consume_queue: u64,
    max_hash_slot_num: u32,
    max_index_num: u32,
}

impl StoreGeometry {
    fn of(config: &MessageStoreConfig) -> Self {
        Self {
            mapped_file_size_commit_log: config.commit_log.mapped_file_size_commit_log,
            mapped_file_size_consume_queue: config.consume_queue.mapped_file_size_consume_queue.div_ceil(20)
                * 20,
            max_hash_slot_num: config.index.max_hash_slot_num,
            max_index_num: config.index.max_index_num,
        }
    }

    fn fields(&self) -> [(&'static str, u64); 4] {
        [
            ("mappedFileSizeCommitLog", self.mapped_file_size_commit_log),
            ("mappedFileSizeConsumeQueue", self.mapped_file_size_consume_queue),
            ("maxHashSlotNum", u64::from(self.max_hash_slot_num)),
            ("maxIndexNum", u64::from(self.max_index_num)),
        ]
    }

    /// Names the first size that differs.
    fn check(&self, configured: &Self) -> Result<(), StoreError> {
        for ((key, made_with), (_, configured)) in self.fields().into_iter().zip(configured.fields()) {
            if made_with != configured {
                return Err(StoreError::Geometry { key, made_with, configured });
            }
        }
        Ok(())
    }
}

impl StoreNotes {
    /// Reads the notes, or begins new ones; nothing is written before [`StoreNotes::write`]. Damaged ones are reported
    /// and taken for none.
    ///
    /// # Errors
    ///
    /// A configured size that is not the one the store was made with.
    pub(crate) fn read(
        env: &Env,
        paths: &StorePaths,
        config: &MessageStoreConfig,
    ) -> Result<Self, StoreError> {
        let path = paths.snapshot();
        let geometry = StoreGeometry::of(config);
        let state = match snapshot_file::read::<State>(env, &path, KIND) {
            Ok(Some(state)) => {
                state.geometry.check(&geometry)?;
                state
            }
            Ok(None) => State { geometry, clean_stop: None, deleted_topics: BTreeMap::new() },
            Err(SnapshotError::Disk(error)) => return Err(error.into()),
            Err(damaged) => {
                tracing::warn!(%damaged, "the store's notes cannot be used; going on without them");
                State { geometry, clean_stop: None, deleted_topics: BTreeMap::new() }
            }
        };
        Ok(Self { env: env.clone(), path, state: RwLock::new(state) })
    }

    /// Writes the notes durably.
    pub(crate) fn write(&self) -> Result<(), SnapshotError> {
        let state = self.state().clone();
        snapshot_file::write(&self.env, &self.path, KIND, &state)
    }

    fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far the store went at its last clean stop.
    pub(crate) fn clean_stop(&self) -> Option<CleanStop> {
        self.state().clean_stop
    }

    pub(crate) fn set_clean_stop(&self, stop: Option<CleanStop>) {
        self.change().clean_stop = stop;
    }

    /// True when the record at `phy_offset` is of a topic that was deleted after the record was stored.
    pub(crate) fn is_of_deleted_topic(&self, topic: &str, phy_offset: u64) -> bool {
        let state = self.state();
        state.deleted_topics.get(topic).is_some_and(|log_end| phy_offset < *log_end)
    }

    /// Deleted topics and the end of the log at that time.
    pub(crate) fn deleted_topics(&self) -> BTreeMap<String, u64> {
        self.state().deleted_topics.clone()
    }

    /// Notes topics deleted while the log ends at `log_end`; `units` of theirs are no longer counted.
    pub(crate) fn add_deleted_topics(&self, topics: &[&str], log_end: u64, units: u64) {
        let mut state = self.change();
        state.deleted_topics.extend(topics.iter().map(|topic| ((*topic).to_owned(), log_end)));
        if let Some(stop) = &mut state.clean_stop {
            stop.units = stop.units.saturating_sub(units);
        }
    }

    /// So many units of the last clean stop are gone for good.
    pub(crate) fn lower_units(&self, units: u64) {
        if let Some(stop) = &mut self.change().clean_stop {
            stop.units = stop.units.saturating_sub(units);
        }
    }

    /// Makes the notes agree with a log that reaches from `log_min` to `log_end`: what was noted of records that are no
    /// longer in it must not hold for those that take their places.
    pub(crate) fn settle(&self, log_min: u64, log_end: u64, units: u64) {
        let mut state = self.change();
        state.deleted_topics.values_mut().for_each(|deleted_at| *deleted_at = log_end.min(*deleted_at));
        state.deleted_topics.retain(|_, deleted_at| *deleted_at > log_min);
        state.clean_stop = state.clean_stop.filter(|stop| stop.log_end <= log_end);
        if let Some(stop) = &mut state.clean_stop {
            stop.units = stop.units.min(units);
        }
    }
}
