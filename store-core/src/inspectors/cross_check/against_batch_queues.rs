//! Every record of a topic with batch queues has its unit, and every unit has its record. Both come in the order of the
//! log, so that they are read in step.

use super::Context;
use super::unit_walk::subject;
use std::collections::HashMap;
use std::path::PathBuf;
use store_logic::batch_consume_queue::BatchUnit;
use store_logic::batch_consume_queue::format::NOT_COMPACTED;
use store_logic::dispatch::DispatchRequest;
use store_logic::inspect::{Fields, Finding, InspectError, Inspector, Place, Severity};
use store_logic::inspectors::{BatchConsumeQueueInspector, BatchPlace, BatchQueueReader};

/// Batch queues while the log is read.
pub(super) struct BatchQueueCheck<'a> {
    context: &'a Context<'a>,
    /// Topic → queue.
    queues: HashMap<String, HashMap<i32, QueueState>>,
}

struct QueueState {
    directory: PathBuf,
    reader: BatchQueueReader,
    /// Number of the next unit that no record has claimed.
    next: u64,
    end: u64,
    /// Records without a unit that came last: the first one's position, and how many.
    missing: Option<(u64, u64)>,
    /// Records whose places were given to later ones.
    replaced: u64,
}

impl<'a> BatchQueueCheck<'a> {
    /// Lists the queues and checks their files as such.
    pub(super) fn new(
        context: &'a Context<'a>,
        found: &mut dyn FnMut(Finding),
    ) -> Result<Self, InspectError> {
        let mut check = Self { context, queues: HashMap::new() };
        let inspector = BatchConsumeQueueInspector::new(context.store.env());
        for queue in context.store.batch_queues()? {
            let state = check.open(queue.path)?;
            state.reader.files().verify(found);
            for file in state.reader.files().files() {
                let place = Place::open(context.store.env().disk(), &file.path)?;
                inspector.verify(&place, found)?;
            }
            check.queues.entry(queue.topic).or_default().insert(queue.queue_id, state);
        }
        Ok(check)
    }

    fn open(&self, directory: PathBuf) -> Result<QueueState, InspectError> {
        let reader = BatchQueueReader::open(self.context.store.env(), &directory)?;
        let (next, end) = (reader.first(), reader.end()?);
        Ok(QueueState { directory, reader, next, end, missing: None, replaced: 0 })
    }

    /// Looks the record's unit up. The record is visible, and its topic was not deleted since.
    pub(super) fn check(
        &mut self,
        request: &DispatchRequest<'_>,
        found: &mut dyn FnMut(Finding),
    ) -> Result<(), InspectError> {
        let is_there = |queues: &HashMap<i32, QueueState>| queues.contains_key(&request.queue_id);
        if !self.queues.get(request.topic).is_some_and(is_there) {
            let root = self.context.store.paths().batch_consume_queue();
            let state = self.open(root.join(request.topic).join(request.queue_id.to_string()))?;
            self.queues.entry(request.topic.to_owned()).or_default().insert(request.queue_id, state);
        }
        let state = self.queues.get_mut(request.topic).and_then(|queues| queues.get_mut(&request.queue_id));
        match state {
            Some(state) => state.check(self.context, request, found),
            None => Ok(()),
        }
    }

    /// Tells what the log has left over. Returns how many queues there are and their units.
    pub(super) fn finish(
        self,
        log_end: u64,
        found: &mut dyn FnMut(Finding),
    ) -> Result<(u64, u64), InspectError> {
        let (mut count, mut units) = (0, 0);
        let mut queues: Vec<_> = self
            .queues
            .into_iter()
            .flat_map(|(topic, queues)| {
                queues.into_iter().map(move |(queue_id, state)| (topic.clone(), queue_id, state))
            })
            .collect();
        queues.sort_by(|left, right| (&left.0, left.1).cmp(&(&right.0, right.1)));
        for (topic, queue_id, mut state) in queues {
            count += u64::from(!state.reader.files().files().is_empty());
            units += state.end - state.reader.first();
            state.finish(self.context, &topic, queue_id, log_end, found)?;
        }
        Ok((count, units))
    }
}

impl QueueState {
    fn unit(&mut self) -> Result<Option<BatchUnit>, InspectError> {
        while self.next < self.end {
            if let BatchPlace::Unit(unit) = self.reader.place(self.next)? {
                return Ok(Some(unit));
            }
            // Told of by the inspector of the file.
            self.next += 1;
        }
        Ok(None)
    }

    fn check(
        &mut self,
        context: &Context<'_>,
        request: &DispatchRequest<'_>,
        found: &mut dyn FnMut(Finding),
    ) -> Result<(), InspectError> {
        while let Some(unit) = self.unit()? {
            if unit.phy_offset > request.phy_offset {
                break;
            }
            if unit.phy_offset == request.phy_offset {
                self.tell_missing(request.topic, request.queue_id, Severity::Error, found);
                self.compare(&unit, request, found);
                self.next += 1;
                return Ok(());
            }
            self.tell_foreign(context, &unit, request.topic, request.queue_id, found)?;
            self.next += 1;
        }
        // A topic that was deleted and made anew begins at 0 again.
        let later = self.unit()?;
        if later.is_some_and(|later| later.base_offset <= request.consume_queue_offset) {
            self.replaced += 1;
            return Ok(());
        }
        let run = self.missing.get_or_insert((request.phy_offset, 0));
        run.1 += 1;
        Ok(())
    }

    fn compare(&self, unit: &BatchUnit, request: &DispatchRequest<'_>, found: &mut dyn FnMut(Finding)) {
        let expected = BatchUnit {
            phy_offset: request.phy_offset,
            size: request.msg_size,
            tags_code: request.tags_code,
            store_timestamp: request.store_timestamp,
            base_offset: request.consume_queue_offset,
            batch_size: request.batch_size,
            compacted_offset: NOT_COMPACTED,
        };
        if (BatchUnit { compacted_offset: NOT_COMPACTED, ..*unit }) != expected {
            let (file, at) = self.reader.location(self.next);
            let subject = subject(request.topic, request.queue_id, request.consume_queue_offset);
            let finding =
                Finding::error("unit-mismatch", &file, format!("{expected:?}"), format!("{unit:?}"));
            found(finding.at(at).about(subject.with("offset", request.phy_offset)));
        }
    }

    /// A unit whose record is not where it says, unless the log has left it behind.
    fn tell_foreign(
        &self,
        context: &Context<'_>,
        unit: &BatchUnit,
        topic: &str,
        queue_id: i32,
        found: &mut dyn FnMut(Finding),
    ) -> Result<(), InspectError> {
        if unit.phy_offset < context.store.log()?.min_offset() {
            return Ok(());
        }
        let (kind, is) = if context.is_lost(unit.phy_offset) {
            ("lost-message", "no good record in the log")
        } else {
            ("foreign-unit", "none of this queue")
        };
        let (file, at) = self.reader.location(self.next);
        let expected = format!("a record of this queue at {}", unit.phy_offset);
        let subject = subject(topic, queue_id, unit.base_offset).with("offset", unit.phy_offset);
        found(Finding::error(kind, &file, expected, is).at(at).about(subject));
        Ok(())
    }

    fn tell_missing(
        &mut self,
        topic: &str,
        queue_id: i32,
        severity: Severity,
        found: &mut dyn FnMut(Finding),
    ) {
        let Some((phy_offset, count)) = self.missing.take() else { return };
        let (file, at) = self.reader.location(self.next);
        let expected = format!("{count} units, the first of the record at {phy_offset}");
        let is = match severity {
            Severity::Note => "none; a start puts them",
            Severity::Error => "none",
        };
        let subject = Fields::new().with("topic", topic).with("queueId", queue_id).with("offset", phy_offset);
        let finding = Finding { severity, ..Finding::error("missing-unit", &file, expected, is) };
        found(finding.at(at).about(subject.with("units", count)));
    }

    fn finish(
        &mut self,
        context: &Context<'_>,
        topic: &str,
        queue_id: i32,
        log_end: u64,
        found: &mut dyn FnMut(Finding),
    ) -> Result<(), InspectError> {
        self.tell_missing(topic, queue_id, context.lag_severity(), found);
        if self.replaced > 0 {
            let expected = format!("units of {} earlier records, too", self.replaced);
            let is = "later records in their places: the topic was deleted and made anew";
            let subject = Fields::new().with("topic", topic).with("queueId", queue_id);
            found(Finding::note("replaced-records", &self.directory, expected, is).about(subject));
        }
        // Units put while the log was read belong to records that were not.
        while let Some(unit) = self.unit()?.filter(|_| !context.in_use) {
            if unit.phy_offset >= log_end {
                let (file, at) = self.reader.location(self.next);
                let expected = format!("records before the end of the log at {log_end}");
                let count = self.end - self.next;
                let is =
                    format!("{count} units, the first of a record at {}; a start cuts them", unit.phy_offset);
                let subject = subject(topic, queue_id, unit.base_offset).with("units", count);
                found(Finding::error("unit-beyond-log", &file, expected, is).at(at).about(subject));
                break;
            }
            self.tell_foreign(context, &unit, topic, queue_id, found)?;
            self.next += 1;
        }
        Ok(())
    }
}
