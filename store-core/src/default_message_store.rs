//! RocketMQ's engine: one log, queues and index derived from it.

mod clean_by_hand;
#[cfg(test)]
mod crash_simulation;
#[cfg(test)]
mod damaged_store;
mod delete_topics;
pub(crate) mod disk_level;
mod dispatch;
mod flush;
mod get;
mod index_dispatch;
mod inspect;
pub(crate) mod open;
mod put;
mod query;
mod recover;
mod shutdown;

pub(crate) use dispatch::is_possible_gap;
pub use recover::RecoveryReport;

use crate::config::MessageStoreConfig;
use crate::message_arrival::MessageArrivingListener;
use crate::message_store::{GetRequest, LogPositions, MessageStore, QueryRequest, QueueOffsets};
use crate::running_flags::RunningFlags;
use crate::service::{ServiceThread, Wakeup};
use crate::services::group_commit_service::GroupCommitQueue;
use crate::services::index_service::ClosedIndexFiles;
use crate::services::store_stats_service::StoreStats;
use crate::store_notes::StoreNotes;
use crate::store_paths::StorePaths;
use crate::sync::{Arc, AtomicI64, AtomicU32, AtomicU64, Mutex, OnceLock};
use crate::{GetResult, PutTicket, QueryResult};
use std::collections::BTreeMap;
use store_logic::commit_log::CommitLog;
use store_logic::consume_queue::{BoundaryType, Unit};
use store_logic::flushed_mark::FlushedMark;
use store_logic::message::Message;
use store_logic::store_checkpoint::StoreCheckpoint;
use store_logic::{
    ConsumeQueueTable, Env, IndexFileSet, LockFile, LogicError, MappedSlice, TransientStorePool,
};

/// A store in RocketMQ's format.
///
/// Opened by [`DefaultMessageStore::open`], which recovers it; its services run from then on. [`MessageStore`] says what
/// it does. Stop it with [`DefaultMessageStore::shutdown`]; a store that is dropped without is found crashed.
pub struct DefaultMessageStore {
    shared: Arc<Shared>,
    threads: Mutex<Vec<ServiceThread>>,
    report: RecoveryReport,
    /// Held for as long as the store is open.
    lock: Mutex<Option<LockFile>>,
}

/// What the store and its services share.
pub(crate) struct Shared {
    pub(crate) env: Env,
    pub(crate) config: MessageStoreConfig,
    pub(crate) paths: StorePaths,
    pub(crate) log: CommitLog,
    pub(crate) queues: ConsumeQueueTable,
    pub(crate) index: Option<IndexFileSet>,
    pub(crate) checkpoint: Arc<StoreCheckpoint>,
    /// How far the log is durable; made once the store was accepted.
    pub(crate) flushed_mark: OnceLock<FlushedMark>,
    pub(crate) notes: StoreNotes,
    pub(crate) flags: RunningFlags,
    pub(crate) stats: Arc<StoreStats>,
    pub(crate) group_commit: GroupCommitQueue,
    pub(crate) dispatch_wakeup: Wakeup,
    /// Wakes the committer, if there is one.
    pub(crate) commit_wakeup: Wakeup,
    /// Write buffers of log files, when the store uses them.
    pub(crate) pool: Option<Arc<TransientStorePool>>,
    closed_index_files: ClosedIndexFiles,
    listener: OnceLock<Arc<dyn MessageArrivingListener>>,
    /// Records below are dispatched.
    dispatched: AtomicU64,
    /// Store time of the newest dispatched record.
    dispatched_timestamp: AtomicI64,
    /// Position of the newest dispatched record.
    dispatched_record: AtomicU64,
    /// Records from here on are not in the index; [`index_dispatch::NOT_BEHIND`] when all are.
    index_behind: AtomicU64,
    /// Held while records are dispatched, and by those who must not be interleaved with that.
    dispatching: Mutex<()>,
    /// Held while the log is synced: whoever syncs moves mark and checkpoint together.
    flushing: Mutex<()>,
    /// Rounds of cleaning that an administrator asked for and that are still to come.
    rounds_by_hand: AtomicU32,
    /// Failed page accesses of the process when they were last looked at.
    mapping_faults: AtomicU64,
    /// Bytes behind the log's end that count as in memory.
    pub(crate) hot_bytes: u64,
}

impl DefaultMessageStore {
    /// How the store came up.
    pub fn recovery_report(&self) -> &RecoveryReport {
        &self.report
    }

    /// Sets who is told of arriving messages; the first one stays. Messages that arrived before are not told again.
    pub fn set_arriving_listener(&self, listener: Arc<dyn MessageArrivingListener>) {
        if !self.shared.listen(listener) {
            tracing::warn!("the store has a message arriving listener already");
        }
    }

    /// Where the parts of the store are.
    pub fn paths(&self) -> &StorePaths {
        &self.shared.paths
    }

    /// What it was opened with.
    pub fn config(&self) -> &MessageStoreConfig {
        &self.shared.config
    }
}

impl std::fmt::Debug for DefaultMessageStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DefaultMessageStore").field("root", &self.shared.paths.root()).finish_non_exhaustive()
    }
}

impl MessageStore for DefaultMessageStore {
    fn put(&self, message: &Message<'_>) -> PutTicket {
        self.shared.put(std::slice::from_ref(message))
    }

    fn put_batch(&self, messages: &[Message<'_>]) -> PutTicket {
        self.shared.put(messages)
    }

    fn get(&self, request: &GetRequest<'_>) -> GetResult {
        self.shared.get(request)
    }

    fn query(&self, request: &QueryRequest<'_>) -> QueryResult {
        self.shared.query(request)
    }

    fn message_at(&self, phy_offset: u64) -> Option<MappedSlice> {
        self.shared.commit_for(phy_offset);
        self.shared.log.record_at(phy_offset)
    }

    fn offsets(&self, topic: &str, queue_id: i32) -> QueueOffsets {
        let handle = self.shared.queues.get(topic, queue_id);
        handle.map_or_else(QueueOffsets::default, |handle| QueueOffsets {
            min: handle.queue.min_offset(),
            max: handle.queue.max_offset(),
        })
    }

    fn offset_by_time(&self, topic: &str, queue_id: i32, timestamp: i64, boundary: BoundaryType) -> u64 {
        self.shared.offset_by_time(topic, queue_id, timestamp, boundary)
    }

    fn store_time(&self, topic: &str, queue_id: i32, queue_offset: u64) -> Option<i64> {
        let unit = self.queue_unit(topic, queue_id, queue_offset)?;
        self.shared.log.store_timestamp(unit.phy_offset, unit.size)
    }

    fn queue_unit(&self, topic: &str, queue_id: i32, queue_offset: u64) -> Option<Unit> {
        let handle = self.shared.queues.get(topic, queue_id)?;
        handle.queue.unit_of(queue_offset).map(|found| found.unit)
    }

    fn delete_topics(&self, topics: &[&str]) -> Result<usize, LogicError> {
        self.shared.delete_topics(topics)
    }

    fn topics(&self) -> Vec<String> {
        self.shared.queues.topics()
    }

    fn clean_by_hand(&self) {
        self.shared.clean_by_hand();
    }

    fn log_positions(&self) -> LogPositions {
        // In this order: the end may only grow meanwhile.
        let durable = self.shared.log.flushed_where();
        LogPositions { end: self.shared.log.wrote_offset(), durable }
    }

    fn runtime_info(&self) -> BTreeMap<String, String> {
        self.shared.runtime_info()
    }

    fn write_refusal(&self) -> Option<String> {
        self.shared.flags.write_refusal()
    }
}
