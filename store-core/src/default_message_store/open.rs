//! From a directory to a running store.

mod log;

use super::index_dispatch::NOT_BEHIND;
use super::recover::{self, Examination, Examined, Recovery, RecoveryReport};
use super::{DefaultMessageStore, Shared};
use crate::abort_file;
use crate::config::{FlushDiskType, MessageStoreConfig};
use crate::error::StoreError;
use crate::log_damage::LogDamage;
use crate::repair::{self, Skipped};
use crate::running_flags::RunningFlags;
use crate::service::{Service, ServiceThread, Sleeper, Wakeup, wakeup};
use crate::services::allocate_mapped_file_service::AllocateMappedFileService;
use crate::services::clean_commit_log_service::CleanCommitLogService;
use crate::services::clean_consume_queue_service::CleanConsumeQueueService;
use crate::services::commit_real_time_service::CommitRealTimeService;
use crate::services::disk_check_service::DiskCheckService;
use crate::services::flush_consume_queue_service::FlushConsumeQueueService;
use crate::services::flush_real_time_service::FlushRealTimeService;
use crate::services::group_commit_service::{GroupCommitQueue, GroupCommitService};
use crate::services::index_service::{IndexService, index_service};
use crate::services::reput_message_service::ReputMessageService;
use crate::services::store_stats_service::{StoreStats, StoreStatsService};
use crate::set_aside::SetAside;
use crate::store_notes::StoreNotes;
use crate::store_paths::StorePaths;
use crate::sync::{Arc, AtomicI64, AtomicU32, AtomicU64, Mutex, OnceLock};
use log::open_log;
use store_logic::flushed_mark::FlushedMark;
use store_logic::index_file::format::IndexGeometry;
use store_logic::store_checkpoint::StoreCheckpoint;
use store_logic::{
    BatchQueues, ConsumeQueueTable, Env, ExtQueues, IndexFileSet, LockFile, LogicError, MapError,
    total_memory,
};

/// Services that exist before the shared state does, and the wake-ups handed into it.
pub(crate) struct Early {
    allocate: (AllocateMappedFileService, (Wakeup, Sleeper)),
    pub(crate) index: (IndexService, (Wakeup, Sleeper)),
    dispatch: (Wakeup, Sleeper),
    group_commit: (Wakeup, Sleeper),
    commit: (Wakeup, Sleeper),
}

impl DefaultMessageStore {
    /// Opens or makes the store below `config.store_path_root_dir`, recovers it, and starts its services.
    ///
    /// # Errors
    ///
    /// [`StoreError`] names what does not fit. Nothing was changed then but the marks of recovery.
    pub fn open(env: &Env, config: MessageStoreConfig) -> Result<Self, StoreError> {
        let Recovered { shared, early, report, lock } = open_recovered(env, config)?;
        let threads = start_services(&shared, early)?;
        Ok(Self { shared, threads: Mutex::new(threads), report, lock: Mutex::new(Some(lock)) })
    }
}

/// A store whose services do not run yet.
pub(crate) struct Recovered {
    pub(crate) shared: Arc<Shared>,
    pub(crate) early: Early,
    pub(crate) report: RecoveryReport,
    pub(crate) lock: LockFile,
}

/// All of opening but the services' threads.
pub(crate) fn open_recovered(env: &Env, config: MessageStoreConfig) -> Result<Recovered, StoreError> {
    let paths = StorePaths::new(&config);
    env.disk().create_dir_all(paths.root())?;
    let lock = LockFile::acquire(env.disk(), &paths.lock())?;
    let clean = abort_file::last_stop_was_clean(env, &paths)?;
    let mut skipped: Vec<Skipped> = Vec::new();
    loop {
        let notes = StoreNotes::read(env, &paths, &config)?;
        let (shared, early) = load(env, config.clone(), paths.clone(), notes)?;
        let damage = match bring_up(&shared, clean)? {
            BroughtUp::Running(report) => {
                let report = RecoveryReport { skipped, ..report };
                return Ok(Recovered { shared: Arc::new(shared), early, report, lock });
            }
            BroughtUp::ToSkip(damage) => damage,
        };
        if skipped.last().is_some_and(|last| last.from >= damage.log_offset) {
            return Err(StoreError::Damaged(Box::new(damage)));
        }
        // Files are mended with nobody looking at them.
        drop((shared, early));
        let notes = StoreNotes::read(env, &paths, &config)?;
        skipped.push(repair::skip(env, &paths, Some(&notes), &damage)?);
    }
}

/// What became of a store that was loaded.
enum BroughtUp {
    Running(RecoveryReport),
    ToSkip(LogDamage),
}

/// Examines the store, and recovers it under the abort file: queues and index are written from there on, and a crash
/// while that happens is one. A store that is refused for damage is left as it was found.
fn bring_up(shared: &Shared, clean: bool) -> Result<BroughtUp, StoreError> {
    let mut examined = match recover::examine(shared, clean, usize::MAX)? {
        Examination::Accepted(examined) => examined,
        Examination::ToSkip(damage) => return Ok(BroughtUp::ToSkip(damage)),
    };
    abort_file::create(&shared.env, &shared.paths)?;
    let brought_up = bring_up_examined(shared, clean, &mut examined);
    if brought_up.is_err() && clean {
        // Found clean and still whole: the next attempt may take it so.
        abort_file::remove(&shared.env, &shared.paths)?;
    }
    brought_up
}

fn bring_up_examined(shared: &Shared, clean: bool, examined: &mut Examined) -> Result<BroughtUp, StoreError> {
    loop {
        match recover::recover(shared, clean, examined)? {
            Recovery::Done(report) => {
                shared.reserve_first_file()?;
                shared.notes.write()?;
                shared.begin_flushed_mark()?;
                return Ok(BroughtUp::Running(report));
            }
            Recovery::LookFrom(file) => match recover::examine(shared, clean, file)? {
                Examination::Accepted(earlier) => examined.replace(*earlier),
                Examination::ToSkip(damage) => return Ok(BroughtUp::ToSkip(damage)),
            },
        }
    }
}

fn load(
    env: &Env,
    config: MessageStoreConfig,
    paths: StorePaths,
    notes: StoreNotes,
) -> Result<(Shared, Early), StoreError> {
    for directory in paths.commit_logs().writable() {
        env.disk().create_dir_all(directory)?;
    }
    env.disk().create_dir_all(&paths.consume_queue())?;
    let allocate_wakeup = wakeup();
    let (log, allocate, pool) = open_log(env, &config, &paths, allocate_wakeup.0.clone())?;
    let queues = load_queues(env, &config, &paths).map_err(|error| name_queue_key(&paths, error))?;
    let checkpoint = Arc::new(StoreCheckpoint::open(env, &paths.checkpoint())?);
    let index = load_index(env, &config, &paths)?;
    let index_wakeup = wakeup();
    let (closed_index_files, index_flusher) = index_service(Arc::clone(&checkpoint), index_wakeup.0.clone());
    let (dispatch, group_commit, commit) = (wakeup(), wakeup(), wakeup());
    let hot_bytes = total_memory() / 100 * u64::from(config.read.access_message_in_memory_max_ratio);
    let shared = Shared {
        env: env.clone(),
        log,
        queues,
        index,
        checkpoint,
        flushed_mark: OnceLock::new(),
        notes,
        flags: RunningFlags::default(),
        stats: Arc::new(StoreStats::new(env.now_millis())),
        group_commit: GroupCommitQueue::new(group_commit.0.clone()),
        dispatch_wakeup: dispatch.0.clone(),
        commit_wakeup: commit.0.clone(),
        pool,
        closed_index_files,
        listener: OnceLock::new(),
        dispatched: AtomicU64::new(0),
        dispatched_timestamp: AtomicI64::new(0),
        dispatched_record: AtomicU64::new(0),
        index_behind: AtomicU64::new(NOT_BEHIND),
        dispatching: Mutex::new(()),
        flushing: Mutex::new(()),
        rounds_by_hand: AtomicU32::new(0),
        mapping_faults: AtomicU64::new(0),
        hot_bytes,
        config,
        paths,
    };
    let early = Early {
        allocate: (allocate, allocate_wakeup),
        index: (index_flusher, index_wakeup),
        dispatch,
        group_commit,
        commit,
    };
    Ok((shared, early))
}

/// Adds the setting to a complaint about the size of a file.
fn name_key(key: &'static str, error: LogicError) -> StoreError {
    match error {
        LogicError::Map(MapError::WrongSize { .. }) => StoreError::FileSize { key, source: error },
        other => other.into(),
    }
}

fn name_queue_key(paths: &StorePaths, error: LogicError) -> StoreError {
    let is_batch = matches!(&error, LogicError::Map(MapError::WrongSize { path, .. })
        if path.starts_with(paths.batch_consume_queue()));
    name_key(if is_batch { "mapperFileSizeBatchConsumeQueue" } else { "mappedFileSizeConsumeQueue" }, error)
}

fn load_queues(
    env: &Env,
    config: &MessageStoreConfig,
    paths: &StorePaths,
) -> Result<ConsumeQueueTable, LogicError> {
    let types = config.queue_types.clone();
    let config = &config.consume_queue;
    let batch = BatchQueues {
        directory: paths.batch_consume_queue(),
        file_size: config.mapper_file_size_batch_consume_queue,
        types,
    };
    let ext = ExtQueues {
        directory: paths.consume_queue_ext(),
        file_size: config.mapped_file_size_consume_queue_ext,
        write: config.enable_consume_queue_ext,
    };
    // Most stores never had one, and need not be searched for one queue by queue.
    let ext = if ext.write || env.disk().stat(&ext.directory).map_err(MapError::from)?.is_some() {
        Some(ext)
    } else {
        None
    };
    let file_size = config.mapped_file_size_consume_queue;
    ConsumeQueueTable::load_all(env, &paths.consume_queue(), file_size, ext, Some(batch))
}

fn load_index(
    env: &Env,
    config: &MessageStoreConfig,
    paths: &StorePaths,
) -> Result<Option<IndexFileSet>, StoreError> {
    if !config.index.message_index_enable {
        return Ok(None);
    }
    let geometry =
        IndexGeometry { slots: config.index.max_hash_slot_num, entries: config.index.max_index_num };
    Ok(Some(IndexFileSet::load(env, &paths.index(), geometry, config.index.index_tags)?))
}

impl Shared {
    /// Opens the mark of how far the log is durable: after recovery all of it is.
    fn begin_flushed_mark(&self) -> Result<(), StoreError> {
        let mark = FlushedMark::open(&self.env, &self.paths.flushed_mark())?;
        let mark = self.flushed_mark.get_or_init(|| mark);
        self.note_flushed(self.log.max_offset());
        Ok(mark.flush()?)
    }

    /// Makes the first log file of an empty store, so that a full disk shows at the start and not at the first message.
    fn reserve_first_file(&self) -> Result<(), StoreError> {
        if self.log.files().file_count() == 0 {
            self.log.reserve_first_file()?;
        }
        Ok(())
    }
}

/// A service, and what wakes it.
type WakeableService = (Box<dyn Service>, (Wakeup, Sleeper));

/// The services of a store, in the order in which they start.
pub(crate) fn services(shared: &Arc<Shared>, early: Early) -> Vec<WakeableService> {
    let flusher: Box<dyn Service> = match shared.config.flush.flush_disk_type {
        FlushDiskType::SyncFlush => Box::new(GroupCommitService::new(Arc::clone(shared))),
        FlushDiskType::AsyncFlush => Box::new(FlushRealTimeService::new(Arc::clone(shared))),
    };
    let flusher_wakeup = early.group_commit.0.clone();
    let mut services: Vec<WakeableService> = vec![
        (Box::new(early.allocate.0), early.allocate.1),
        (Box::new(early.index.0), early.index.1),
        (flusher, early.group_commit),
        (Box::new(ReputMessageService::new(Arc::clone(shared))), early.dispatch),
        (Box::new(FlushConsumeQueueService::new(Arc::clone(shared))), wakeup()),
        (Box::new(DiskCheckService::new(Arc::clone(shared))), wakeup()),
        (Box::new(CleanCommitLogService::new(Arc::clone(shared))), wakeup()),
        (Box::new(CleanConsumeQueueService::new(Arc::clone(shared))), wakeup()),
        (Box::new(StoreStatsService::new(Arc::clone(&shared.stats), shared.env.clone())), wakeup()),
    ];
    if shared.pool.is_some() && shared.config.flush.flush_disk_type == FlushDiskType::AsyncFlush {
        let committer = CommitRealTimeService::new(Arc::clone(shared), flusher_wakeup);
        services.push((Box::new(committer), early.commit));
    }
    services
}

fn start_services(shared: &Arc<Shared>, early: Early) -> Result<Vec<ServiceThread>, StoreError> {
    let start = |(service, wakeup): WakeableService| {
        let for_panic = Arc::clone(shared);
        let on_panic = move |name| for_panic.flags.fail(format!("the service {name} panicked"));
        ServiceThread::spawn(service, wakeup, on_panic).map_err(StoreError::Thread)
    };
    services(shared, early).into_iter().map(start).collect()
}

/// How a start went, in one line for people.
impl std::fmt::Display for RecoveryReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let how = if self.clean { "clean stop" } else { "crash" };
        write!(
            f,
            "after a {how}: log {}..{}, checked {} records ({} B) from {}, {} ms",
            self.log_min,
            self.log_end,
            self.records,
            self.log_end.saturating_sub(self.scanned_from),
            self.scanned_from,
            self.took_millis
        )?;
        if let Some(cut) = &self.cut {
            write!(f, "; cut at {}: {cut}", self.log_end)?;
        }
        if self.dropped_records > 0 {
            write!(f, "; {} good records behind it dropped", self.dropped_records)?;
        }
        if self.set_aside.cut_bytes > 0 {
            let SetAside { cut_bytes, saved_bytes, files } = &self.set_aside;
            write!(f, "; {saved_bytes} of {cut_bytes} B that were cut are saved in {} files", files.len())?;
        }
        for skipped in &self.skipped {
            write!(f, "; passed over {}..{}", skipped.from, skipped.to)?;
            write!(f, ", {} places of queues stay empty", skipped.lost_places)?;
        }
        if self.lost_bytes > 0 {
            write!(f, "; {} B that were durable at the last clean stop are gone", self.lost_bytes)?;
        }
        Ok(())
    }
}
