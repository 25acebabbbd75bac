//! The thread inventory of the store: one service per file.
//!
//! | service | what it does | what wakes it |
//! |---|---|---|
//! | AllocateMappedFileService | makes the next log file ahead of need | a request |
//! | ReputMessageService | reads the log behind the writer and feeds queues, index and long polling | a put |
//! | GroupCommitService | SYNC_FLUSH: one sync for all puts that wait | a waiting put |
//! | CommitRealTimeService | ASYNC_FLUSH with write buffers: moves records from them to the log files | a put, `commitIntervalCommitLog` |
//! | FlushRealTimeService | ASYNC_FLUSH: syncs the log in the background | `flushIntervalCommitLog` |
//! | FlushConsumeQueueService | syncs queues, moves the checkpoint | `flushIntervalConsumeQueue` |
//! | IndexService | syncs index files that became full | a full file |
//! | DiskCheckService | watches how full the disk is, refuses writes in time | one second |
//! | CleanCommitLogService | deletes expired log files | `cleanResourceInterval` |
//! | CleanConsumeQueueService | lets queues and index follow the log's beginning | `cleanResourceInterval` |
//! | StoreStatsService | samples the counters | one second |

pub(crate) mod allocate_mapped_file_service;
pub(crate) mod clean_commit_log_service;
pub(crate) mod clean_consume_queue_service;
pub(crate) mod commit_real_time_service;
pub(crate) mod disk_check_service;
pub(crate) mod flush_consume_queue_service;
pub(crate) mod flush_real_time_service;
pub(crate) mod group_commit_service;
pub(crate) mod index_service;
pub(crate) mod reput_message_service;
pub(crate) mod store_stats_service;

#[cfg(test)]
mod tests;
