//! What a store is, in a page.

use super::StoreInspection;
use std::collections::BTreeSet;
use store_logic::inspect::{FieldValue, Fields, InspectError, Place};
use store_logic::inspectors::{BatchQueueReader, LogReader, QueueReader, read_checkpoint};

/// Queues and what they hold.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QueueTotals {
    pub(super) topics: u64,
    pub(super) queues: u64,
    /// Units counted from queue offset 0, as the store's notes count them.
    pub(super) units: u64,
    /// Position behind the newest record that has a unit.
    pub(super) known_end: u64,
}

/// The index and what it holds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct IndexTotals {
    pub(super) files: u64,
    pub(super) entries: u64,
    /// The newest record indexed.
    pub(super) end: Option<u64>,
}

impl StoreInspection {
    /// What the store is, and what a start would do to it: the fields of `stratamq store info`.
    ///
    /// # Errors
    ///
    /// A part cannot be read.
    pub fn info(&self) -> Result<Fields, InspectError> {
        let in_use = match self.in_use()? {
            Some(holder) => holder.pid.map_or("yes".to_owned(), |pid| format!("yes, by process {pid}")),
            None => "no".to_owned(),
        };
        let queues = self.queue_totals()?;
        let index = self.index_totals()?;
        let mut log = self.log()?;
        let plan = self.start_plan(&mut log, queues, index)?;
        let last_stop = if self.has_abort()? { "none: abort is there" } else { "in order" };
        let mut fields = Fields::new()
            .with("store", self.paths.root().display().to_string())
            .with("inUse", in_use)
            .with("lastStop", last_stop)
            .with(
                "notes",
                if self.notes.is_some() { "stratamq.snapshot" } else { "none; RocketMQ writes none" },
            )
            .with("sizes", self.size_fields())
            .with(
                "log",
                log_fields(&log, plan.first_store_timestamp, plan.log_end, plan.last_store_timestamp),
            )
            .with(
                "queues",
                Fields::new()
                    .with("topics", queues.topics)
                    .with("queues", queues.queues)
                    .with("units", queues.units),
            )
            .with("index", Fields::new().with("files", index.files).with("entries", index.entries));
        if let Some(checkpoint) = self.checkpoint_fields()? {
            fields.push("checkpoint", checkpoint);
        }
        let steps = plan.steps.into_iter().map(FieldValue::Text).collect::<Vec<_>>();
        Ok(fields.with("start", steps))
    }

    fn size_fields(&self) -> Fields {
        Fields::new()
            .with("mappedFileSizeCommitLog", self.config.commit_log.mapped_file_size_commit_log)
            .with("mappedFileSizeConsumeQueue", self.config.consume_queue.mapped_file_size_consume_queue)
            .with(
                "mapperFileSizeBatchConsumeQueue",
                self.config.consume_queue.mapper_file_size_batch_consume_queue,
            )
            .with("maxHashSlotNum", self.config.index.max_hash_slot_num)
            .with("maxIndexNum", self.config.index.max_index_num)
            .with("indexSizes", self.sizes.name())
    }

    fn checkpoint_fields(&self) -> Result<Option<Fields>, InspectError> {
        let path = self.paths.checkpoint();
        if self.env.disk().stat(&path)?.is_none() {
            return Ok(None);
        }
        let place = Place::open(self.env.disk(), &path)?;
        let registry = self.registry();
        match registry.inspector_of(&place).summarise(&place) {
            Ok(fields) => Ok(Some(fields)),
            Err(error) if read_checkpoint(&place).is_err() => {
                Ok(Some(Fields::new().with("unreadable", error.to_string())))
            }
            Err(error) => Err(error),
        }
    }

    pub(super) fn queue_totals(&self) -> Result<QueueTotals, InspectError> {
        let mut totals = QueueTotals::default();
        let mut topics = BTreeSet::new();
        for queue in self.queues()? {
            let mut reader = QueueReader::open(&self.env, &queue.path)?;
            let end = reader.end()?;
            totals.queues += 1;
            totals.units += end;
            let last = end.checked_sub(1).map(|last| reader.place(last)).transpose()?;
            if let Some(store_logic::inspectors::QueuePlace::Unit(unit)) = last {
                totals.known_end = totals.known_end.max(unit.end_offset());
            }
            topics.insert(queue.topic);
        }
        for queue in self.batch_queues()? {
            let mut reader = BatchQueueReader::open(&self.env, &queue.path)?;
            totals.queues += 1;
            totals.units += reader.end()?;
            if let Some(last) = reader.last_unit()? {
                totals.known_end = totals.known_end.max(last.end_offset());
            }
            topics.insert(queue.topic);
        }
        totals.topics = topics.len() as u64;
        Ok(totals)
    }

    pub(super) fn index_totals(&self) -> Result<IndexTotals, InspectError> {
        let mut totals = IndexTotals::default();
        for path in self.index_files()? {
            let reader = self.open_index(&path)?;
            let count = reader.index_count()?;
            totals.files += 1;
            totals.entries += u64::from(count - 1);
            if count > 1 {
                totals.end = Some(reader.header()?.end_phy_offset);
            }
        }
        Ok(totals)
    }
}

fn log_fields(log: &LogReader, first: Option<i64>, end: u64, last: i64) -> Fields {
    let mut fields = Fields::new()
        .with("directory", log.files().directory().display().to_string())
        .with("files", log.files().files().len() as u64)
        .with("bytes", log.files().total_len())
        .with("minOffset", log.min_offset())
        .with("maxOffset", end);
    if let Some(first) = first {
        fields.push("firstStoreTime", FieldValue::Millis(first));
    }
    if last > 0 {
        fields.push("lastStoreTime", FieldValue::Millis(last));
    }
    fields
}
