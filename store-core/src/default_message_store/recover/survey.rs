//! Looking at a store that was loaded, without changing anything: where the walk over the log has to begin, and where
//! the good records end.

use super::known_records::KnownRecords;
use super::queue_ends::QueueEnds;
use super::{Known, choose_start};
use crate::default_message_store::Shared;
use crate::error::StoreError;
use crate::service::beside;
use crate::sync::{AtomicBool, Ordering};
use std::ops::ControlFlow;
use store_logic::commit_log::format::Checksum;
use store_logic::commit_log::{LogEnd, ScanStart};
use store_logic::dispatch::DispatchRequest;

/// Bytes of the log from which on the checksums are compared on a thread of its own.
const BESIDE_FROM: u64 = if cfg!(test) { 256 << 10 } else { 16 << 20 };

/// What was found.
#[derive(Debug, Clone)]
pub(crate) struct Survey {
    /// Number of the file the walk has to begin with: from there on no queue lacks a unit.
    pub(super) from: usize,
    /// Where the good records end.
    pub(super) end: LogEnd,
    /// Newest store time of the records before; 0 without one.
    pub(super) newest: i64,
    /// Where the walk may begin.
    pub(super) known: KnownRecords,
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
            let last = end.and_then(|end| handle.queue.unit_at(end - 1));
            known_end = last.map_or(known_end, |last| known_end.max(last.unit.end_offset()));
            units += end.unwrap_or(0);
        }
        let indexed = self.indexed_before_recovery(clean)?;
        let known = Known { units, end: known_end, indexed };
        let mut from = choose_start(self, starts, clean, known)?.min(at_most);
        let mut step = 1;
        loop {
            let start = starts.get(from).map_or(0, |start| start.offset);
            ends.clear();
            for handle in &queues {
                let end = handle.queue.end_in(claimed_end);
                ends.add(handle, end.map(|end| self.end_of_own(&handle.queue, end, start)));
            }
            if let Some(survey) = self.survey_from(starts, from, start, &mut ends)? {
                return Ok(survey);
            }
            // As far back as the walk would go.
            from = from.saturating_sub(step);
            step *= 2;
        }
    }

    /// `None` when units are missing before the file.
    fn survey_from(
        &self,
        starts: &[ScanStart],
        from: usize,
        start: u64,
        ends: &mut QueueEnds,
    ) -> Result<Option<Survey>, StoreError> {
        let before = starts.iter().take(from).filter_map(|start| start.store_timestamp);
        let before = before.max().unwrap_or(0);
        let span = self.log.max_offset().saturating_sub(start);
        if span >= BESIDE_FROM {
            let seen =
                self.checked_beside(start, || self.look_from(start, from, before, Checksum::Skip, ends))?;
            if let Some(seen) = seen {
                return Ok(seen);
            }
            ends.rewind();
        }
        Ok(self.look_from(start, from, before, self.config.commit_log.checksum_on_recover(), ends))
    }

    /// Lets `look` go over the log while another thread compares the checksums. `None` when what it saw goes further than
    /// they are right: it has to look again then, and compare them itself.
    fn checked_beside(
        &self,
        start: u64,
        look: impl FnOnce() -> Option<Survey>,
    ) -> Result<Option<Option<Survey>>, StoreError> {
        let checksum = self.config.commit_log.checksum_on_recover();
        if checksum == Checksum::Skip {
            return Ok(Some(look()));
        }
        let given_up = AtomicBool::new(false);
        let check = || {
            self.log.scan(start, checksum, |_, _| {
                if given_up.load(Ordering::Relaxed) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })
        };
        let look = || {
            let seen = look();
            given_up.store(seen.is_none(), Ordering::Relaxed);
            seen
        };
        let (checked, seen) = beside("CheckLog", check, look).map_err(StoreError::Thread)?;
        Ok(match seen {
            Some(seen) if seen.end != checked => None,
            seen => Some(seen),
        })
    }

    fn look_from(
        &self,
        start: u64,
        from: usize,
        mut newest: i64,
        checksum: Checksum,
        ends: &mut QueueEnds,
    ) -> Option<Survey> {
        let mut gap = false;
        let mut known = KnownRecords::default();
        let end = self.log.scan(start, checksum, |phy_offset, view| {
            let request = DispatchRequest::new(phy_offset, view, &self.config.delay_levels);
            known.note(phy_offset);
            newest = newest.max(view.store_timestamp);
            if !self.config.multi_dispatch.is_on() && ends.hold(&request, &self.own_place(&request)) {
                return ControlFlow::Continue(());
            }
            for place in self.places(&request) {
                if !ends.hold(&request, &place) {
                    known.end_at(phy_offset);
                    gap = gap || ends.take(self, &request, &place, from == 0);
                }
            }
            if gap { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        (!gap).then_some(Survey { from, end, newest, known })
    }
}

#[cfg(test)]
mod tests;
