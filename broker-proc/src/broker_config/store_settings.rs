//! Keys of Apache's `MessageStoreConfig` that have an effect.

use std::path::PathBuf;

use store_core::config::{BrokerRole, DamagedCommitLogPolicy, DelayLevels, FlushDiskType};

use super::setting::{Setting, flag, number, percent};
use super::value;

/// Java keeps sizes, counts and periods in an `int`.
const MAX_INT: i64 = i32::MAX as i64;
/// Smallest log file: one page.
const MIN_LOG_FILE: i64 = 4096;
/// Bytes of a queue unit.
const QUEUE_UNIT: u64 = 20;
/// Bytes of a batch queue unit.
const BATCH_QUEUE_UNIT: u64 = 46;

pub(super) static SETTINGS: &[Setting] = &[
    Setting {
        key: "storePathRootDir",
        set: |settings, text| {
            settings.store.store_path_root_dir = path(text)?;
            Ok(unexpanded(text))
        },
        show: |settings| settings.store.store_path_root_dir.display().to_string(),
    },
    Setting {
        key: "storePathCommitLog",
        set: |settings, text| {
            settings.store.store_path_commit_log = paths(text)?;
            Ok(unexpanded(text))
        },
        show: |settings| match settings.store.store_path_commit_log.as_slice() {
            [] if settings.store.store_path_root_dir.as_os_str().is_empty() => String::new(),
            [] => settings.store.store_path_root_dir.join("commitlog").display().to_string(),
            directories => show_paths(directories),
        },
    },
    Setting {
        key: "readOnlyCommitLogStorePaths",
        set: |settings, text| {
            settings.store.read_only_commit_log_store_paths = paths(text)?;
            Ok(unexpanded(text))
        },
        show: |settings| show_paths(&settings.store.read_only_commit_log_store_paths),
    },
    Setting {
        key: "brokerRole",
        set: |settings, text| {
            settings.store.broker_role = match text.trim() {
                "ASYNC_MASTER" => BrokerRole::AsyncMaster,
                "SYNC_MASTER" => BrokerRole::SyncMaster,
                "SLAVE" => BrokerRole::Slave,
                _ => return Err("ASYNC_MASTER, SYNC_MASTER or SLAVE".to_owned()),
            };
            Ok(None)
        },
        show: |settings| broker_role_name(settings.store.broker_role).to_owned(),
    },
    number!("mappedFileSizeCommitLog", store.commit_log.mapped_file_size_commit_log, MIN_LOG_FILE..=MAX_INT),
    number!("maxMessageSize", store.commit_log.max_message_size, 1..=MAX_INT),
    flag!("checkCRCOnRecover", store.commit_log.check_crc_on_recover),
    flag!("enabledAppendPropCRC", store.commit_log.enabled_append_prop_crc),
    flag!("forceVerifyPropCRC", store.commit_log.force_verify_prop_crc),
    flag!("autoMessageVersionOnTopicLen", store.commit_log.auto_message_version_on_topic_len),
    flag!("enableLmq", store.multi_dispatch.enable_lmq),
    flag!("enableMultiDispatch", store.multi_dispatch.enable_multi_dispatch),
    number!("maxLmqConsumeQueueNum", store.multi_dispatch.max_lmq_consume_queue_num, 0..=MAX_INT),
    Setting {
        key: "damagedCommitLogPolicy",
        set: |settings, text| {
            settings.store.commit_log.damaged_commit_log_policy = match text.trim() {
                "stop" => DamagedCommitLogPolicy::Stop,
                "truncate" => DamagedCommitLogPolicy::Truncate,
                "skip" => DamagedCommitLogPolicy::Skip,
                _ => return Err("stop, truncate or skip".to_owned()),
            };
            Ok(None)
        },
        show: |settings| damage_policy_name(settings.store.commit_log.damaged_commit_log_policy).to_owned(),
    },
    number!("osPageCacheBusyTimeOutMills", store.commit_log.os_page_cache_busy_time_out_mills, 0..=MAX_INT),
    flag!("enableConsumeQueueExt", store.consume_queue.enable_consume_queue_ext),
    number!(
        "mappedFileSizeConsumeQueueExt",
        store.consume_queue.mapped_file_size_consume_queue_ext,
        MIN_LOG_FILE..=MAX_INT
    ),
    flag!("warmMapedFileEnable", store.commit_log.warm_mapped_file_enable),
    number!(
        "flushLeastPagesWhenWarmMapedFile",
        store.commit_log.flush_least_pages_when_warm_mapped_file,
        1..=MAX_INT
    ),
    flag!("dataReadAheadEnable", store.commit_log.data_read_ahead_enable),
    flag!("transientStorePoolEnable", store.pool.transient_store_pool_enable),
    number!("transientStorePoolSize", store.pool.transient_store_pool_size, 1..=MAX_INT),
    flag!("fastFailIfNoBufferInStorePool", store.pool.fast_fail_if_no_buffer_in_store_pool),
    number!("commitIntervalCommitLog", store.pool.commit_interval_commit_log, 1..=MAX_INT),
    number!("commitCommitLogLeastPages", store.pool.commit_commit_log_least_pages, 0..=MAX_INT),
    number!("commitCommitLogThoroughInterval", store.pool.commit_commit_log_thorough_interval, 0..=MAX_INT),
    flag!("wakeCommitWhenPutMessage", store.pool.wake_commit_when_put_message),
    Setting {
        key: "mapperFileSizeBatchConsumeQueue",
        set: |settings, text| {
            let given: u64 = value::number(text, 1..=MAX_INT)?;
            let used = given.div_ceil(BATCH_QUEUE_UNIT) * BATCH_QUEUE_UNIT;
            settings.store.consume_queue.mapper_file_size_batch_consume_queue = used;
            Ok((used != given)
                .then(|| format!("{given} is not a multiple of {BATCH_QUEUE_UNIT}, {used} is used")))
        },
        show: |settings| settings.store.consume_queue.mapper_file_size_batch_consume_queue.to_string(),
    },
    Setting {
        key: "mappedFileSizeConsumeQueue",
        set: |settings, text| {
            let given: u64 = value::number(text, 1..=MAX_INT)?;
            let used = given.div_ceil(QUEUE_UNIT) * QUEUE_UNIT;
            settings.store.consume_queue.mapped_file_size_consume_queue = used;
            Ok((used != given).then(|| format!("{given} is not a multiple of {QUEUE_UNIT}, {used} is used")))
        },
        show: |settings| settings.store.consume_queue.mapped_file_size_consume_queue.to_string(),
    },
    number!("flushIntervalConsumeQueue", store.consume_queue.flush_interval_consume_queue, 1..=MAX_INT),
    number!("flushConsumeQueueLeastPages", store.consume_queue.flush_consume_queue_least_pages, 0..=MAX_INT),
    number!(
        "flushConsumeQueueThoroughInterval",
        store.consume_queue.flush_consume_queue_thorough_interval,
        0..=MAX_INT
    ),
    flag!("messageIndexEnable", store.index.message_index_enable),
    number!("maxHashSlotNum", store.index.max_hash_slot_num, 1..=MAX_INT),
    number!("maxIndexNum", store.index.max_index_num, 2..=MAX_INT),
    number!("maxMsgsNumBatch", store.index.max_msgs_num_batch, 1..=MAX_INT),
    Setting {
        key: "flushDiskType",
        set: |settings, text| {
            settings.store.flush.flush_disk_type = match text.trim() {
                "ASYNC_FLUSH" => FlushDiskType::AsyncFlush,
                "SYNC_FLUSH" => FlushDiskType::SyncFlush,
                _ => return Err("ASYNC_FLUSH or SYNC_FLUSH".to_owned()),
            };
            Ok(None)
        },
        show: |settings| flush_disk_type_name(settings.store.flush.flush_disk_type).to_owned(),
    },
    flag!("flushCommitLogTimed", store.flush.flush_commit_log_timed),
    number!("flushIntervalCommitLog", store.flush.flush_interval_commit_log, 1..=MAX_INT),
    number!("flushCommitLogLeastPages", store.flush.flush_commit_log_least_pages, 0..=MAX_INT),
    number!("flushCommitLogThoroughInterval", store.flush.flush_commit_log_thorough_interval, 0..=MAX_INT),
    flag!("readUnCommitted", store.flush.read_un_committed),
    number!("syncFlushTimeout", store.flush.sync_flush_timeout, 1..=MAX_INT),
    number!(
        "maxTransferBytesOnMessageInMemory",
        store.read.max_transfer_bytes_on_message_in_memory,
        1..=MAX_INT
    ),
    number!(
        "maxTransferCountOnMessageInMemory",
        store.read.max_transfer_count_on_message_in_memory,
        1..=MAX_INT
    ),
    number!("maxTransferBytesOnMessageInDisk", store.read.max_transfer_bytes_on_message_in_disk, 1..=MAX_INT),
    number!("maxTransferCountOnMessageInDisk", store.read.max_transfer_count_on_message_in_disk, 1..=MAX_INT),
    percent!("accessMessageInMemoryMaxRatio", store.read.access_message_in_memory_max_ratio, 0..=100),
    number!("maxFilterMessageSize", store.read.max_filter_message_size, 20..=MAX_INT),
    number!("travelCqFileNumWhenGetMessage", store.read.travel_cq_file_num_when_get_message, 1..=MAX_INT),
    flag!("offsetCheckInSlave", store.read.offset_check_in_slave),
    Setting {
        key: "deleteWhen",
        set: |settings, text| {
            settings.store.clean.delete_when = value::hours(text)?;
            Ok(None)
        },
        show: |settings| {
            let hours: Vec<_> =
                settings.store.clean.delete_when.iter().map(|hour| format!("{hour:02}")).collect();
            hours.join(";")
        },
    },
    number!("fileReservedTime", store.clean.file_reserved_time, 0..=MAX_INT),
    number!("deleteFileBatchMax", store.clean.delete_file_batch_max, 0..=MAX_INT),
    flag!("cleanFileForciblyEnable", store.clean.clean_file_forcibly_enable),
    percent!("diskMaxUsedSpaceRatio", store.clean.disk_max_used_space_ratio, 10..=95),
    percent!("diskSpaceCleanForciblyRatio", store.clean.disk_space_clean_forcibly_ratio, 30..=85),
    percent!("diskSpaceWarningLevelRatio", store.clean.disk_space_warning_level_ratio, 35..=90),
    number!("cleanResourceInterval", store.clean.clean_resource_interval, 1..=MAX_INT),
    number!("deleteCommitLogFilesInterval", store.clean.delete_commit_log_files_interval, 0..=MAX_INT),
    number!("deleteConsumeQueueFilesInterval", store.clean.delete_consume_queue_files_interval, 0..=MAX_INT),
    Setting {
        key: "messageDelayLevel",
        set: |settings, text| {
            settings.store.delay_levels = text.parse().map_err(|_| {
                format!(
                    "numbers with a unit (s, m, h or d), blanks between them, such as {}",
                    DelayLevels::DEFAULT
                )
            })?;
            Ok(None)
        },
        show: |settings| show_delay_levels(&settings.store.delay_levels),
    },
];

fn path(text: &str) -> Result<PathBuf, String> {
    value::word(text).map(PathBuf::from).map_err(|_| "a directory".to_owned())
}

/// Directories with `,` between them, blanks around and slashes behind them left out.
fn paths(text: &str) -> Result<Vec<PathBuf>, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    // Taken apart and put together, a path loses what stands doubled or behind it.
    parts.map(|part| path(part).map(|path| path.components().collect())).collect()
}

fn show_paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(",")
}

/// A remark about shell variables, which neither Apache nor this broker expands.
fn unexpanded(text: &str) -> Option<String> {
    text.contains('$')
        .then(|| format!("`{text}` is taken as written; of all variables only ${{user.home}} is expanded"))
}

fn broker_role_name(role: BrokerRole) -> &'static str {
    match role {
        BrokerRole::AsyncMaster => "ASYNC_MASTER",
        BrokerRole::SyncMaster => "SYNC_MASTER",
        BrokerRole::Slave => "SLAVE",
    }
}

fn damage_policy_name(policy: DamagedCommitLogPolicy) -> &'static str {
    match policy {
        DamagedCommitLogPolicy::Stop => "stop",
        DamagedCommitLogPolicy::Truncate => "truncate",
        DamagedCommitLogPolicy::Skip => "skip",
    }
}

fn flush_disk_type_name(kind: FlushDiskType) -> &'static str {
    match kind {
        FlushDiskType::AsyncFlush => "ASYNC_FLUSH",
        FlushDiskType::SyncFlush => "SYNC_FLUSH",
    }
}

/// Writes each delay in the largest unit below days that divides it, as the default table does.
fn show_delay_levels(levels: &DelayLevels) -> String {
    let one = |level| {
        let seconds = levels.delay_millis(level).unwrap_or(0) / 1000;
        match seconds {
            s if s > 0 && s % 3600 == 0 => format!("{}h", s / 3600),
            s if s > 0 && s % 60 == 0 => format!("{}m", s / 60),
            s => format!("{s}s"),
        }
    };
    (1..=levels.max_level()).map(one).collect::<Vec<_>>().join(" ")
}
