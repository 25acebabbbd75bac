//! What a store can be told: one documented struct per component, nothing flat.
//!
//! Field names are the keys of Apache's `broker.conf` in snake_case, so that a key is found by searching for it; the
//! defaults are Apache's (`MessageStoreConfig`). Reading the properties file is the business of `broker-proc`.

mod clean;
mod commit_log;
mod consume_queue;
mod delay;
mod flush;
mod index;
mod multi_dispatch;
mod read;
mod transient_store_pool;

pub use clean::CleanConfig;
pub use commit_log::{CommitLogConfig, DamagedCommitLogPolicy};
pub use consume_queue::ConsumeQueueConfig;
pub use delay::{DelayLevels, InvalidDelayLevels};
pub use flush::{FlushConfig, FlushDiskType};
pub use index::IndexConfig;
pub use multi_dispatch::MultiDispatchConfig;
pub use read::ReadConfig;
pub use transient_store_pool::TransientStorePoolConfig;

use std::path::PathBuf;
use store_logic::QueueTypes;

/// Part a broker plays in its replication group (`brokerRole`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BrokerRole {
    /// Accepts writes, does not wait for replicas. The default.
    #[default]
    AsyncMaster,
    /// Accepts writes. With `inSyncReplicas=1`, Apache's default, it waits for no replica; this release has none.
    SyncMaster,
    /// Follows a master and refuses writes.
    Slave,
}

/// Everything a store needs to know before it opens.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageStoreConfig {
    /// Store root (`storePathRootDir`); the directory tree below it is Apache's.
    pub store_path_root_dir: PathBuf,
    /// Directories of the log files (`storePathCommitLog`); none means `{root}/commitlog`.
    pub store_path_commit_log: Vec<PathBuf>,
    /// Directories whose log files are kept and that take no new ones (`readOnlyCommitLogStorePaths`).
    pub read_only_commit_log_store_paths: Vec<PathBuf>,
    /// Role of this broker (`brokerRole`).
    pub broker_role: BrokerRole,
    /// Log files and records.
    pub commit_log: CommitLogConfig,
    /// Queue files.
    pub consume_queue: ConsumeQueueConfig,
    /// Knows which topics have batch queues (topic attribute `queue.type`); the broker answers from its topics.
    pub queue_types: QueueTypes,
    /// Light message queues.
    pub multi_dispatch: MultiDispatchConfig,
    /// Index files.
    pub index: IndexConfig,
    /// When bytes reach the disk.
    pub flush: FlushConfig,
    /// Write buffers in front of log files.
    pub pool: TransientStorePoolConfig,
    /// How much one read may return.
    pub read: ReadConfig,
    /// When old files go.
    pub clean: CleanConfig,
    /// Delay levels (`messageDelayLevel`): they decide the deliver time kept in the queue units of delayed messages.
    pub delay_levels: DelayLevels,
}

impl MessageStoreConfig {
    /// Apache's defaults for a store below `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            store_path_root_dir: root.into(),
            store_path_commit_log: Vec::new(),
            read_only_commit_log_store_paths: Vec::new(),
            broker_role: BrokerRole::default(),
            commit_log: CommitLogConfig::default(),
            consume_queue: ConsumeQueueConfig::default(),
            queue_types: QueueTypes::default(),
            multi_dispatch: MultiDispatchConfig::default(),
            index: IndexConfig::default(),
            flush: FlushConfig::default(),
            pool: TransientStorePoolConfig::default(),
            read: ReadConfig::default(),
            clean: CleanConfig::default(),
            delay_levels: DelayLevels::default(),
        }
    }
}
