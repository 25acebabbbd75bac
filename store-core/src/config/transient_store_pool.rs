/// Write buffers between the writer and the log files, for ASYNC_FLUSH above all: puts go to memory of the process, a
/// service moves them to the files in large pieces. What is only in a buffer is lost when the process is killed.
#[derive(Debug, Clone, PartialEq)]
pub struct TransientStorePoolConfig {
    /// Use them (`transientStorePoolEnable`). Default false. A replica never does.
    pub transient_store_pool_enable: bool,
    /// Buffers, each of a log file's size, made when needed (`transientStorePoolSize`). Default 5.
    pub transient_store_pool_size: u32,
    /// While all buffers are in use, refuse the put that needs the next file, instead of committing first
    /// (`fastFailIfNoBufferInStorePool`). Default false.
    pub fast_fail_if_no_buffer_in_store_pool: bool,
    /// Milliseconds between two commits (`commitIntervalCommitLog`). Default 200.
    pub commit_interval_commit_log: u64,
    /// Appended 4 KiB pages worth a commit (`commitCommitLogLeastPages`). Default 4.
    pub commit_commit_log_least_pages: u32,
    /// Milliseconds after which everything is committed (`commitCommitLogThoroughInterval`). Default 200.
    pub commit_commit_log_thorough_interval: u64,
    /// Let each put wake the commit service (`wakeCommitWhenPutMessage`). Default true.
    pub wake_commit_when_put_message: bool,
}

impl Default for TransientStorePoolConfig {
    fn default() -> Self {
        Self {
            transient_store_pool_enable: false,
            transient_store_pool_size: 5,
            fast_fail_if_no_buffer_in_store_pool: false,
            commit_interval_commit_log: 200,
            commit_commit_log_least_pages: 4,
            commit_commit_log_thorough_interval: 200,
            wake_commit_when_put_message: true,
        }
    }
}
