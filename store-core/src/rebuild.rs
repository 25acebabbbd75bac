//! Queues and index anew from the log, the old ones set aside.
//!
//! The new ones are built beside the old ones, in `stratamq.rebuild` of the store root, made durable there, and put in
//! their places by renaming; the old ones go to `stratamq.replaced/{time}`. Apache ignores both directories. A crash
//! leaves the old part, the new part or none in its place, and a start fills a part that is not there from the log. What
//! stays in `stratamq.rebuild` is deleted by the next run.
//!
//! Records behind damage of the log are taken in as far as they can be found. Records of topics that were deleted stay
//! without a queue when the store's notes tell of the deletion; a store that a Java broker wrote has no such notes, and
//! there a deleted topic's queues come back for the records still in the log. Queues that the log knows nothing of any
//! more (all of their messages expired) are taken over as they are, so that their offsets go on. Where queues have
//! extensions, new ones are built with them.

mod builder;
mod swap;

use crate::config::DelayLevels;
use crate::inspectors::StoreInspection;
use crate::tool_error::ToolError;
use builder::Builder;
use std::path::PathBuf;
use store_logic::LockFile;
use store_logic::inspect::Fields;

/// What to build, and what is not in the files.
#[derive(Debug, Clone)]
pub struct RebuildOptions {
    /// Build the queues.
    pub queues: bool,
    /// Build the index.
    pub index: bool,
    /// Index tags, as Apache does from 5.5.0 on.
    pub index_tags: bool,
    /// Delays of the levels (`messageDelayLevel`): the queue units of delayed messages hold their time of delivery.
    pub delay_levels: DelayLevels,
    /// Change nothing, and tell what would be done.
    pub dry_run: bool,
}

impl Default for RebuildOptions {
    fn default() -> Self {
        Self {
            queues: true,
            index: true,
            index_tags: true,
            delay_levels: DelayLevels::default(),
            dry_run: false,
        }
    }
}

/// What was built, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RebuildReport {
    /// Good records read.
    pub records: u64,
    /// Places of the log that hold damage, passed over.
    pub damages: u64,
    /// Records without a place because their topic was deleted.
    pub of_deleted_topics: u64,
    /// Units put.
    pub units: u64,
    /// Records whose place was not free or cannot be right; they stay in the log only.
    pub without_place: u64,
    /// Queues built.
    pub queues: u64,
    /// Queues taken over as they were, because the log holds none of their messages.
    pub kept_queues: u64,
    /// Records put into the index.
    pub indexed: u64,
    /// Where the old parts are; `None` in a dry run, and when there were none.
    pub replaced: Option<PathBuf>,
}

impl RebuildReport {
    /// As fields.
    pub fn fields(&self) -> Fields {
        let fields = Fields::new()
            .with("records", self.records)
            .with("damages", self.damages)
            .with("ofDeletedTopics", self.of_deleted_topics)
            .with("units", self.units)
            .with("withoutPlace", self.without_place)
            .with("queues", self.queues)
            .with("keptQueues", self.kept_queues)
            .with("indexed", self.indexed);
        match &self.replaced {
            Some(path) => fields.with("replaced", path.display().to_string()),
            None => fields,
        }
    }
}

/// Builds queues and index anew from the log. `progress` is told how many bytes of the log are done, out of
/// [`StoreInspection::log_bytes`].
///
/// # Errors
///
/// The store is in use, the log has no file, the shape of its index files is not known, or whatever the disk reports. Up
/// to the first rename nothing of the store has changed then.
pub fn rebuild(
    store: &StoreInspection,
    options: &RebuildOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<RebuildReport, ToolError> {
    check(store, options)?;
    if options.dry_run {
        return Builder::dry(store, options).run(progress);
    }
    let disk = store.env().disk();
    let _lock = LockFile::acquire(disk, &store.paths().lock())?;
    let work = store.paths().rebuild_work();
    store_logic::remove_tree(disk, &work)?;
    let builder = Builder::new(store, options, &work)?;
    let mut report = builder.run(progress)?;
    report.replaced = swap::put_in_place(store, options)?;
    Ok(report)
}

/// True for a store whose queues have extensions, or are to have them (`enableConsumeQueueExt`).
fn has_extensions(store: &StoreInspection) -> Result<bool, ToolError> {
    let is_there = store.env().disk().stat(&store.paths().consume_queue_ext())?.is_some();
    Ok(is_there || store.config().consume_queue.enable_consume_queue_ext)
}

fn check(store: &StoreInspection, options: &RebuildOptions) -> Result<(), ToolError> {
    if let Some(holder) = store.in_use()? {
        let who = holder.pid.map_or("another process".to_owned(), |pid| format!("process {pid}"));
        let root = store.paths().root().display();
        return Err(ToolError::Refused(format!("{root}: {who} is using this store; stop it first")));
    }
    if store.log()?.files().files().is_empty() {
        let log = store.paths().commit_log().display();
        return Err(ToolError::Refused(format!("{log}: expected log files to build from, found none")));
    }
    if options.index && store.unusable_index_files()? > 0 {
        return Err(ToolError::Refused(format!(
            "{}: the index files have another size than {} slots and {} entries make; tell maxHashSlotNum and \
             maxIndexNum, or leave the index",
            store.paths().index().display(),
            store.config().index.max_hash_slot_num,
            store.config().index.max_index_num,
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
