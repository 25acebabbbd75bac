//! The parts of a store against each other.
//!
//! The log is read once, in order and with every CRC; index entries lie in the same order and are read in step, queue
//! units are looked up through a small window per queue. Then each queue is walked once: where it holds more units than
//! records of the log have claimed, the others are named. Memory: one window of the log, some 4 KiB per queue, 4 bytes
//! per slot of one index file.

mod against_batch_queues;
mod against_index;
mod against_queues;
mod checkpoint;
mod log_ahead;
mod queue_state;
mod unit_walk;

use super::StoreInspection;
use crate::service::beside;
use against_index::IndexCheck;
use against_queues::QueueCheck;
use log_ahead::Item;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::PathBuf;
use store_logic::inspect::{Fields, Finding, InspectError, Severity};
use store_logic::inspectors::{Damage, LogSummary, damage_finding};
use store_logic::{DiskError, java_json};

/// What was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VerifySummary {
    /// First position of the log.
    pub log_min: u64,
    /// Position behind the last good record.
    pub log_end: u64,
    /// Records read.
    pub records: u64,
    /// Queues looked at.
    pub queues: u64,
    /// Units of messages in them.
    pub units: u64,
    /// Entries of the index.
    pub index_entries: u64,
    /// Findings that are errors.
    pub errors: u64,
    /// Findings that are notes.
    pub notes: u64,
}

impl VerifySummary {
    /// As fields.
    pub fn fields(&self) -> Fields {
        Fields::new()
            .with("logMin", self.log_min)
            .with("logEnd", self.log_end)
            .with("records", self.records)
            .with("queues", self.queues)
            .with("units", self.units)
            .with("indexEntries", self.index_entries)
            .with("errors", self.errors)
            .with("notes", self.notes)
    }
}

/// Stretches of the log that hold no good record: where they begin → where they end.
#[derive(Default)]
struct Lost(BTreeMap<u64, u64>);

impl Lost {
    fn push(&mut self, from: u64, to: u64) {
        self.0.insert(from, to);
    }

    fn contains(&self, phy_offset: u64) -> bool {
        self.0.range(..=phy_offset).next_back().is_some_and(|stretch| phy_offset < *stretch.1)
    }
}

/// What every part of the check has to know.
struct Context<'a> {
    store: &'a StoreInspection,
    /// The end of queues and index may lag behind the log: the store runs or has crashed.
    may_lag: bool,
    /// A broker runs on the store and writes while it is looked at.
    in_use: bool,
    /// Topics of `topics.json`; `None` when there is no such file.
    topics: Option<BTreeSet<String>>,
    /// Grows while the log is read.
    lost: RefCell<Lost>,
    /// Damage of the log was filled once: places of its messages are empty.
    has_fillers: Cell<bool>,
}

impl Context<'_> {
    /// True when no good record stands there and that was told of.
    fn is_lost(&self, phy_offset: u64) -> bool {
        self.lost.borrow().contains(phy_offset)
    }

    /// How bad it is that the last messages are missing from what is derived from the log.
    fn lag_severity(&self) -> Severity {
        if self.may_lag { Severity::Note } else { Severity::Error }
    }
}

impl StoreInspection {
    /// Checks the whole store and tells what is not as it should be: an error where something is lost, wrong or in the
    /// wrong place; a note where a start puts it right without loss, or where this release does not look.
    ///
    /// `progress` is told how many bytes of the log are done, out of [`StoreInspection::log_bytes`].
    ///
    /// # Errors
    ///
    /// A part cannot be read; what it holds is never an error but a finding.
    pub fn verify(
        &self,
        progress: &mut dyn FnMut(u64),
        found: &mut dyn FnMut(Finding),
    ) -> Result<VerifySummary, InspectError> {
        let mut summary = VerifySummary::default();
        let (mut errors, mut notes) = (0, 0);
        let mut count = |finding: Finding| {
            match finding.severity {
                Severity::Error => errors += 1,
                Severity::Note => notes += 1,
            }
            found(finding);
        };
        let in_use = self.in_use()?.is_some();
        let context = Context {
            store: self,
            may_lag: self.has_abort()? || in_use,
            in_use,
            topics: self.topic_names()?,
            lost: RefCell::default(),
            has_fillers: Cell::new(false),
        };
        self.verify_single_files(&mut count)?;
        let mut queues = QueueCheck::new(&context, &mut count)?;
        let mut index = IndexCheck::new(&context)?;
        let (index_files, log) = beside(
            "VerifyIndex",
            || self.verify_index_files(),
            || self.verify_log(&context, &mut queues, &mut index, progress, &mut count),
        )
        .map_err(|error| DiskError::new("start a thread to read", &self.paths.index(), error))?;
        index_files?.into_iter().for_each(&mut count);
        let log = log?;
        summary.log_min = self.log()?.min_offset();
        (summary.log_end, summary.records) = (log.end, log.records);
        summary.index_entries = index.finish(log.end, &mut count)?;
        (summary.queues, summary.units) = queues.finish(summary.log_min, log.end, &mut count)?;
        checkpoint::verify(&context, &log, &mut count)?;
        (summary.errors, summary.notes) = (errors, notes);
        Ok(summary)
    }

    /// Bytes of the log from its beginning to about the last one in use: what a bar of progress ends at.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn log_bytes(&self) -> Result<u64, InspectError> {
        let log = self.log()?;
        for file in log.files().files().iter().rev() {
            let open = self.env.disk().open(&file.path, store_logic::OpenMode::Read)?;
            let used = store_logic::inspect::probable_end(&*open, file.len)?;
            if used > 0 {
                return Ok(file.offset + used - log.min_offset());
            }
        }
        Ok(0)
    }

    /// Findings about the index files, each by itself.
    fn verify_index_files(&self) -> Result<Vec<Finding>, InspectError> {
        let mut findings = Vec::new();
        if self.env.disk().stat(&self.paths.index())?.is_some() {
            let _ = self.registry().walk(self.env.disk(), &self.paths.index(), &mut |place, inspector| {
                inspector.verify(place, &mut |finding| findings.push(finding))?;
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(findings)
    }

    /// Everything but the files of log, queues and index, which are checked together.
    fn verify_single_files(&self, found: &mut dyn FnMut(Finding)) -> Result<(), InspectError> {
        let registry = self.registry();
        self.log()?.files().verify(found);
        for part in self.env.disk().read_dir(self.paths.root())? {
            let looked_at = match part.name.as_str() {
                "commitlog" | "consumequeue" | "batchconsumequeue" | "index" => continue,
                "config" => true,
                _ => part.kind == store_logic::FileKind::File,
            };
            let path = self.paths.root().join(&part.name);
            if !looked_at {
                let known = ["consumequeue_ext", "timerlog", "compaction"];
                if known.contains(&part.name.as_str()) {
                    found(Finding::note("not-checked", &path, "a part this release checks", part.name));
                }
                continue;
            }
            let _ = registry.walk(self.env.disk(), &path, &mut |place, inspector| {
                inspector.verify(place, found)?;
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(())
    }

    fn verify_log(
        &self,
        context: &Context<'_>,
        queues: &mut QueueCheck<'_>,
        index: &mut IndexCheck<'_>,
        progress: &mut dyn FnMut(u64),
        found: &mut dyn FnMut(Finding),
    ) -> Result<LogSummary, InspectError> {
        let log = self.log()?;
        let files: Vec<(u64, PathBuf)> =
            log.files().files().iter().map(|file| (file.offset, file.path.clone())).collect();
        let start = log.min_offset();
        let lost = &context.lost;
        for pair in log.files().files().windows(2).filter(|pair| pair[0].end() < pair[1].offset) {
            // Told of as a missing file.
            lost.borrow_mut().push(pair[0].end(), pair[1].offset);
        }
        log_ahead::walk(log, &mut |phy_offset, item| {
            progress(phy_offset - start);
            match item {
                Item::Record(request, queue_offset) => {
                    queues.check(request, queue_offset, found)?;
                    index.check(request, found)?;
                }
                Item::Filler(size) => {
                    tell_filler(context, &files, phy_offset, size, found);
                    // Entries of its messages may be left in the index.
                    lost.borrow_mut().push(phy_offset, phy_offset + u64::from(size));
                }
                Item::Damage(damage) => {
                    tell_damage(context, &files, phy_offset, damage, found);
                    lost.borrow_mut().push(phy_offset, damage.resumes_at.unwrap_or(u64::MAX));
                }
                Item::Blank => {}
            }
            Ok(())
        })
    }

    /// Names of `config/topics.json`; `None` when it is not there or cannot be read (which is a finding of its own).
    fn topic_names(&self) -> Result<Option<BTreeSet<String>>, InspectError> {
        let path = self.paths.config().join("topics.json");
        let Some(bytes) = store_logic::atomic_file::read(self.env.disk(), &path)? else { return Ok(None) };
        let Ok(value) = java_json::parse(&bytes) else { return Ok(None) };
        let table = value.get("topicConfigTable").and_then(|table| table.as_object());
        Ok(table.map(|table| table.keys().cloned().collect()))
    }
}

fn tell_filler(
    context: &Context<'_>,
    files: &[(u64, PathBuf)],
    phy_offset: u64,
    size: u32,
    found: &mut dyn FnMut(Finding),
) {
    context.has_fillers.set(true);
    let Some((from, path)) = files.iter().rev().find(|file| file.0 <= phy_offset) else { return };
    let is = format!("a filler of {size} bytes in the place of damage");
    let subject = Fields::new().with("offset", phy_offset).with("bytes", u64::from(size));
    found(Finding::note("filled-damage", path, "messages", is).at(phy_offset - from).about(subject));
}

fn tell_damage(
    context: &Context<'_>,
    files: &[(u64, PathBuf)],
    phy_offset: u64,
    damage: &Damage,
    found: &mut dyn FnMut(Finding),
) {
    let file = files.iter().rev().find(|file| file.0 <= phy_offset);
    let Some((from, path)) = file else { return };
    let finding = damage_finding(path, *from, phy_offset, damage);
    // A broker may be in the middle of a record.
    let is_growing = context.in_use && damage.resumes_at.is_none();
    found(if is_growing { Finding { severity: Severity::Note, ..finding } } else { finding });
}
