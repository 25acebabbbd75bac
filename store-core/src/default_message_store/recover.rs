//! Bringing log, queues and index into agreement after a start.
//!
//! The log decides. Queues and index are checked on their own, then the log is walked from a file from which on they
//! may be incomplete, each record is dispatched again (which changes nothing where it is known), and what the log no
//! longer backs is cut. Where Apache trusts the newest unit of any queue for all of them, a gap seen here moves the
//! walk to an earlier file: a queue that was emptied or lost is whole again afterwards.

mod foreign_units;
mod settle;
mod walk;

use super::Shared;
use crate::error::StoreError;
use crate::store_notes::{CleanStop, IndexExtent};
use store_logic::commit_log::{LogEnd, ScanStart};

/// Records stored this long (milliseconds) before the checkpoint's times count as dispatched and durable.
const CHECKPOINT_MARGIN: i64 = 3000;

/// How a store came up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecoveryReport {
    /// The last stop was clean (or there was none).
    pub clean: bool,
    /// First position of the log.
    pub log_min: u64,
    /// Position behind the last good record.
    pub log_end: u64,
    /// Where the walk began.
    pub scanned_from: u64,
    /// Records checked.
    pub records: u64,
    /// Queue units that were missing and put.
    pub units_rebuilt: u64,
    /// What stood behind the last good record, when that was not simply the end.
    pub cut: Option<String>,
    /// Good records that stood behind it and are dropped, as far as they could be counted.
    pub dropped_records: u64,
    /// Durable bytes of the last clean stop that are gone.
    pub lost_bytes: u64,
    /// Milliseconds it took.
    pub took_millis: u64,
}

/// Brings the parts of a freshly loaded store into agreement.
pub(super) fn recover(shared: &Shared, clean: bool) -> Result<RecoveryReport, StoreError> {
    let began = shared.env.clock().monotonic();
    let stop = shared.notes.clean_stop();
    let starts = shared.log.scan_starts();
    shared.check_log_present(&starts)?;
    let claimed_end = shared.log.max_offset();
    for handle in shared.queues.all() {
        handle.queue.recover(claimed_end)?;
    }
    shared.drop_queues_of_deleted_topics()?;
    let first = shared.choose_start(&starts, clean, stop)?;
    let (walk, from) = shared.walk_until_whole(&starts, first)?;
    let scanned_from = starts.get(from).map_or(0, |start| start.offset);
    let (cut, dropped_records) = shared.describe_cut(&walk.end, &starts);
    shared.settle(&walk.end, scanned_from, clean)?;
    Ok(RecoveryReport {
        clean,
        log_min: shared.log.min_offset(),
        log_end: walk.end.offset,
        scanned_from,
        records: walk.end.records,
        units_rebuilt: walk.units_rebuilt,
        cut,
        dropped_records,
        lost_bytes: stop.map_or(0, |stop| stop.log_end.saturating_sub(walk.end.offset)),
        took_millis: u64::try_from(shared.env.clock().monotonic().saturating_sub(began).as_millis())
            .unwrap_or(0),
    })
}

impl Shared {
    /// Queues without any log cannot be served, and new messages must not take their places.
    fn check_log_present(&self, starts: &[ScanStart]) -> Result<(), StoreError> {
        if !starts.is_empty() {
            return Ok(());
        }
        let mut queues = 0;
        for handle in self.queues.all() {
            handle.queue.recover(u64::MAX)?;
            queues += usize::from(handle.queue.max_offset() > 0);
        }
        if queues == 0 {
            return Ok(());
        }
        Err(StoreError::LogMissing { log: self.paths.commit_log().display().to_string(), queues })
    }

    /// A crash may have come between the note of a deletion and the deletion.
    fn drop_queues_of_deleted_topics(&self) -> Result<(), StoreError> {
        for (topic, log_end) in self.notes.deleted_topics() {
            let handles: Vec<_> = self.queues.queue_ids(&topic);
            let is_former = |queue_id: &i32| {
                let handle = self.queues.get(&topic, *queue_id);
                let last = handle.and_then(|handle| handle.queue.last_unit());
                last.is_none_or(|last| last.phy_offset < log_end)
            };
            if !handles.is_empty() && handles.iter().all(is_former) {
                self.queues.delete_topic(&topic)?;
            }
        }
        Ok(())
    }

    /// Units of all queues, counted from queue offset 0: it falls when queue files get lost.
    pub(super) fn count_units(&self) -> u64 {
        self.queues.all().iter().map(|handle| handle.queue.max_offset()).sum()
    }

    /// Number of the file from which on queues or index may be incomplete.
    fn choose_start(
        &self,
        starts: &[ScanStart],
        clean: bool,
        stop: Option<CleanStop>,
    ) -> Result<usize, StoreError> {
        let index_from = self.recover_index(clean, stop)?;
        if stop.is_some_and(|stop| self.count_units() < stop.units) {
            tracing::warn!("queues have lost messages since the last clean stop; reading the whole log");
            return Ok(0);
        }
        let ends = self.queues.all();
        let ends = ends.iter().filter_map(|handle| handle.queue.last_unit()).map(|unit| unit.end_offset());
        let known = ends.max().unwrap_or(0).min(index_from.unwrap_or(u64::MAX));
        let by_offset = starts.iter().rposition(|start| start.offset <= known).unwrap_or(0);
        if clean {
            return Ok(by_offset);
        }
        let checkpoint = self.checkpoint.fields()?;
        let durable =
            checkpoint.physic_msg_timestamp.min(checkpoint.logics_msg_timestamp) - CHECKPOINT_MARGIN;
        let in_time = |start: &ScanStart| start.store_timestamp.is_some_and(|at| at > 0 && at <= durable);
        let by_time = starts.iter().rposition(in_time).unwrap_or(0);
        Ok(by_offset.min(by_time))
    }

    /// Position from which records may be missing in the index; `None` when there is no index to fill.
    fn recover_index(&self, clean: bool, stop: Option<CleanStop>) -> Result<Option<u64>, StoreError> {
        let Some(index) = &self.index else { return Ok(None) };
        let found = self.index_extent()?;
        let noted = stop.and_then(|stop| stop.index);
        if !clean || noted.is_some_and(|_| found < noted) {
            let safe = self.checkpoint.fields()?.index_msg_timestamp;
            return Ok(Some(index.recover(self.log.max_offset(), safe)?.unwrap_or(0)));
        }
        // At the last clean stop everything was indexed, also what has no key and so leaves no entry.
        let known = stop.filter(|_| found == noted).map_or(0, |stop| stop.log_end);
        Ok(Some(known.max(found.and_then(|found| found.end).unwrap_or(0))))
    }

    /// How much the index holds; `None` when there is none.
    pub(super) fn index_extent(&self) -> Result<Option<IndexExtent>, StoreError> {
        let Some(index) = &self.index else { return Ok(None) };
        Ok(Some(IndexExtent { end: index.end_phy_offset()?, entries: index.entries()? }))
    }

    /// What stands behind the good records in words, and how many good ones stand behind that.
    fn describe_cut(&self, end: &LogEnd, starts: &[ScanStart]) -> (Option<String>, u64) {
        let more = starts.iter().any(|start| start.offset > end.offset && start.store_timestamp.is_some());
        match &end.fault {
            Some(fault) => (Some(fault.to_string()), self.log.count_behind(end)),
            None if more => (Some("nothing written here".to_owned()), self.log.count_behind(end)),
            None => (None, 0),
        }
    }
}
