//! Bringing log, queues and index into agreement after a start.
//!
//! The log decides. Queues and index are checked on their own, then the log is walked from a file from which on they
//! may be incomplete, each record is dispatched again (which changes nothing where it is known), and what the log no
//! longer backs is cut. Where Apache trusts the newest unit of any queue for all of them, a gap seen here moves the
//! walk to an earlier file: a queue that was emptied or lost is whole again afterwards.

use super::Shared;
use super::dispatch::unit_of;
use crate::error::StoreError;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use store_logic::LogicError;
use store_logic::commit_log::format::MessageView;
use store_logic::commit_log::{LogEnd, ScanStart};
use store_logic::consume_queue::PutUnit;
use store_logic::dispatch::DispatchRequest;

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
    /// Durable bytes of the last clean stop that are gone.
    pub lost_bytes: u64,
    /// Milliseconds it took.
    pub took_millis: u64,
}

/// One walk over the log.
struct Walk {
    end: LogEnd,
    units_rebuilt: u64,
    /// Queue offsets were missing before the walk's first record.
    gap: bool,
}

pub(super) fn recover(
    shared: &Shared,
    clean: bool,
    clean_log_end: Option<u64>,
) -> Result<RecoveryReport, StoreError> {
    let began = shared.env.clock().monotonic();
    let starts = shared.log.scan_starts();
    shared.check_log_present(&starts)?;
    let claimed_end = shared.log.max_offset();
    for handle in shared.queues.all() {
        handle.queue.recover(claimed_end)?;
    }
    let index_from = shared.recover_index(clean, claimed_end)?;
    let mut from = shared.choose_start(&starts, clean, index_from)?;
    let mut step = 1;
    let walk = loop {
        let start = starts.get(from).map_or(0, |start| start.offset);
        let walk = shared.walk(start, from == 0)?;
        if !walk.gap {
            break walk;
        }
        // Twice as far back each time, so that the walks add up to a small multiple of the log.
        from = from.saturating_sub(step);
        step *= 2;
    };
    shared.settle(&walk.end)?;
    let log_min = shared.log.min_offset();
    Ok(RecoveryReport {
        clean,
        log_min,
        log_end: walk.end.offset,
        scanned_from: starts.get(from).map_or(0, |start| start.offset),
        records: walk.end.records,
        units_rebuilt: walk.units_rebuilt,
        cut: walk.end.fault.as_ref().map(ToString::to_string),
        lost_bytes: clean_log_end.map_or(0, |durable| durable.saturating_sub(walk.end.offset)),
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

    /// Position from which records may be missing in the index; `None` when there is no index to fill.
    fn recover_index(&self, clean: bool, claimed_end: u64) -> Result<Option<u64>, StoreError> {
        let Some(index) = &self.index else { return Ok(None) };
        let known = if clean {
            index.end_phy_offset()?
        } else {
            index.recover(claimed_end, self.checkpoint.fields()?.index_msg_timestamp)?
        };
        Ok(Some(known.unwrap_or(0)))
    }

    /// Number of the file from which on queues or index may be incomplete.
    fn choose_start(
        &self,
        starts: &[ScanStart],
        clean: bool,
        index_from: Option<u64>,
    ) -> Result<usize, StoreError> {
        let units_end = self
            .queues
            .all()
            .iter()
            .filter_map(|handle| handle.queue.last_unit())
            .map(|unit| unit.end_offset())
            .max();
        let known = units_end.unwrap_or(0).min(index_from.unwrap_or(u64::MAX));
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

    /// Walks the log from `start` and dispatches every record; stops at the first gap of a queue unless this is the
    /// beginning of the log, where what is missing is gone for good.
    fn walk(&self, start: u64, from_beginning: bool) -> Result<Walk, StoreError> {
        let mut units_rebuilt = 0;
        let mut gap = false;
        let mut failed: Option<LogicError> = None;
        let check_crc = self.config.commit_log.check_crc_on_recover;
        let end = self.log.scan(start, check_crc, |phy_offset, view| {
            match self.redispatch(phy_offset, view, from_beginning) {
                Ok(PutUnit::Appended) => units_rebuilt += 1,
                Ok(PutUnit::Gap { .. }) => gap = true,
                Ok(_) => {}
                Err(error) => failed = Some(error),
            }
            if gap || failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(Walk { end, units_rebuilt, gap }),
        }
    }

    fn redispatch(
        &self,
        phy_offset: u64,
        view: &MessageView<'_>,
        from_beginning: bool,
    ) -> Result<PutUnit, LogicError> {
        let request = DispatchRequest::new(phy_offset, view, &self.config.delay_levels);
        let mut put = PutUnit::Present;
        if request.is_visible() {
            let queue = &self.queues.get_or_create(request.topic, request.queue_id)?.queue;
            let queue_offset = request.consume_queue_offset;
            let begins_late = queue.files().file_count() == 0 && queue_offset > 0 && !from_beginning;
            put = if begins_late {
                PutUnit::Gap { next: 0 }
            } else {
                queue.put(queue_offset, unit_of(&request))?
            };
            if matches!(put, PutUnit::Gap { .. }) {
                if !from_beginning {
                    return Ok(put);
                }
                tracing::warn!(
                    topic = request.topic,
                    queue_id = request.queue_id,
                    queue_offset,
                    ?put,
                    "messages lost"
                );
                queue.pad_to(queue_offset)?;
                put = queue.put(queue_offset, unit_of(&request))?;
            }
        }
        self.put_index(&request)?;
        Ok(put)
    }

    /// Cuts everything behind the last good record and sets all positions.
    fn settle(&self, end: &LogEnd) -> Result<(), StoreError> {
        self.log.truncate(end.offset)?;
        if let Some(index) = &self.index {
            index.truncate(end.offset)?;
        }
        let log_min = self.log.min_offset();
        for handle in self.queues.all() {
            handle.queue.truncate(end.offset)?;
            handle.queue.correct_min_offset(log_min);
            handle.set_next_offset(handle.queue.max_offset());
        }
        self.log.lock_tail(|| self.env.now_millis()).0.raise_store_timestamp(end.last_store_timestamp);
        self.dispatched.store(end.offset, Ordering::Release);
        self.dispatched_timestamp.store(end.last_store_timestamp, Ordering::Release);
        self.dispatched_record.store(end.last_record.unwrap_or(0), Ordering::Release);
        Ok(())
    }
}
