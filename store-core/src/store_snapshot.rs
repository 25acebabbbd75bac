//! What Apache's files do not say about a store: the sizes it was made with, and how far its log went at the last clean
//! stop. Advisory: a store without this file, or one that a Java broker has written since, opens all the same.

use crate::config::MessageStoreConfig;
use crate::error::StoreError;
use crate::store_paths::StorePaths;
use serde::{Deserialize, Serialize};
use store_logic::Env;
use store_logic::snapshot_file::{self, SnapshotError};

/// Kind and version of the snapshot's state.
const KIND: u32 = 0x0001_0001;

/// The state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoreSnapshot {
    pub(crate) geometry: StoreGeometry,
    /// End of the log at the last clean stop, all of it durable; `None` before the first.
    pub(crate) clean_log_end: Option<u64>,
}

/// Sizes that must not change over the life of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoreGeometry {
    mapped_file_size_commit_log: u64,
    mapped_file_size_consume_queue: u64,
    max_hash_slot_num: u32,
    max_index_num: u32,
}

impl StoreGeometry {
    pub(crate) fn of(config: &MessageStoreConfig) -> Self {
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
    pub(crate) fn check(&self, configured: &Self) -> Result<(), StoreError> {
        for ((key, made_with), (_, configured)) in self.fields().into_iter().zip(configured.fields()) {
            if made_with != configured {
                return Err(StoreError::Geometry { key, made_with, configured });
            }
        }
        Ok(())
    }
}

/// Reads the snapshot; a damaged one is reported and taken for none.
pub(crate) fn read(env: &Env, paths: &StorePaths) -> Result<Option<StoreSnapshot>, StoreError> {
    match snapshot_file::read(env, &paths.snapshot(), KIND) {
        Ok(snapshot) => Ok(snapshot),
        Err(SnapshotError::Disk(error)) => Err(error.into()),
        Err(damaged) => {
            tracing::warn!(%damaged, "the store's notes cannot be used; going on without them");
            Ok(None)
        }
    }
}

/// Writes the snapshot.
pub(crate) fn write(env: &Env, paths: &StorePaths, snapshot: &StoreSnapshot) -> Result<(), StoreError> {
    Ok(snapshot_file::write(env, &paths.snapshot(), KIND, snapshot)?)
}
