//! The log with what makes its files and what stands in front of them.

use super::name_key;
use crate::config::{BrokerRole, FlushDiskType, MessageStoreConfig};
use crate::error::StoreError;
use crate::service::Wakeup;
use crate::services::allocate_mapped_file_service::{
    AllocateMappedFileService, Preparation, allocate_mapped_file_service,
};
use crate::store_paths::StorePaths;
use crate::sync::Arc;
use store_logic::commit_log::CommitLog;
use store_logic::{AccessPolicy, Env, TransientStorePool};

/// A log, the worker that makes its files, and its write buffers.
type OpenLog = (CommitLog, AllocateMappedFileService, Option<Arc<TransientStorePool>>);

/// Opens the log; `wakeup` wakes the worker.
pub(super) fn open_log(
    env: &Env,
    config: &MessageStoreConfig,
    paths: &StorePaths,
    wakeup: Wakeup,
) -> Result<OpenLog, StoreError> {
    let pool = store_pool(config);
    let (supplier, worker) = allocate_mapped_file_service(env, preparation(config, pool.clone()), wakeup);
    let file_size = config.commit_log.mapped_file_size_commit_log;
    let log = CommitLog::open(env, paths.commit_logs().clone(), file_size, supplier)
        .map_err(|error| name_key("mappedFileSizeCommitLog", error))?;
    let mut log = log.with_access(log_access(config, pool.is_some()));
    if let Some(pool) = &pool {
        log = log.with_store_pool(Arc::clone(pool));
    }
    Ok((log, worker, pool))
}

/// The pool of write buffers, when the store is to use one. A replica gets its bytes in large pieces and needs none.
fn store_pool(config: &MessageStoreConfig) -> Option<Arc<TransientStorePool>> {
    let pool = &config.pool;
    let used = pool.transient_store_pool_enable && config.broker_role != BrokerRole::Slave;
    used.then(|| {
        TransientStorePool::new(
            config.commit_log.mapped_file_size_commit_log,
            pool.transient_store_pool_size as usize,
            pool.fast_fail_if_no_buffer_in_store_pool,
        )
    })
}

fn preparation(config: &MessageStoreConfig, pool: Option<Arc<TransientStorePool>>) -> Preparation {
    let flush_every_pages = match config.flush.flush_disk_type {
        FlushDiskType::SyncFlush => Some(config.commit_log.flush_least_pages_when_warm_mapped_file),
        FlushDiskType::AsyncFlush => None,
    };
    Preparation {
        ahead: config.commit_log.preallocate,
        warm_up: config.commit_log.warm_mapped_file_enable,
        flush_every_pages,
        pool,
    }
}

/// What the kernel is told about log files: see [`AccessPolicy`]. From write buffers they are written by calls, which
/// dirty what they write and nothing else, so only a log that is synced put by put through its mapping needs small pages.
fn log_access(config: &MessageStoreConfig, pooled: bool) -> AccessPolicy {
    if !config.commit_log.data_read_ahead_enable {
        AccessPolicy::NoReadAhead
    } else if config.flush.flush_disk_type == FlushDiskType::SyncFlush && !pooled {
        AccessPolicy::SmallFlushes
    } else {
        AccessPolicy::ReadAhead
    }
}
