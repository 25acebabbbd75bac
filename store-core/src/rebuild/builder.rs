//! One walk over the log that fills new queues and a new index.

use super::{RebuildOptions, RebuildReport};
use crate::default_message_store::is_possible_gap;
use crate::inspectors::StoreInspection;
use crate::tool_error::ToolError;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use store_logic::commit_log::format::MessageView;
use store_logic::consume_queue::{PutUnit, Unit};
use store_logic::dispatch::{DispatchRequest, UnitPlace};
use store_logic::index_file::format::IndexGeometry;
use store_logic::inspectors::{BatchQueueReader, LogItem, QueuePlace, QueueReader};
use store_logic::message::sys_flag;
use store_logic::{BatchQueues, ConsumeQueueTable, CqUnit, Disk, ExtQueues, IndexFileSet, LogicError, Queue};

/// Builds into a directory of its own, or nowhere.
pub(super) struct Builder<'a> {
    store: &'a StoreInspection,
    options: &'a RebuildOptions,
    /// Directory of the new queues.
    queue_root: PathBuf,
    /// Directory of their extensions, when they are to have any.
    ext_root: Option<PathBuf>,
    /// Directory of the new batch queues.
    batch_root: PathBuf,
    queues: Option<ConsumeQueueTable>,
    index: Option<IndexFileSet>,
    /// Queues the log has messages of.
    seen: BTreeSet<(String, i32)>,
    log_end: u64,
    report: RebuildReport,
}

impl<'a> Builder<'a> {
    /// Counts and builds nothing.
    pub(super) fn dry(store: &'a StoreInspection, options: &'a RebuildOptions) -> Self {
        Self {
            store,
            options,
            queue_root: PathBuf::new(),
            ext_root: None,
            batch_root: PathBuf::new(),
            queues: None,
            index: None,
            seen: BTreeSet::new(),
            log_end: 0,
            report: RebuildReport::default(),
        }
    }

    /// Builds below `work`.
    pub(super) fn new(
        store: &'a StoreInspection,
        options: &'a RebuildOptions,
        work: &Path,
    ) -> Result<Self, ToolError> {
        let (env, config) = (store.env(), store.config());
        let mut builder = Self::dry(store, options);
        if options.queues {
            builder.queue_root = work.join("consumequeue");
            env.disk().create_dir_all(&builder.queue_root)?;
            let size = config.consume_queue.mapped_file_size_consume_queue;
            builder.batch_root = work.join("batchconsumequeue");
            env.disk().create_dir_all(&builder.batch_root)?;
            let batch = BatchQueues {
                directory: builder.batch_root.clone(),
                file_size: config.consume_queue.mapper_file_size_batch_consume_queue,
                types: config.queue_types.clone(),
            };
            let ext = if super::has_extensions(store)? { Some(work.join("consumequeue_ext")) } else { None };
            builder.ext_root.clone_from(&ext);
            let ext = ext.map(|directory| ExtQueues {
                directory,
                file_size: config.consume_queue.mapped_file_size_consume_queue_ext,
                write: true,
            });
            if let Some(ext) = &ext {
                env.disk().create_dir_all(&ext.directory)?;
            }
            builder.queues =
                Some(ConsumeQueueTable::load_all(env, &builder.queue_root, size, ext, Some(batch))?);
        }
        if options.index {
            let directory = work.join("index");
            env.disk().create_dir_all(&directory)?;
            let geometry =
                IndexGeometry { slots: config.index.max_hash_slot_num, entries: config.index.max_index_num };
            builder.index = Some(IndexFileSet::load(env, &directory, geometry, options.index_tags)?);
        }
        Ok(builder)
    }

    /// Walks the log; what was built is durable when this returns.
    pub(super) fn run(mut self, progress: &mut dyn FnMut(u64)) -> Result<RebuildReport, ToolError> {
        let mut log = self.store.log()?;
        let start = log.min_offset();
        self.log_end = log.files().end();
        let mut failed = None;
        log.walk(start, u64::MAX, &mut |phy_offset, item| {
            progress(phy_offset - start);
            match item {
                LogItem::Record(view) => match self.take(phy_offset, view) {
                    Ok(()) => {}
                    Err(error) => failed = Some(error),
                },
                LogItem::Damage(_) => self.report.damages += 1,
                LogItem::Blank => {}
            }
            if failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        if self.options.queues {
            self.report.queues = self.seen.len() as u64;
            self.keep_other_queues()?;
        }
        self.sync()?;
        Ok(self.report)
    }

    fn take(&mut self, phy_offset: u64, view: &MessageView<'_>) -> Result<(), ToolError> {
        let request = DispatchRequest::new(phy_offset, view, &self.options.delay_levels);
        self.report.records += 1;
        if self.options.queues {
            let light_places = request.light_places().filter(|_| request.is_visible());
            for place in light_places {
                // A broker that keeps no light queues has none; this one shall not begin to.
                let is_deleted = self.store.is_of_deleted_topic(place.topic, phy_offset);
                if !is_deleted && self.store.has_queue(place.topic)? {
                    self.put(&place, &request)?;
                }
            }
            if self.store.is_of_deleted_topic(request.topic, phy_offset) {
                self.report.of_deleted_topics += 1;
            } else if request.is_visible() {
                let mut own = request.own_place();
                if !self.store.has_batch_queues(own.topic) {
                    own.count = 1;
                }
                if view.queue_offset < 0 {
                    self.report.without_place += 1;
                } else {
                    self.put(&own, &request)?;
                }
            }
        }
        if self.options.index {
            let has_keys = request.uniq_key.is_some() || request.keys.is_some();
            let rolled_back = sys_flag::transaction(request.sys_flag) == sys_flag::TRANSACTION_ROLLBACK;
            self.report.indexed += u64::from(has_keys && !rolled_back);
            if let Some(index) = &self.index {
                if let Some(closed) = index.put(&request, || self.store.env().now_millis())? {
                    closed.flush()?;
                }
            }
        }
        Ok(())
    }

    fn put(&mut self, place: &UnitPlace<'_>, request: &DispatchRequest<'_>) -> Result<(), ToolError> {
        let (topic, queue_id) = (place.topic, place.queue_id);
        if !self.seen.contains(&(topic.to_owned(), queue_id)) {
            self.seen.insert((topic.to_owned(), queue_id));
        }
        let Some(queues) = &self.queues else {
            self.report.units += 1;
            return Ok(());
        };
        let handle = queues.get_or_create(topic, queue_id)?;
        let unit =
            Unit { phy_offset: request.phy_offset, size: request.msg_size, tags_code: request.tags_code };
        let unit = CqUnit { queue_offset: place.queue_offset, count: place.count, unit };
        match put_at(&handle.queue, &unit, request.store_timestamp, self.log_end)? {
            PutUnit::Appended => self.report.units += 1,
            _ => self.report.without_place += 1,
        }
        Ok(())
    }

    /// Queues none of whose messages is in the log any more: their offsets have to go on where they are.
    fn keep_other_queues(&mut self) -> Result<(), ToolError> {
        let (env, store) = (self.store.env(), self.store);
        for queue in store.queues()? {
            if self.seen.contains(&(queue.topic.clone(), queue.queue_id)) {
                continue;
            }
            let mut reader = QueueReader::open(env, &queue.path)?;
            let Some(last) = reader.end()?.checked_sub(1) else { continue };
            let is_deleted = match reader.place(last)? {
                QueuePlace::Unit(unit) => store.is_of_deleted_topic(&queue.topic, unit.phy_offset),
                _ => false,
            };
            if is_deleted {
                continue;
            }
            self.report.kept_queues += 1;
            if self.queues.is_some() {
                let to = self.queue_root.join(&queue.topic).join(queue.queue_id.to_string());
                store_logic::copy_tree(env.disk(), &queue.path, &to)?;
                self.keep_extension(&queue.topic, queue.queue_id)?;
            }
        }
        self.keep_other_batch_queues()
    }

    fn keep_other_batch_queues(&mut self) -> Result<(), ToolError> {
        let (env, store) = (self.store.env(), self.store);
        for queue in store.batch_queues()? {
            if self.seen.contains(&(queue.topic.clone(), queue.queue_id)) {
                continue;
            }
            let Some(last) = BatchQueueReader::open(env, &queue.path)?.last_unit()? else { continue };
            if store.is_of_deleted_topic(&queue.topic, last.phy_offset) {
                continue;
            }
            self.report.kept_queues += 1;
            if self.queues.is_some() {
                let to = self.batch_root.join(&queue.topic).join(queue.queue_id.to_string());
                store_logic::copy_tree(env.disk(), &queue.path, &to)?;
            }
        }
        Ok(())
    }

    /// The units of a queue that is taken over point into its extension.
    fn keep_extension(&self, topic: &str, queue_id: i32) -> Result<(), ToolError> {
        let disk = self.store.env().disk();
        let of_queue = |root: PathBuf| root.join(topic).join(queue_id.to_string());
        let from = of_queue(self.store.paths().consume_queue_ext());
        match &self.ext_root {
            Some(ext_root) if disk.stat(&from)?.is_some() => {
                Ok(store_logic::copy_tree(disk, &from, &of_queue(ext_root.clone()))?)
            }
            _ => Ok(()),
        }
    }

    fn sync(&self) -> Result<(), ToolError> {
        let disk = self.store.env().disk();
        if let Some(queues) = &self.queues {
            for handle in queues.all() {
                handle.queue.flush(0)?;
            }
            sync_queue_directories(disk, &self.queue_root)?;
            sync_queue_directories(disk, &self.batch_root)?;
        }
        if let Some(ext_root) = &self.ext_root {
            sync_queue_directories(disk, ext_root)?;
        }
        if let Some(index) = &self.index {
            index.flush()?;
            disk.sync_dir(&self.store.paths().rebuild_work().join("index"))?;
        }
        Ok(())
    }
}

/// Syncs the directories of queues and topics below `root`.
fn sync_queue_directories(disk: &dyn Disk, root: &Path) -> Result<(), ToolError> {
    for topic in disk.read_dir(root)? {
        let topic = root.join(&topic.name);
        for queue in disk.read_dir(&topic)? {
            disk.sync_dir(&topic.join(&queue.name))?;
        }
        disk.sync_dir(&topic)?;
    }
    Ok(disk.sync_dir(root)?)
}

/// Puts a unit as a start does that reads the log from its beginning: places whose messages the log no longer holds stay
/// blank, and a queue that begins at 0 once more was made anew.
fn put_at(queue: &Queue, unit: &CqUnit, store_timestamp: i64, log_end: u64) -> Result<PutUnit, LogicError> {
    match queue.put(unit, store_timestamp)? {
        PutUnit::Taken(_) if unit.queue_offset == 0 => {
            queue.restart_at(0)?;
            queue.put(unit, store_timestamp)
        }
        // No log could have held so many: the offset, which no checksum covers, is damaged.
        PutUnit::Gap { next } if !is_possible_gap(queue.kind(), unit.queue_offset, next, log_end) => {
            Ok(PutUnit::Gap { next })
        }
        PutUnit::Gap { .. } => queue.put_behind_gap(unit, store_timestamp),
        put => Ok(put),
    }
}
