//! Looking at a store that was loaded, without changing anything: where the walk over the log has to begin, and where
//! the good records end.

use super::{Known, choose_start};
use crate::default_message_store::Shared;
use crate::error::StoreError;
use std::collections::HashMap;
use std::ops::ControlFlow;
use store_logic::commit_log::{LogEnd, ScanStart};
use store_logic::consume_queue::ConsumeQueue;
use store_logic::dispatch::{DispatchRequest, UnitPlace};

/// What was found.
#[derive(Debug, Clone)]
pub(crate) struct Survey {
    /// Number of the file the walk has to begin with: from there on no queue lacks a unit.
    pub(super) from: usize,
    /// Where the good records end.
    pub(super) end: LogEnd,
    /// Newest store time of the records before; 0 without one.
    pub(super) newest: i64,
}

impl Shared {
    /// Reads the log from the last file from which on queues and index may be incomplete, or an earlier one when
    /// `at_most` says so, and from an earlier one as long as units turn out to be missing before.
    pub(super) fn survey(
        &self,
        starts: &[ScanStart],
        clean: bool,
        at_most: usize,
    ) -> Result<Survey, StoreError> {
        let claimed_end = self.log.max_offset();
        let queues = self.queues.all();
        let mut ends = QueueEnds::default();
        let (mut units, mut known_end) = (0, 0);
        for handle in &queues {
            let end = handle.queue.end_in(claimed_end);
            let last = end.and_then(|end| handle.queue.unit(end - 1));
            known_end = last.map_or(known_end, |last| known_end.max(last.end_offset()));
            units += end.unwrap_or(0);
        }
        let indexed = self.indexed_before_recovery(clean)?;
        let known = Known { units, end: known_end, indexed };
        let mut from = choose_start(self, starts, clean, known)?.min(at_most);
        let mut step = 1;
        loop {
            let start = starts.get(from).map_or(0, |start| start.offset);
            ends.0.clear();
            for handle in &queues {
                let end = handle.queue.end_in(claimed_end);
                ends.add(&handle.queue, end.map(|end| self.end_of_own(&handle.queue, end, start)));
            }
            let (survey, gap) = self.survey_from(starts, from, start, &mut ends);
            if !gap {
                return Ok(survey);
            }
            // As far back as the walk would go.
            from = from.saturating_sub(step);
            step *= 2;
        }
    }

    /// True when a unit of the record stands in its queue, wherever.
    fn holds_unit(&self, request: &DispatchRequest<'_>, place: &UnitPlace<'_>) -> bool {
        let handle = self.queues.get(place.topic, place.queue_id);
        handle.is_some_and(|handle| handle.queue.holds(request.phy_offset))
    }

    fn survey_from(
        &self,
        starts: &[ScanStart],
        from: usize,
        start: u64,
        ends: &mut QueueEnds,
    ) -> (Survey, bool) {
        let before = starts.iter().take(from).filter_map(|start| start.store_timestamp);
        let mut newest = before.max().unwrap_or(0);
        let mut gap = false;
        let end = self.log.scan(start, self.config.commit_log.checksum_on_recover(), |phy_offset, view| {
            let request = DispatchRequest::new(phy_offset, view, &self.config.delay_levels);
            gap = self.places(&request).any(|place| ends.take(self, &request, &place, from == 0));
            newest = newest.max(view.store_timestamp);
            if gap { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        (Survey { from, end, newest }, gap)
    }
}

/// Ends of all queues, moved on as the walk would put units.
#[derive(Debug, Default)]
struct QueueEnds(HashMap<String, HashMap<i32, QueueEnd>>);

#[derive(Debug, Clone, Copy)]
struct QueueEnd {
    next: u64,
    last_phy: Option<u64>,
}

impl QueueEnds {
    fn add(&mut self, queue: &ConsumeQueue, end: Option<u64>) {
        let Some(next) = end.filter(|end| *end > 0) else { return };
        let last = queue.unit(next - 1).filter(|unit| !unit.is_blank());
        let end = QueueEnd { next, last_phy: last.map(|unit| unit.phy_offset) };
        self.0.entry(queue.topic().to_owned()).or_default().insert(queue.queue_id(), end);
    }

    /// Takes in a record; true when units before its own are missing.
    fn take(
        &mut self,
        shared: &Shared,
        request: &DispatchRequest<'_>,
        place: &UnitPlace<'_>,
        from_beginning: bool,
    ) -> bool {
        let queue_offset = place.queue_offset;
        let known = self.0.get_mut(place.topic).and_then(|queues| queues.get_mut(&place.queue_id));
        let next = QueueEnd { next: queue_offset.saturating_add(1), last_phy: Some(request.phy_offset) };
        match known {
            None if queue_offset > 0 && !from_beginning => return true,
            None => {
                self.0.entry(place.topic.to_owned()).or_default().insert(place.queue_id, next);
            }
            Some(end) if queue_offset < end.next => {}
            Some(end) if end.last_phy.is_some_and(|last| last > request.phy_offset) => {}
            Some(end) if queue_offset > end.next && !shared.is_possible_gap(request, place, end.next) => {}
            Some(end) if queue_offset > end.next && shared.holds_unit(request, place) => {}
            Some(end) if queue_offset > end.next && !from_beginning => return true,
            Some(end) => *end = next,
        }
        false
    }
}
