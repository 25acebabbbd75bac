//! From what a store looks like to what is done about the end of its log.

use super::survey::Survey;
use crate::config::DamagedCommitLogPolicy;
use crate::default_message_store::Shared;
use crate::error::StoreError;
use crate::log_damage::{Ending, KnownDurable, LogDamage, LogEndPlace};
use crate::repair::forget_beyond;
use crate::set_aside::{Bound, SetAside, set_aside};
use crate::store_notes::CleanStop;
use std::time::Duration;
use store_logic::commit_log::LogEnd;

/// What to do with a store.
pub(in crate::default_message_store) enum Examination {
    /// Recover it.
    Accepted(Box<Examined>),
    /// Pass over this damage first.
    ToSkip(LogDamage),
}

/// A store that may be recovered, and where its log is to end.
#[derive(Debug)]
pub(in crate::default_message_store) struct Examined {
    survey: Survey,
    /// What stands there and is cut.
    tail: Option<LogDamage>,
    set_aside: SetAside,
    stop: Option<CleanStop>,
    began: Duration,
}

/// Looks at the whole of a loaded store, from file number `at_most` of the log or an earlier one on. Changes nothing.
///
/// # Errors
///
/// [`StoreError::Damaged`] when a record that was durable cannot be read and nobody has chosen what to do about it;
/// [`StoreError::LogMissing`].
pub(in crate::default_message_store) fn examine(
    shared: &Shared,
    clean: bool,
    at_most: usize,
) -> Result<Examination, StoreError> {
    let began = shared.env.clock().monotonic();
    let starts = shared.log.scan_starts();
    shared.check_log_present(&starts)?;
    let survey = shared.survey(&starts, clean, at_most)?;
    let known = KnownDurable::read(&shared.env, &shared.paths, Some(&shared.notes), clean)?;
    let end = LogEndPlace {
        at: survey.end.offset,
        newest: survey.newest,
        checksum: shared.config.commit_log.checksum_on_recover(),
    };
    let tail = match crate::log_damage::examine(&shared.env, &shared.paths, &known, end)? {
        Ending::Whole => None,
        Ending::Tail(tail) => Some(tail),
        Ending::Damaged(damage) => match shared.config.commit_log.damaged_commit_log_policy {
            DamagedCommitLogPolicy::Stop => return Err(StoreError::Damaged(Box::new(damage))),
            DamagedCommitLogPolicy::Truncate => Some(damage),
            DamagedCommitLogPolicy::Skip => return Ok(Examination::ToSkip(damage)),
        },
    };
    let stop = shared.notes.clean_stop();
    let set_aside = SetAside::default();
    Ok(Examination::Accepted(Box::new(Examined { survey, tail, set_aside, stop, began })))
}

impl Examined {
    /// Takes the place of `self`, keeping what was done already.
    pub(in crate::default_message_store) fn replace(&mut self, earlier: Examined) {
        self.survey = earlier.survey;
        self.tail = self.tail.take().or(earlier.tail);
    }

    /// Cuts the log where its good records end, after saving what stands there.
    pub(super) fn cut_log(&mut self, shared: &Shared) -> Result<(), StoreError> {
        let end = self.survey.end.offset;
        if let Some(tail) = self.tail.as_ref().filter(|tail| tail.log_offset == end) {
            let bound = if tail.durable.is_some() { Bound::Everything } else { Bound::Tail };
            if self.set_aside == SetAside::default() {
                self.set_aside = set_aside(&shared.env, &shared.paths, end, u64::MAX, bound)?;
            }
        }
        forget_beyond(&shared.env, &shared.paths, Some(&shared.notes), end)?;
        Ok(shared.log.truncate(end)?)
    }

    /// Number of the first file that was looked at.
    pub(super) fn first_file(&self) -> usize {
        self.survey.from
    }

    /// Where the walk may begin, given the position from which on records may be missing in the index: before it everything
    /// stands where it should. `None` when nothing was found that can be left out.
    pub(super) fn walk_from(&self, indexed: Option<u64>) -> Option<u64> {
        self.survey.known.walk_from(indexed)
    }

    /// Where the good records end.
    pub(super) fn end(&self) -> &LogEnd {
        &self.survey.end
    }

    /// Where the last stop in order had left the store.
    pub(super) fn stop(&self) -> Option<CleanStop> {
        self.stop
    }

    /// When the looking began, of the monotonic clock.
    pub(super) fn began(&self) -> Duration {
        self.began
    }

    /// What stood behind the last good record, in words.
    pub(super) fn cut(&self) -> Option<String> {
        self.tail.as_ref().map(|tail| format!("expected {}, found {}", tail.expected, tail.found))
    }

    /// Good records that stood behind it.
    pub(super) fn dropped_records(&self) -> u64 {
        self.tail.as_ref().map_or(0, |tail| tail.good_records_behind)
    }

    /// What was cut.
    pub(super) fn set_aside(&self) -> &SetAside {
        &self.set_aside
    }
}
