//! Bringing log, queues and index into agreement after a start.
//!
//! The log decides. Queues and index are checked on their own, then the log is walked from a file from which on they
//! may be incomplete, each record is dispatched again (which changes nothing where it is known), and what the log no
//! longer backs is cut. Where Apache trusts the newest unit of any queue for all of them, a gap seen here moves the
//! walk to an earlier file: a queue that was emptied or lost is whole again afterwards.

mod examined;
mod foreign_units;
mod known_records;
mod progress;
mod queue_ends;
mod settle;
mod survey;
mod walk;

pub(super) use examined::{Examination, Examined, examine};

use super::Shared;
use crate::error::StoreError;
use crate::repair::Skipped;
use crate::set_aside::SetAside;
use crate::store_notes::IndexExtent;
use store_logic::LogicError;
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
    /// Good records that stood behind it and are dropped.
    pub dropped_records: u64,
    /// What was cut from the log, and what of it was saved.
    pub set_aside: SetAside,
    /// Damaged stretches that were passed over, as `damagedCommitLogPolicy=skip` says.
    pub skipped: Vec<Skipped>,
    /// Durable bytes of the last clean stop that are gone.
    pub lost_bytes: u64,
    /// Milliseconds it took.
    pub took_millis: u64,
}

/// What became of a recovery.
pub(super) enum Recovery {
    /// The store is whole.
    Done(RecoveryReport),
    /// Units are missing that only the file of this number, or an earlier one, has: it has to be examined first.
    LookFrom(usize),
}

/// Brings the parts of a freshly loaded store into agreement: cuts the log where it was found to end, then walks it.
pub(super) fn recover(shared: &Shared, clean: bool, examined: &mut Examined) -> Result<Recovery, StoreError> {
    let starts = shared.log.scan_starts();
    let stop = examined.stop();
    examined.cut_log(shared)?;
    let log_end = shared.log.max_offset();
    for handle in shared.queues.all() {
        handle.queue.recover(log_end)?;
    }
    shared.drop_queues_of_deleted_topics()?;
    let known = shared.known_after_recovery(clean)?;
    let first = choose_start(shared, &starts, clean, known)?;
    let surveyed = examined.first_file();
    if first < surveyed {
        return Ok(Recovery::LookFrom(first));
    }
    let begin = examined.walk_from(known.indexed);
    let (walk, from) = match shared.walk_until_whole(&starts, first, surveyed, begin)? {
        (walk, from) if from >= surveyed => (walk, from),
        (_, from) => return Ok(Recovery::LookFrom(from)),
    };
    if walk.end.offset != log_end {
        return Err(LogicError::Damaged {
            path: shared.paths.commit_log().to_owned(),
            offset: walk.end.offset,
            expected: format!("records up to {log_end}, as a moment ago"),
            found: walk.end.fault.map_or("their end".to_owned(), |fault| fault.to_string()),
        }
        .into());
    }
    let scanned_from = starts.get(from).map_or(0, |start| start.offset);
    // The walk leaves out what need not be visited.
    let end = LogEnd { offset: walk.end.offset, ..examined.end().clone() };
    shared.settle(&end, scanned_from, clean)?;
    let took = shared.env.clock().monotonic().saturating_sub(examined.began());
    Ok(Recovery::Done(RecoveryReport {
        clean,
        log_min: shared.log.min_offset(),
        log_end,
        scanned_from,
        records: end.records,
        units_rebuilt: walk.units_rebuilt,
        cut: examined.cut(),
        dropped_records: examined.dropped_records(),
        set_aside: examined.set_aside().clone(),
        skipped: Vec::new(),
        lost_bytes: stop.map_or(0, |stop| stop.log_end.saturating_sub(log_end)),
        took_millis: u64::try_from(took.as_millis()).unwrap_or(0),
    }))
}

/// What queues and index say of how far they are complete.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// Units of all queues.
    units: u64,
    /// Position behind the newest record that has a unit.
    end: u64,
    /// Position from which records may be missing in the index; `None` without an index.
    indexed: Option<u64>,
}

/// Number of the file from which on queues or index may be incomplete.
fn choose_start(
    shared: &Shared,
    starts: &[ScanStart],
    clean: bool,
    known: Known,
) -> Result<usize, StoreError> {
    if shared.notes.clean_stop().is_some_and(|stop| known.units < stop.units) {
        tracing::warn!("queues have lost messages since the last clean stop; reading the whole log");
        return Ok(0);
    }
    let known = known.end.min(known.indexed.unwrap_or(u64::MAX));
    let by_offset = starts.iter().rposition(|start| start.offset <= known).unwrap_or(0);
    if clean {
        return Ok(by_offset);
    }
    let checkpoint = shared.checkpoint.fields()?;
    let durable = checkpoint.physic_msg_timestamp.min(checkpoint.logics_msg_timestamp);
    let durable = durable.saturating_sub(CHECKPOINT_MARGIN);
    let in_time = |start: &ScanStart| start.store_timestamp.is_some_and(|at| at > 0 && at <= durable);
    let by_time = starts.iter().rposition(in_time).unwrap_or(0);
    Ok(by_offset.min(by_time))
}

impl Shared {
    /// Queues without any log cannot be served, and new messages must not take their places.
    fn check_log_present(&self, starts: &[ScanStart]) -> Result<(), StoreError> {
        if !starts.is_empty() {
            return Ok(());
        }
        let mut queues = 0;
        for handle in self.queues.all() {
            queues += usize::from(handle.queue.end_in(u64::MAX).is_some());
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
                last.is_none_or(|last| last.unit.phy_offset < log_end)
            };
            if !handles.is_empty() && handles.iter().all(is_former) {
                self.queues.delete_topic(&topic)?;
            }
        }
        Ok(())
    }

    /// Units of all queues, counted from byte 0 of each: it falls when queue files get lost.
    pub(super) fn count_units(&self) -> u64 {
        self.queues.all().iter().map(|handle| handle.queue.unit_count()).sum()
    }

    /// What queues and index say once they were recovered.
    fn known_after_recovery(&self, clean: bool) -> Result<Known, StoreError> {
        let indexed = self.recover_index(clean)?;
        let ends = self.queues.all();
        let ends =
            ends.iter().filter_map(|handle| handle.queue.last_unit()).map(|last| last.unit.end_offset());
        Ok(Known { units: self.count_units(), end: ends.max().unwrap_or(0), indexed })
    }

    /// Recovers the index; returns the position from which records may be missing in it, `None` without an index.
    fn recover_index(&self, clean: bool) -> Result<Option<u64>, StoreError> {
        let Some(index) = &self.index else { return Ok(None) };
        match self.indexed_at_clean_stop(clean)? {
            Some(known) => Ok(Some(known)),
            None => {
                let safe = self.checkpoint.fields()?.index_msg_timestamp;
                Ok(Some(index.recover(self.log.max_offset(), safe)?.unwrap_or(0)))
            }
        }
    }

    /// The same, as far as can be told without changing it.
    fn indexed_before_recovery(&self, clean: bool) -> Result<Option<u64>, StoreError> {
        if self.index.is_none() {
            return Ok(None);
        }
        if let Some(known) = self.indexed_at_clean_stop(clean)? {
            return Ok(Some(known));
        }
        Ok(Some(self.index_extent()?.and_then(|found| found.end).unwrap_or(0)))
    }

    /// Position up to which the index is complete, if the last stop was clean and nothing got lost since.
    fn indexed_at_clean_stop(&self, clean: bool) -> Result<Option<u64>, StoreError> {
        let found = self.index_extent()?;
        let stop = self.notes.clean_stop();
        let noted = stop.and_then(|stop| stop.index);
        if !clean || noted.is_some_and(|_| found < noted) {
            return Ok(None);
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
}
