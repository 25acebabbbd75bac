//! What became of a message.

/// Answer to a put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutResult {
    /// Status, as the protocol names it.
    pub status: PutMessageStatus,
    /// Where the message is; there whenever it is in the log, whatever the status says of disk and replicas.
    pub appended: Option<AppendResult>,
    /// Why not, in words.
    pub remark: Option<String>,
}

/// Status of a put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutMessageStatus {
    /// Stored as durably as configured.
    PutOk,
    /// Stored; not known to be on disk within the time allowed.
    FlushDiskTimeout,
    /// Stored; no replica answered within the time allowed.
    FlushSlaveTimeout,
    /// Stored; there is no replica.
    SlaveNotAvailable,
    /// Not taken: the store is read-only, full or going down. With [`PutResult::appended`] set it is in the log, but the
    /// sync it waited for failed.
    ServiceNotAvailable,
    /// Not stored: no next log file.
    CreateMappedFileFailed,
    /// Not stored: the message breaks a rule.
    MessageIllegal,
    /// Not stored: properties too long.
    PropertiesSizeExceeded,
    /// Not stored: it names light queues that there are none of yet, and there are as many as may be.
    LmqConsumeQueueNumExceeded,
    /// Not stored: the tail of the log is held for too long.
    OsPageCacheBusy,
    /// Not stored.
    UnknownError,
}

/// Where messages went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppendResult {
    /// Position of the first record in the log.
    pub wrote_offset: u64,
    /// Bytes of all records.
    pub wrote_bytes: u64,
    /// Queue offset of the first message.
    pub logics_offset: u64,
    /// Messages stored, which is how many queue offsets they took; of half messages the records.
    pub message_count: u64,
    /// Store time.
    pub store_timestamp: i64,
    /// Positions of all records of a batch; empty for a single message.
    pub batch_offsets: Vec<u64>,
}

impl PutResult {
    /// Not stored, because.
    pub fn refused(status: PutMessageStatus, remark: impl Into<String>) -> Self {
        Self { status, appended: None, remark: Some(remark.into()) }
    }

    /// True when the message is stored, whatever is known of disk and replicas.
    pub fn is_stored(&self) -> bool {
        self.appended.is_some()
    }
}
