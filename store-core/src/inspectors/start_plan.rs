//! What a start would do to the store: the decisions of recovery, taken without doing anything.

use super::StoreInspection;
use super::info::{IndexTotals, QueueTotals};
use crate::config::MessageStoreConfig;
use crate::log_damage::{Ending, KnownDurable, LogEndPlace, examine};
use std::ops::ControlFlow;
use store_logic::commit_log::format::Checksum;
use store_logic::inspect::{FileSequence, InspectError, Place};
use store_logic::inspectors::{LogItem, LogReader, read_checkpoint};

/// Records stored this long (milliseconds) before the checkpoint's times count as dispatched and durable.
const CHECKPOINT_MARGIN: i64 = 3000;

/// What a start would find and do.
#[derive(Debug, Default)]
pub(super) struct StartPlan {
    /// Sentences, in the order of the steps.
    pub(super) steps: Vec<String>,
    /// Position behind the last good record before the first fault.
    pub(super) log_end: u64,
    /// Store time of the first record.
    pub(super) first_store_timestamp: Option<i64>,
    /// Store time of the last good record that was read.
    pub(super) last_store_timestamp: i64,
}

impl StoreInspection {
    pub(super) fn start_plan(
        &self,
        log: &mut LogReader,
        queues: QueueTotals,
        index: IndexTotals,
    ) -> Result<StartPlan, InspectError> {
        let mut plan = StartPlan::default();
        self.plan_refusals(log, queues, &mut plan)?;
        self.plan_sizes(&mut plan)?;
        let start = self.choose_start(log, queues, index)?;
        plan.first_store_timestamp = log.first_store_timestamp(log.min_offset())?;
        self.plan_walk(log, start, queues, &mut plan)?;
        Ok(plan)
    }

    fn plan_refusals(
        &self,
        log: &LogReader,
        queues: QueueTotals,
        plan: &mut StartPlan,
    ) -> Result<(), InspectError> {
        if self.in_use()?.is_some() {
            plan.steps.push("is refused: the store is in use".to_owned());
        }
        if log.files().files().is_empty() && queues.units > 0 {
            plan.steps.push("is refused: there are queues with messages and no log".to_owned());
        }
        self.plan_file_refusals(log.files(), plan);
        for queue in self.queues()?.into_iter().chain(self.batch_queues()?) {
            self.plan_file_refusals(&FileSequence::list(self.env.disk(), &queue.path)?, plan);
        }
        Ok(())
    }

    /// A directory of files must hold nothing but files of one size that follow one another.
    fn plan_file_refusals(&self, files: &FileSequence, plan: &mut StartPlan) {
        let last = files.files().last().map(|file| file.path.clone());
        for stray in files.strays() {
            let is_last = last.as_ref().is_none_or(|last| stray.path > *last);
            let path = stray.path.display();
            plan.steps.push(if stray.len == 0 && is_last {
                format!("deletes the empty file {path}")
            } else {
                format!("is refused: {path} does not belong there")
            });
        }
        let mut refused = |reason: String| plan.steps.push(format!("is refused: {reason}"));
        let mut findings = Vec::new();
        files.verify(&mut |finding| findings.push(finding));
        for finding in findings.iter().filter(|finding| finding.kind != "stray-file") {
            refused(format!(
                "{}: expected {}, found {}",
                finding.file.display(),
                finding.expected,
                finding.found
            ));
        }
    }

    /// Sizes that broker.conf must name, and index files that do not fit.
    fn plan_sizes(&self, plan: &mut StartPlan) -> Result<(), InspectError> {
        let defaults = MessageStoreConfig::new(self.paths.root());
        let rows = [
            (
                "mappedFileSizeCommitLog",
                self.config.commit_log.mapped_file_size_commit_log,
                defaults.commit_log.mapped_file_size_commit_log,
            ),
            (
                "mappedFileSizeConsumeQueue",
                self.config.consume_queue.mapped_file_size_consume_queue,
                defaults.consume_queue.mapped_file_size_consume_queue,
            ),
            (
                "mapperFileSizeBatchConsumeQueue",
                self.config.consume_queue.mapper_file_size_batch_consume_queue,
                defaults.consume_queue.mapper_file_size_batch_consume_queue,
            ),
            (
                "maxHashSlotNum",
                u64::from(self.config.index.max_hash_slot_num),
                u64::from(defaults.index.max_hash_slot_num),
            ),
            (
                "maxIndexNum",
                u64::from(self.config.index.max_index_num),
                u64::from(defaults.index.max_index_num),
            ),
        ];
        for (key, is, default) in rows.into_iter().filter(|row| row.1 != row.2) {
            plan.steps.push(format!("needs {key}={is} in broker.conf (the default is {default})"));
        }
        let usable = self.index_files()?.len();
        let entries = self.env.disk().read_dir(&self.paths.index())?;
        let named = |name: &str| store_logic::index_file::IndexFile::is_file_name(name);
        let all = entries.iter().filter(|entry| named(&entry.name)).count();
        if usable < all {
            plan.steps.push(format!(
                "sets {} index files aside and indexes anew, unless maxHashSlotNum and maxIndexNum fit them",
                all - usable
            ));
        }
        Ok(())
    }

    /// The file from which on the log is walked, as recovery chooses it.
    fn choose_start(
        &self,
        log: &mut LogReader,
        queues: QueueTotals,
        index: IndexTotals,
    ) -> Result<u64, InspectError> {
        let stop = self.notes.as_ref().and_then(|notes| notes.clean_stop());
        if stop.is_some_and(|stop| queues.units < stop.units) {
            return Ok(log.min_offset());
        }
        let clean = !self.has_abort()?;
        let indexed = match stop {
            Some(stop) if clean && stop.index.is_some_and(|noted| noted.end == index.end) => stop.log_end,
            _ => index.end.unwrap_or(0),
        };
        let known = queues.known_end.min(indexed);
        let file_of = |log: &LogReader, offset: u64| {
            let files = log.files().files();
            files.iter().rev().find(|file| file.offset <= offset).map_or(log.min_offset(), |file| file.offset)
        };
        let by_offset = file_of(log, known);
        if clean {
            return Ok(by_offset);
        }
        let path = self.paths.checkpoint();
        let durable = match self.env.disk().stat(&path)? {
            Some(_) => read_checkpoint(&Place::open(self.env.disk(), &path)?)
                .map_or(0, |fields| fields.physic_msg_timestamp.min(fields.logics_msg_timestamp)),
            None => 0,
        };
        let by_time = log.start_for_time(durable.saturating_sub(CHECKPOINT_MARGIN))?;
        Ok(by_offset.min(by_time))
    }

    /// Walks as recovery does, up to the first fault.
    fn plan_walk(
        &self,
        log: &mut LogReader,
        start: u64,
        queues: QueueTotals,
        plan: &mut StartPlan,
    ) -> Result<(), InspectError> {
        let earlier: Vec<u64> =
            log.files().files().iter().map(|file| file.offset).filter(|offset| *offset < start).collect();
        let mut newest = 0;
        for offset in earlier {
            newest = log.first_store_timestamp(offset)?.unwrap_or(0).max(newest);
        }
        let mut last_store_timestamp = 0;
        let mut end = start;
        log.walk(start, u64::MAX, &mut |phy_offset, item| {
            match item {
                LogItem::Record(view) => {
                    end = phy_offset + u64::from(view.total_size);
                    last_store_timestamp = view.store_timestamp;
                    newest = view.store_timestamp.max(newest);
                }
                LogItem::Damage(_) => {
                    end = phy_offset;
                    return ControlFlow::Break(());
                }
                LogItem::Blank => {}
            }
            ControlFlow::Continue(())
        })?;
        if log.files().files().is_empty() {
            plan.steps.push("makes a new log".to_owned());
            return Ok(());
        }
        (plan.log_end, plan.last_store_timestamp) = (end, last_store_timestamp);
        let clean = !self.has_abort()?;
        let how = if clean { "after a stop in order" } else { "after a crash" };
        plan.steps.push(format!("reads the log from {start} to its end, as {how}"));
        let known = KnownDurable::read(&self.env, &self.paths, self.notes.as_ref(), clean)?;
        let place = LogEndPlace { at: end, newest, checksum: Checksum::Body };
        match examine(&self.env, &self.paths, &known, place)? {
            Ending::Whole => {}
            Ending::Tail(tail) => plan.steps.push(format!(
                "cuts the log at {end} (expected {}, found {}); {} records behind are dropped, {} B are saved first",
                tail.expected, tail.found, tail.good_records_behind, tail.bytes_behind
            )),
            Ending::Damaged(damage) => {
                plan.steps.push(format!("is refused: {damage}"));
                return Ok(());
            }
        }
        if queues.known_end > end {
            plan.steps.push(format!("cuts queue units of records behind {end}"));
        }
        plan.steps.push(format!("goes on at {end}"));
        Ok(())
    }
}
