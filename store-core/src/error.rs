use crate::log_damage::LogDamage;
use store_logic::inspect::InspectError;
use store_logic::snapshot_file::SnapshotError;
use store_logic::{DiskError, LogicError};

/// Why a store cannot be opened or stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The disk refused.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A file of the store cannot be used.
    #[error(transparent)]
    Logic(#[from] LogicError),
    /// The store's own notes cannot be written.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// No thread for a service.
    #[error("cannot start a service: {0}")]
    Thread(#[source] std::io::Error),
    /// A file has another size than configured.
    #[error("{source}; set {key} to the size the store was made with")]
    FileSize {
        /// Key in `broker.conf`.
        key: &'static str,
        /// The file and both sizes.
        source: LogicError,
    },
    /// A size was changed that existing files depend on.
    #[error("{key}: this store was made with {made_with}, configured is {configured}; set {key}={made_with}")]
    Geometry {
        /// Key in `broker.conf`.
        key: &'static str,
        /// Value the files were made with.
        made_with: u64,
        /// Value configured now.
        configured: u64,
    },
    /// Queues without a log.
    #[error(
        "{log}: expected log files, found none, but {queues} queues with messages exist; restore the log, or move \
         consumequeue and index away to begin anew"
    )]
    LogMissing {
        /// Directory of the log.
        log: String,
        /// Queues that hold units.
        queues: usize,
    },
    /// A record that was durable cannot be read. Nothing was changed.
    #[error(transparent)]
    Damaged(Box<LogDamage>),
    /// A file of the store cannot be read.
    #[error(transparent)]
    Inspect(#[from] InspectError),
}
