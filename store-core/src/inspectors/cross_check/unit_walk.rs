//! One walk over a queue: holes, disorder, units beyond the log.

use std::path::{Path, PathBuf};
use store_logic::consume_queue::Unit;
use store_logic::consume_queue::format::UNIT_SIZE;
use store_logic::inspect::{Fields, Finding, SequenceFile};
use store_logic::inspectors::QueuePlace;

/// What a queue is called, and what the log holds.
pub(super) struct Queue<'a> {
    pub(super) topic: &'a str,
    pub(super) queue_id: i32,
    pub(super) log_min: u64,
    pub(super) log_end: u64,
}

impl Queue<'_> {
    pub(super) fn subject(&self, queue_offset: u64) -> Fields {
        subject(self.topic, self.queue_id, queue_offset)
    }
}

/// A place of a queue as fields.
pub(super) fn subject(topic: &str, queue_id: i32, queue_offset: u64) -> Fields {
    Fields::new().with("topic", topic).with("queueId", queue_id).with("queueOffset", queue_offset)
}

/// What a walk counts.
#[derive(Debug, Default)]
pub(super) struct UnitCounts {
    /// Units of messages.
    pub(super) units: u64,
    /// Those of records in the log, the ones told of before left out.
    pub(super) in_log: u64,
    /// Units of records beyond the end of the log: from, to (not included), position of the first one's record.
    pub(super) beyond: Option<(u64, u64, u64)>,
}

/// A walk over a queue, place by place.
pub(super) struct UnitWalk<'a> {
    queue: &'a Queue<'a>,
    directory: &'a Path,
    files: &'a [SequenceFile],
    /// Blank units stand for messages that were lost with damage of the log.
    has_fillers: bool,
    last: Option<u64>,
    pub(super) counts: UnitCounts,
}

impl<'a> UnitWalk<'a> {
    pub(super) fn new(
        queue: &'a Queue<'a>,
        directory: &'a Path,
        files: &'a [SequenceFile],
        has_fillers: bool,
    ) -> Self {
        Self { queue, directory, files, has_fillers, last: None, counts: UnitCounts::default() }
    }

    /// Takes in the next place. One that was told of before is passed over.
    pub(super) fn place(
        &mut self,
        queue_offset: u64,
        place: QueuePlace,
        told: bool,
        found: &mut dyn FnMut(Finding),
    ) {
        let is = match place {
            QueuePlace::Unit(unit) => return self.unit(queue_offset, &unit, told, found),
            QueuePlace::Blank => "a blank unit",
            QueuePlace::Empty => "zeros",
            QueuePlace::Outside => "no file",
            QueuePlace::Broken(_) => "bytes that are no unit",
        };
        // Before the first message of the log nobody asks for a place.
        if told || self.last.is_none_or(|last| last < self.queue.log_min) {
            return;
        }
        let (file, at) = self.locate(queue_offset);
        let finding = if self.has_fillers && matches!(place, QueuePlace::Blank) {
            Finding::note("empty-place", &file, "a unit", "a blank unit: the message was lost with damage")
                .at(at)
        } else {
            Finding::error("hole-in-queue", &file, "a unit", is).at(at)
        };
        found(finding.about(self.queue.subject(queue_offset)));
    }

    fn unit(&mut self, queue_offset: u64, unit: &Unit, told: bool, found: &mut dyn FnMut(Finding)) {
        self.counts.units += 1;
        if told {
            return;
        }
        if unit.phy_offset >= self.queue.log_end {
            let run = self.counts.beyond.get_or_insert((queue_offset, queue_offset, unit.phy_offset));
            run.1 = queue_offset + 1;
            return;
        }
        if let Some(last) = self.last.filter(|last| unit.phy_offset <= *last) {
            let (file, at) = self.locate(queue_offset);
            let expected = format!("a record behind {last}");
            let finding =
                Finding::error("unit-order", &file, expected, format!("one at {}", unit.phy_offset));
            found(finding.at(at).about(self.queue.subject(queue_offset)));
        }
        self.last = Some(unit.phy_offset);
        self.counts.in_log += u64::from(unit.phy_offset >= self.queue.log_min);
    }

    fn locate(&self, queue_offset: u64) -> (PathBuf, u64) {
        let at = queue_offset.saturating_mul(UNIT_SIZE);
        match self.files.iter().find(|file| (file.offset..file.end()).contains(&at)) {
            Some(file) => (file.path.clone(), at - file.offset),
            None => (self.directory.to_owned(), at),
        }
    }
}
