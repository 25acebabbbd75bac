/// When a put is answered (`flushDiskType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FlushDiskType {
    /// After the copy into the mapped log; the disk follows within `flush_interval_commit_log`. The default.
    #[default]
    AsyncFlush,
    /// After the bytes were synced.
    SyncFlush,
}

/// When log bytes reach the disk.
#[derive(Debug, Clone, PartialEq)]
pub struct FlushConfig {
    /// `flushDiskType`.
    pub flush_disk_type: FlushDiskType,
    /// Flush every `flush_interval_commit_log` and not also after each commit from write buffers
    /// (`flushCommitLogTimed`). Default true.
    pub flush_commit_log_timed: bool,
    /// Milliseconds between two background flushes (`flushIntervalCommitLog`). Default 500.
    pub flush_interval_commit_log: u64,
    /// Dirty 4 KiB pages worth a background flush (`flushCommitLogLeastPages`). Default 4.
    pub flush_commit_log_least_pages: u32,
    /// Milliseconds after which everything is flushed (`flushCommitLogThoroughInterval`). Default 10,000.
    pub flush_commit_log_thorough_interval: u64,
    /// With SYNC_FLUSH, let consumers see records before they are durable (`readUnCommitted`). Default false.
    pub read_un_committed: bool,
    /// Milliseconds a SYNC_FLUSH put waits before it is answered FLUSH_DISK_TIMEOUT (`syncFlushTimeout`). Default 5000.
    pub sync_flush_timeout: u64,
}

impl Default for FlushConfig {
    fn default() -> Self {
        Self {
            flush_disk_type: FlushDiskType::default(),
            flush_commit_log_timed: true,
            flush_interval_commit_log: 500,
            flush_commit_log_least_pages: 4,
            flush_commit_log_thorough_interval: 10_000,
            read_un_committed: false,
            sync_flush_timeout: 5000,
        }
    }
}
