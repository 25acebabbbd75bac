//! Walking the log once more and dispatching every record again.

use super::progress::Progress;
use crate::default_message_store::Shared;
use crate::default_message_store::dispatch::unit_at;
use crate::error::StoreError;
use std::ops::ControlFlow;
use store_logic::commit_log::format::{Checksum, MessageView};
use store_logic::commit_log::{LogEnd, ScanStart};
use store_logic::consume_queue::PutUnit;
use store_logic::dispatch::{DispatchRequest, UnitPlace};
use store_logic::{LogicError, Queue};

/// One walk over the log.
pub(super) struct Walk {
    pub(super) end: LogEnd,
    pub(super) units_rebuilt: u64,
    /// Queue offsets were missing before the record it ended at.
    gap: bool,
}

impl Shared {
    /// Walks from file number `from`, and from an earlier one as long as units turn out to be missing before; returns
    /// the last walk and where it began. The first one leaves out what stands before `begin`, of which nothing is missing.
    /// Does not walk before file number `examined`, but returns where it should.
    pub(super) fn walk_until_whole(
        &self,
        starts: &[ScanStart],
        mut from: usize,
        examined: usize,
        mut begin: Option<u64>,
    ) -> Result<(Walk, usize), StoreError> {
        let mut step = 1;
        let mut units_rebuilt = 0;
        loop {
            let start = starts.get(from).map_or(0, |start| start.offset);
            self.cut_foreign_units(start)?;
            let begin_at = begin.take().map_or(start, |begin| begin.max(start));
            let walk = self.walk(begin_at, Progress::new(self, starts, from)?, from == 0)?;
            units_rebuilt += walk.units_rebuilt;
            if !walk.gap {
                return Ok((Walk { units_rebuilt, ..walk }, from));
            }
            // Twice as far back each time, so that the walks add up to a small multiple of the log.
            from = from.saturating_sub(step);
            if from < examined {
                return Ok((walk, from));
            }
            step *= 2;
        }
    }

    /// Walks the log from `start` and dispatches every record; stops at the first gap of a queue unless this is the
    /// beginning of the log, where what is missing is gone for good.
    fn walk(&self, start: u64, mut progress: Progress<'_>, from_beginning: bool) -> Result<Walk, StoreError> {
        let mut units_rebuilt = 0;
        let mut gap = false;
        let mut failed: Option<LogicError> = None;
        // The CRCs were compared when the log was examined.
        let end = self.log.scan(start, Checksum::Skip, |phy_offset, view| {
            let reached = progress.reach(phy_offset);
            match reached.and_then(|()| self.redispatch(phy_offset, view, from_beginning)) {
                Ok(Redispatched::Done { put }) => {
                    units_rebuilt += put;
                    progress.passed(phy_offset, view.store_timestamp);
                }
                Ok(Redispatched::Gap) => gap = true,
                Err(error) => failed = Some(error),
            }
            if gap || failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(Walk { end, units_rebuilt, gap }),
        }
    }

    /// Dispatches a record to its queues and the index; stops at the first gap.
    fn redispatch(
        &self,
        phy_offset: u64,
        view: &MessageView<'_>,
        from_beginning: bool,
    ) -> Result<Redispatched, LogicError> {
        let request = DispatchRequest::new(phy_offset, view, &self.config.delay_levels);
        let mut put = 0;
        for place in self.places(&request) {
            match self.put_again(&request, &place, from_beginning)? {
                PutUnit::Appended => put += 1,
                PutUnit::Gap { .. } => return Ok(Redispatched::Gap),
                _ => {}
            }
        }
        self.index_record(&request);
        Ok(Redispatched::Done { put })
    }

    /// Puts a record's unit again; a gap is one that an earlier file of the log may fill.
    fn put_again(
        &self,
        request: &DispatchRequest<'_>,
        place: &UnitPlace<'_>,
        from_beginning: bool,
    ) -> Result<PutUnit, LogicError> {
        let handle = self.queues.get_or_create(place.topic, place.queue_id)?;
        let queue = &handle.queue;
        let put = self.compare_or_put(queue, request, place, from_beginning)?;
        let PutUnit::Gap { next } = put else { return Ok(put) };
        // A queue without files may begin anywhere, but only the beginning of the log tells where.
        let may_begin_here = queue.is_empty() && !from_beginning;
        if !may_begin_here && !self.is_possible_gap(request, place, next) {
            return Ok(PutUnit::Present);
        }
        if from_beginning { pad_and_put(queue, request, place, next) } else { Ok(put) }
    }

    fn compare_or_put(
        &self,
        queue: &Queue,
        request: &DispatchRequest<'_>,
        place: &UnitPlace<'_>,
        from_beginning: bool,
    ) -> Result<PutUnit, LogicError> {
        let queue_offset = place.queue_offset;
        let (unit, stored) = (unit_at(request, place), request.store_timestamp);
        if queue.is_empty() && queue_offset > 0 && !from_beginning {
            return Ok(PutUnit::Gap { next: 0 });
        }
        match queue.put(&unit, stored)? {
            // Its unit is there, but not where it says: the queue offset in the record is damaged.
            PutUnit::Taken(_) | PutUnit::Gap { .. } if queue.holds(request.phy_offset) => {
                tracing::error!(
                    topic = place.topic,
                    queue_id = place.queue_id,
                    queue_offset,
                    phy_offset = request.phy_offset,
                    "a record's queue offset is not the place of its unit; the unit stays where it is"
                );
                Ok(PutUnit::Present)
            }
            // Only the first message of a queue made anew says so beyond doubt.
            PutUnit::Taken(_) if queue_offset == 0 => {
                tracing::info!(topic = place.topic, queue_id = place.queue_id, "the queue was made anew");
                queue.restart_at(0)?;
                queue.put(&unit, stored)
            }
            // A unit may lie in two sectors, of which one reached the disk. The walk puts all behind it again.
            PutUnit::Torn(present) => {
                let (topic, queue_id) = (place.topic, place.queue_id);
                tracing::warn!(topic, queue_id, queue_offset, ?present, ?unit, "a unit was torn");
                queue.restart_at(queue_offset)?;
                queue.put(&unit, stored)
            }
            put => Ok(put),
        }
    }
}

/// What became of a record that was dispatched again.
enum Redispatched {
    /// It is everywhere.
    Done {
        /// Units that were missing.
        put: u64,
    },
    /// Units before it are missing.
    Gap,
}

/// Nothing before the beginning of the log can be found any more: the places before a record stay empty.
fn pad_and_put(
    queue: &Queue,
    request: &DispatchRequest<'_>,
    place: &UnitPlace<'_>,
    next: u64,
) -> Result<PutUnit, LogicError> {
    tracing::warn!(
        topic = place.topic,
        queue_id = place.queue_id,
        next,
        queue_offset = place.queue_offset,
        "messages of a queue are lost"
    );
    queue.put_behind_gap(&unit_at(request, place), request.store_timestamp)
}
