//! One queue during the check: which of its records have their unit, and what its places hold.

use super::Context;
use super::unit_walk::{Queue, UnitWalk, subject};
use crate::config::DelayLevels;
use crate::inspectors::StoreInspection;
use std::ops::ControlFlow;
use std::path::PathBuf;
use store_logic::commit_log::format::{self, Decoded};
use store_logic::consume_queue::Unit;
use store_logic::consume_queue::format::UNIT_SIZE;
use store_logic::dispatch::{DispatchRequest, SCHEDULE_TOPIC, UnitPlace};
use store_logic::inspect::{Fields, Finding, InspectError, Severity};
use store_logic::inspectors::{LogReader, QueuePlace, QueueReader};

/// Most runs of bad places remembered per queue; behind them places may be named twice.
const MOST_RUNS: usize = 10_000;

/// What is known of one queue so far.
pub(super) struct QueueState {
    directory: PathBuf,
    pub(super) reader: Option<QueueReader>,
    /// Place behind the last one that holds something, when the check began.
    end: u64,
    /// Records of the log whose unit was right.
    confirmed: u64,
    /// Records whose place holds the unit of another.
    mismatches: u64,
    /// Records whose place was given to a later record of the same place.
    pub(super) replaced: u64,
    /// Missing places that follow one another, not told yet.
    missing: Option<Missing>,
    /// Places that were told of: from, to (not included).
    told: Vec<(u64, u64)>,
    /// Why no unit is expected; the records are counted.
    pub(super) excused: Option<&'static str>,
    excused_records: u64,
}

struct Missing {
    from: u64,
    to: u64,
    phy_offset: u64,
    found: &'static str,
}

fn unit_of(request: &DispatchRequest<'_>) -> Unit {
    Unit { phy_offset: request.phy_offset, size: request.msg_size, tags_code: request.tags_code }
}

fn describe(unit: &Unit) -> String {
    format!("a unit of {} bytes at {} with tag code {}", unit.size, unit.phy_offset, unit.tags_code)
}

impl QueueState {
    pub(super) fn open(store: &StoreInspection, directory: PathBuf) -> Result<Self, InspectError> {
        let reader = QueueReader::open(&store.env, &directory)?;
        let reader = Some(reader).filter(|reader| !reader.files().files().is_empty());
        let end = reader.as_ref().map_or(Ok(0), QueueReader::end)?;
        Ok(Self {
            directory,
            reader,
            end,
            confirmed: 0,
            mismatches: 0,
            replaced: 0,
            missing: None,
            told: Vec::new(),
            excused: None,
            excused_records: 0,
        })
    }

    fn location(&self, queue_offset: u64) -> (PathBuf, u64) {
        match &self.reader {
            Some(reader) => reader.location(queue_offset),
            None => (self.directory.clone(), queue_offset.saturating_mul(UNIT_SIZE)),
        }
    }

    /// Looks at the record's place. Returns the unit of another record, if that is what stands there.
    pub(super) fn check(
        &mut self,
        request: &DispatchRequest<'_>,
        topic: &str,
        queue_id: i32,
        queue_offset: u64,
        found: &mut dyn FnMut(Finding),
    ) -> Result<Option<Unit>, InspectError> {
        if self.excused.is_some() {
            self.excused_records += 1;
            return Ok(None);
        }
        let place = match &mut self.reader {
            Some(reader) => reader.place(queue_offset)?,
            None => QueuePlace::Outside,
        };
        let missing = match place {
            QueuePlace::Unit(unit) if unit.phy_offset != request.phy_offset => return Ok(Some(unit)),
            QueuePlace::Unit(unit) => {
                self.compare(&unit, request, topic, queue_id, queue_offset, found);
                return Ok(None);
            }
            QueuePlace::Outside if self.reader.is_none() => "no queue file",
            QueuePlace::Outside => "no queue file that holds this place",
            QueuePlace::Empty => "zeros",
            QueuePlace::Blank => "a blank unit",
            QueuePlace::Broken(_) => "bytes that are no unit",
        };
        match &mut self.missing {
            Some(run) if run.to == queue_offset && run.found == missing => run.to += 1,
            _ => {
                let queue = Queue { topic, queue_id, log_min: 0, log_end: 0 };
                self.tell_missing(&queue, Severity::Error, found);
                let to = queue_offset.saturating_add(1);
                self.missing =
                    Some(Missing { from: queue_offset, to, phy_offset: request.phy_offset, found: missing });
            }
        }
        Ok(None)
    }

    fn compare(
        &mut self,
        unit: &Unit,
        request: &DispatchRequest<'_>,
        topic: &str,
        queue_id: i32,
        queue_offset: u64,
        found: &mut dyn FnMut(Finding),
    ) {
        let kind = if unit.size == request.msg_size {
            self.confirmed += 1;
            // A delayed message's unit holds the deliver time, which depends on the broker's settings.
            let is_deliver_time = topic == SCHEDULE_TOPIC && unit.tags_code >= request.store_timestamp;
            if unit.tags_code == request.tags_code || is_deliver_time || unit.has_ext_address() {
                return;
            }
            "unit-tags-code"
        } else {
            self.mismatches += 1;
            self.remember(queue_offset, queue_offset + 1);
            "unit-size"
        };
        let (file, at) = self.location(queue_offset);
        let subject = subject(topic, queue_id, queue_offset).with("offset", request.phy_offset);
        let expected = describe(&unit_of(request));
        found(Finding::error(kind, &file, expected, describe(unit)).at(at).about(subject));
    }

    pub(super) fn tell_foreign(
        &mut self,
        unit: &Unit,
        request: &DispatchRequest<'_>,
        queue: &Queue<'_>,
        queue_offset: u64,
        found: &mut dyn FnMut(Finding),
    ) {
        self.mismatches += 1;
        self.remember(queue_offset, queue_offset + 1);
        let (file, at) = self.location(queue_offset);
        let subject = queue.subject(queue_offset).with("offset", request.phy_offset);
        let expected = describe(&unit_of(request));
        found(Finding::error("foreign-unit", &file, expected, describe(unit)).at(at).about(subject));
    }

    /// Records whose places were given to later ones.
    pub(super) fn tell_replaced(&self, queue: &Queue<'_>, found: &mut dyn FnMut(Finding)) {
        if self.replaced == 0 {
            return;
        }
        let expected = format!("units of {} earlier records, too", self.replaced);
        let is = "later records in their places: the topic was deleted and made anew";
        let subject = Fields::new().with("topic", queue.topic).with("queueId", queue.queue_id);
        found(Finding::note("replaced-records", &self.directory, expected, is).about(subject));
    }

    fn remember(&mut self, from: u64, to: u64) {
        if self.told.len() < MOST_RUNS {
            self.told.push((from, to));
        }
    }

    /// Only after the runs were sorted.
    fn is_told(&self, queue_offset: u64) -> bool {
        let behind = self.told.partition_point(|run| run.0 <= queue_offset);
        behind.checked_sub(1).is_some_and(|before| queue_offset < self.told[before].1)
    }

    /// Tells of the run of missing units. One that reaches to the end of the queue has `at_end` severity.
    pub(super) fn tell_missing(
        &mut self,
        queue: &Queue<'_>,
        at_end: Severity,
        found: &mut dyn FnMut(Finding),
    ) {
        let Some(run) = self.missing.take() else { return };
        let severity = if run.from >= self.end { at_end } else { Severity::Error };
        let (file, at) = self.location(run.from);
        let count = run.to - run.from;
        let expected = match count {
            1 => format!("the unit of the record at {}", run.phy_offset),
            _ => format!("{count} units, the first of the record at {}", run.phy_offset),
        };
        let is = match severity {
            Severity::Note => format!("{}; a start puts them", run.found),
            Severity::Error => run.found.to_owned(),
        };
        let subject = queue.subject(run.from).with("offset", run.phy_offset).with("units", count);
        let finding = Finding { severity, ..Finding::error("missing-unit", &file, expected, is) };
        found(finding.at(at).about(subject));
        self.remember(run.from, run.to);
    }

    pub(super) fn tell_excused(&self, queue: &Queue<'_>, found: &mut dyn FnMut(Finding)) {
        let Some(reason) = self.excused else { return };
        let expected = format!("units of {} records", self.excused_records);
        let subject = Fields::new().with("topic", queue.topic).with("queueId", queue.queue_id);
        found(Finding::note("no-queue", &self.directory, expected, reason).about(subject));
    }

    /// Walks the queue; names what no record has claimed. Returns the number of units.
    pub(super) fn walk(
        &mut self,
        context: &Context<'_>,
        queue: &Queue<'_>,
        log: &mut LogReader,
        found: &mut dyn FnMut(Finding),
    ) -> Result<u64, InspectError> {
        let Some(mut reader) = self.reader.take() else { return Ok(0) };
        self.told.sort_unstable();
        let files = reader.files().files().to_vec();
        let mut walk = UnitWalk::new(queue, &self.directory, &files, context.has_fillers.get());
        let (first, end) = (reader.first(), self.end);
        reader.walk(first, end, &mut |queue_offset, place| {
            walk.place(queue_offset, place, self.is_told(queue_offset), found);
            ControlFlow::Continue(())
        })?;
        let walk = walk.counts;
        // Units put while the log was read belong to records that were not.
        if context.in_use {
            return Ok(walk.units);
        }
        // A record that claims another's place leaves its own unclaimed.
        if walk.in_log != self.confirmed || self.mismatches > 0 || self.replaced > 0 {
            self.name_unclaimed(context, &mut reader, queue, log, found)?;
        }
        if let Some((from, to, phy_offset)) = walk.beyond {
            let (file, at) = reader.location(from);
            let expected = format!("records before the end of the log at {}", queue.log_end);
            let is = format!("{} units, the first of a record at {phy_offset}; a start cuts them", to - from);
            let subject = queue.subject(from).with("units", to - from);
            found(Finding::error("unit-beyond-log", &file, expected, is).at(at).about(subject));
        }
        Ok(walk.units)
    }

    /// Reads the record of every unit, to name those that are of none or of another queue, and the messages that the
    /// log has lost.
    fn name_unclaimed(
        &mut self,
        context: &Context<'_>,
        reader: &mut QueueReader,
        queue: &Queue<'_>,
        log: &mut LogReader,
        found: &mut dyn FnMut(Finding),
    ) -> Result<(), InspectError> {
        let mut failed = None;
        let mut wrong = Vec::new();
        let mut lost: Vec<(u64, u64, Unit)> = Vec::new();
        reader.walk(reader.first(), self.end, &mut |queue_offset, place| {
            let QueuePlace::Unit(unit) = place else { return ControlFlow::Continue(()) };
            if self.is_told(queue_offset) || !(queue.log_min..queue.log_end).contains(&unit.phy_offset) {
                return ControlFlow::Continue(());
            }
            if context.is_lost(unit.phy_offset) {
                match lost.last_mut() {
                    Some(run) if run.1 == queue_offset => run.1 += 1,
                    _ => lost.push((queue_offset, queue_offset + 1, unit)),
                }
            } else {
                match record_of(log, &unit, queue, queue_offset) {
                    Ok(None) => {}
                    Ok(Some(is)) => wrong.push((queue_offset, unit, is)),
                    Err(error) => failed = Some(error),
                }
            }
            let enough = wrong.len() >= MOST_RUNS || lost.len() >= MOST_RUNS;
            if failed.is_some() || enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        for (queue_offset, unit, is) in wrong {
            let (file, at) = reader.location(queue_offset);
            let expected = format!("a record of this place at {}", unit.phy_offset);
            let subject = queue.subject(queue_offset).with("offset", unit.phy_offset);
            found(Finding::error("foreign-unit", &file, expected, is).at(at).about(subject));
        }
        for (from, to, unit) in lost {
            let (file, at) = reader.location(from);
            let expected = match to - from {
                1 => format!("the record of a message at {}", unit.phy_offset),
                count => format!("the records of {count} messages, the first at {}", unit.phy_offset),
            };
            let subject = queue.subject(from).with("offset", unit.phy_offset).with("units", to - from);
            let finding = Finding::error("lost-message", &file, expected, "no good record in the log");
            found(finding.at(at).about(subject));
        }
        failed.map_or(Ok(()), Err)
    }
}

/// What stands in the log where a unit points, when it is not a record of the unit's place.
pub(super) fn record_of(
    log: &mut LogReader,
    unit: &Unit,
    queue: &Queue<'_>,
    queue_offset: u64,
) -> Result<Option<String>, InspectError> {
    let Some(record) = log.record_at(unit.phy_offset)? else { return Ok(Some("no record".to_owned())) };
    let Ok(Decoded::Record(view)) = format::decode(&record, false) else {
        return Ok(Some("no record".to_owned()));
    };
    let place = UnitPlace { topic: queue.topic, queue_id: queue.queue_id, queue_offset, count: 1 };
    let request = DispatchRequest::new(unit.phy_offset, &view, &DelayLevels::default());
    // However many messages the record holds, an ordinary queue has one place for it.
    let own = UnitPlace { count: 1, ..request.own_place() };
    let is_own = own == place || request.light_places().any(|light| light == place);
    if is_own && view.total_size == unit.size {
        return Ok(None);
    }
    Ok(Some(format!(
        "a record of {} bytes of topic {}, queue {}, queue offset {}",
        view.total_size, view.topic, view.queue_id, view.queue_offset
    )))
}
