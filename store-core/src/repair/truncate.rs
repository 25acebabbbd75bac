//! Cutting the log at a position.

use super::{RepairMode, StoreRepair};
use crate::abort_file;
use crate::error::StoreError;
use crate::set_aside::{self, Bound, SetAside, set_aside};
use crate::store_notes::StoreNotes;
use crate::store_paths::StorePaths;
use std::ops::ControlFlow;
use store_logic::flushed_mark::{FlushedMark, FlushedPosition};
use store_logic::inspect::{Fields, FileSequence, InspectError};
use store_logic::inspectors::LogItem;
use store_logic::{Env, OpenMode, zero_rest};

/// A log that was cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truncated {
    /// Where it ends now.
    pub log_end: u64,
    /// Good records that were cut.
    pub records: u64,
    /// What was cut, saved. Of a dry run only what would be.
    pub saved: SetAside,
}

impl Truncated {
    /// As fields.
    pub fn fields(&self) -> Fields {
        let mut fields = Fields::new().with("logEnd", self.log_end).with("cutRecords", self.records);
        fields.extend(self.saved.fields());
        fields
    }
}

impl StoreRepair {
    /// Cuts the log at `at`, which must be where a record or a damaged stretch begins: saves what stands from there on,
    /// then deletes it. Queues and index are cut to it by the next start, a Java broker's too, which finds the store as
    /// after a crash.
    ///
    /// # Errors
    ///
    /// [`InspectError::Unreadable`] names the places next to `at` when it lies inside a record; whatever the disk reports.
    pub fn truncate(&self, at: u64, mode: RepairMode) -> Result<Truncated, StoreError> {
        let paths = self.store.paths();
        let records = self.check_boundary(at)?;
        if mode == RepairMode::DryRun {
            let saved = set_aside::plan(&self.env, paths, at, u64::MAX)?;
            return Ok(Truncated { log_end: at, records, saved });
        }
        let saved = set_aside(&self.env, paths, at, u64::MAX, Bound::Everything)?;
        if !self.store.has_abort()? {
            abort_file::create(&self.env, paths)?;
        }
        forget_beyond(&self.env, paths, self.store.notes(), at)?;
        self.cut(at)?;
        tracing::warn!(at, records, "the log was cut");
        Ok(Truncated { log_end: at, records, saved })
    }

    /// Good records from `at` on.
    fn check_boundary(&self, at: u64) -> Result<u64, StoreError> {
        let mut log = self.log()?;
        let directory = self.store.paths().commit_log().to_owned();
        let unreadable = |expected: String, found: String| {
            StoreError::from(InspectError::Unreadable { path: directory.clone(), expected, found })
        };
        let files = log.files();
        let range = (files.start().unwrap_or(0), files.end());
        let Some(start) = files.files().iter().rev().map(|file| file.offset).find(|offset| *offset <= at)
        else {
            return Err(unreadable(format!("a position from {} to {}", range.0, range.1), at.to_string()));
        };
        let (mut records, mut before, mut next, mut is_boundary) = (0, start, None, at == start);
        let summary = log.walk(start, u64::MAX, &mut |phy_offset, item| {
            is_boundary |= phy_offset == at;
            if phy_offset < at {
                before = phy_offset;
            } else {
                next.get_or_insert(phy_offset);
                records += u64::from(matches!(item, LogItem::Record(_)));
            }
            ControlFlow::Continue(())
        })?;
        if is_boundary || summary.end == at {
            return Ok(records);
        }
        let next = next.unwrap_or(summary.end);
        Err(unreadable(format!("where a record begins, such as {before} or {next}"), at.to_string()))
    }

    fn cut(&self, at: u64) -> Result<(), StoreError> {
        let disk = self.env.disk();
        let files = FileSequence::list_all(disk, self.store.paths().commit_logs().all())?;
        for file in files.files().iter().rev() {
            if file.offset > at {
                disk.remove_file(&file.path)?;
            } else if file.end() > at {
                zero_rest(&*disk.open(&file.path, OpenMode::ReadWrite)?, at - file.offset)?;
            }
        }
        for directory in self.store.paths().commit_logs().all() {
            if disk.stat(directory)?.is_some() {
                disk.sync_dir(directory)?;
            }
        }
        Ok(())
    }
}

/// Durably forgets what says that the log was durable beyond `at`: it must not say so of what takes the place.
pub(crate) fn forget_beyond(
    env: &Env,
    paths: &StorePaths,
    notes: Option<&StoreNotes>,
    at: u64,
) -> Result<(), StoreError> {
    if let Some(notes) = notes {
        if notes.clean_stop().is_some_and(|stop| stop.log_end > at) {
            notes.set_clean_stop(None);
            notes.write()?;
        }
    }
    let path = paths.flushed_mark();
    let Some(mark) = FlushedMark::read(env, &path)?.filter(|mark| mark.position > at) else { return Ok(()) };
    let file = FlushedMark::open(env, &path)?;
    file.set(FlushedPosition { position: at, ..mark })?;
    Ok(file.flush()?)
}
