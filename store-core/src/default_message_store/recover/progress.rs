//! What a walk over the log has done is kept file by file, so that a start that is killed half way does not begin anew.
//!
//! When the records of a log file are dispatched, what was made of them is synced and the checkpoint moved behind them:
//! the next start begins there.

use crate::default_message_store::Shared;
use crate::log_damage::KnownDurable;
use std::collections::BTreeSet;
use std::time::Duration;
use store_logic::commit_log::ScanStart;
use store_logic::flushed_mark::{FlushedMark, FlushedPosition};
use store_logic::{MapError, Result};

/// Keeping may take this part of the walk's time: where there are many queues, not every file is worth it.
const MOST_OF_TIME: u32 = 10;

/// How far a walk has come, and how much of that is kept.
pub(super) struct Progress<'a> {
    shared: &'a Shared,
    starts: &'a [ScanStart],
    /// Number of the file the walk is in.
    file: usize,
    /// Everything below is durable.
    kept: u64,
    kept_at: Duration,
    /// What keeping took the last time.
    cost: Duration,
    /// Position and store time of the newest record.
    newest: Option<(u64, i64)>,
    /// The flushed mark, and where bytes begin that a sync of the last run may have failed for.
    mark: u64,
    doubtful_from: u64,
}

impl<'a> Progress<'a> {
    /// Of a walk that begins with file number `from`.
    pub(super) fn new(shared: &'a Shared, starts: &'a [ScanStart], from: usize) -> Result<Self> {
        let known = KnownDurable::read(&shared.env, &shared.paths, Some(&shared.notes), false);
        let mark = known.map_err(MapError::from)?.mark;
        Ok(Self {
            shared,
            starts,
            file: from,
            kept: starts.get(from).map_or(0, |start| start.offset),
            kept_at: shared.env.clock().monotonic(),
            cost: Duration::ZERO,
            newest: None,
            mark,
            doubtful_from: shared.doubtful_from(mark),
        })
    }

    /// Called before the record at `phy_offset` is dispatched: keeps what was done when that one is the first of a file.
    pub(super) fn reach(&mut self, phy_offset: u64) -> Result<()> {
        let rolled = |next: &ScanStart| next.offset <= phy_offset;
        if !self.starts.get(self.file + 1).is_some_and(rolled) {
            return Ok(());
        }
        self.file = self.starts.iter().rposition(rolled).unwrap_or(self.file);
        let now = self.shared.env.clock().monotonic();
        let boundary = self.starts[self.file].offset;
        if boundary > self.doubtful_from || now.saturating_sub(self.kept_at) < self.cost * MOST_OF_TIME {
            return Ok(());
        }
        let Some((record, store_timestamp)) = self.newest else { return Ok(()) };
        // A start chooses its file by time: no file that is still to come may seem to be done.
        let later = self.starts[self.file..].iter().filter_map(|start| start.store_timestamp);
        if later.min().is_some_and(|at| at < store_timestamp) {
            return Ok(());
        }
        self.keep(boundary, record, store_timestamp)?;
        self.kept = boundary;
        self.kept_at = self.shared.env.clock().monotonic();
        self.cost = self.kept_at.saturating_sub(now);
        tracing::info!(file = self.file, of = self.starts.len(), "recovery has come to this file of the log");
        Ok(())
    }

    /// The record at `phy_offset` is dispatched.
    pub(super) fn passed(&mut self, phy_offset: u64, store_timestamp: i64) {
        self.newest = Some((phy_offset, store_timestamp));
    }

    /// Makes everything below `boundary` durable, what was derived from it too, and says so in the checkpoint.
    fn keep(&self, boundary: u64, record: u64, store_timestamp: i64) -> Result<()> {
        let shared = self.shared;
        for file in shared.log.files().files() {
            if (self.kept..boundary).contains(&file.file_from_offset()) {
                file.sync_from(0)?;
            }
        }
        let queues = shared.queues.all();
        let mut new_in = BTreeSet::new();
        for handle in &queues {
            if handle.queue.rewrite_records_from(self.kept)? {
                new_in.insert(handle.queue.topic());
            }
        }
        shared.queues.sync_names_of(new_in)?;
        if let Some(index) = &shared.index {
            index.flush()?;
        }
        shared.raise_checkpoint(self.mark, record, store_timestamp)
    }
}

impl Shared {
    /// Moves the checkpoint behind the record at `phy_offset`: it and all before are durable, with their units. The index
    /// says itself how far it goes. `mark` is where the flushed mark stands, 0 when it is not believed.
    pub(super) fn raise_checkpoint(&self, mark: u64, phy_offset: u64, store_timestamp: i64) -> Result<()> {
        let fields = self.checkpoint.fields()?;
        if fields.physic_msg_timestamp < store_timestamp {
            // A mark that is older than the checkpoint is not believed.
            if mark > 0 {
                let file = FlushedMark::open(&self.env, &self.paths.flushed_mark())?;
                file.set(FlushedPosition { position: mark, physic_msg_timestamp: store_timestamp })?;
                file.flush()?;
            }
            self.checkpoint.set_physic_msg_timestamp(store_timestamp)?;
        }
        if fields.logics_msg_timestamp < store_timestamp {
            self.checkpoint.set_logics(store_timestamp, phy_offset)?;
        }
        self.checkpoint.flush()
    }
}

#[cfg(test)]
mod tests;
