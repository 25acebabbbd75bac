//! Fillers in the place of a damaged stretch.

use super::places::{self, lost_runs};
use super::truncate::forget_beyond;
use crate::error::StoreError;
use crate::log_damage::LogDamage;
use crate::set_aside::{self, Bound, SetAside, set_aside};
use crate::store_notes::StoreNotes;
use crate::store_paths::StorePaths;
use store_logic::commit_log::filler::fillers;
use store_logic::commit_log::format::{self, BLANK_LEN, MIN_RECORD};
use store_logic::inspect::{Fields, FileSequence, InspectError, SequenceFile};
use store_logic::{Env, OpenMode};

/// A stretch of the log that was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its first byte in the log.
    pub from: u64,
    /// Position behind it.
    pub to: u64,
    /// Places in queues that are empty now.
    pub lost_places: u64,
    /// What stood there, saved. Of a dry run only what would be.
    pub saved: SetAside,
}

impl Skipped {
    /// As fields.
    pub fn fields(&self) -> Fields {
        let mut fields =
            Fields::new().with("from", self.from).with("to", self.to).with("lostPlaces", self.lost_places);
        fields.extend(self.saved.fields());
        fields
    }
}

/// What [`skip`] would do.
pub(super) fn plan(env: &Env, paths: &StorePaths, damage: &LogDamage) -> Result<Skipped, StoreError> {
    let to = range_end(env, paths, damage)?;
    let lost = lost_runs(env, paths, &(damage.log_offset..to))?;
    Ok(Skipped {
        from: damage.log_offset,
        to,
        lost_places: lost.iter().map(places::LostRun::len).sum(),
        saved: set_aside::plan(env, paths, damage.log_offset, to)?,
    })
}

/// Saves the damaged stretch, empties the places of its messages, and puts fillers in its place, in this order: after a
/// crash in between the damage is still there, and the repair can be done again.
pub(crate) fn skip(
    env: &Env,
    paths: &StorePaths,
    notes: Option<&StoreNotes>,
    damage: &LogDamage,
) -> Result<Skipped, StoreError> {
    let (from, to) = (damage.log_offset, range_end(env, paths, damage)?);
    let saved = set_aside(env, paths, from, to, Bound::Everything)?;
    let lost = lost_runs(env, paths, &(from..to))?;
    places::empty(env, paths, notes, &(from..to), &lost)?;
    let files = FileSequence::list_all(env.disk(), paths.commit_logs().all())?;
    for file in files.files().iter().filter(|file| file.end() > from && file.offset < to) {
        fill(env, file, from.max(file.offset), to.min(file.end()), damage.store_timestamp)?;
    }
    if !damage.is_followed {
        forget_beyond(env, paths, notes, to)?;
    }
    let lost_places = lost.iter().map(places::LostRun::len).sum();
    tracing::warn!(from, to, lost_places, "a damaged stretch of the log was filled");
    Ok(Skipped { from, to, lost_places, saved })
}

/// Position behind the stretch that is filled: a filler needs the room of a record, and what ends a file is a blank.
fn range_end(env: &Env, paths: &StorePaths, damage: &LogDamage) -> Result<u64, StoreError> {
    let (from, to) = (damage.log_offset, damage.resumes_at);
    let files = FileSequence::list_all(env.disk(), paths.commit_logs().all())?;
    // The file itself is missing: there is nothing to fill.
    let Some(file) = files.file_at(from) else { return Ok(from) };
    if damage.is_followed || to >= file.end() {
        if to < file.end() && to - from < MIN_RECORD {
            return Err(too_short(damage, "at least 92 damaged bytes", &format!("{}", to - from)));
        }
        return Ok(to);
    }
    // Nothing follows: the log goes on behind the filler, which must leave room for a blank.
    let to = to.max(from + MIN_RECORD);
    Ok(if to + BLANK_LEN as u64 > file.end() { file.end() } else { to })
}

fn too_short(damage: &LogDamage, expected: &str, found: &str) -> StoreError {
    let (expected, found) = (expected.to_owned(), found.to_owned());
    InspectError::Unreadable { path: damage.file.clone(), expected, found }.into()
}

/// Fills `from..to` of one file.
fn fill(env: &Env, file: &SequenceFile, from: u64, to: u64, timestamp: i64) -> Result<(), StoreError> {
    let open = env.disk().open(&file.path, OpenMode::ReadWrite)?;
    if to == file.end() {
        let rest = u32::try_from(to - from).unwrap_or(u32::MAX);
        open.write_all_at(&format::blank(rest), from - file.offset)?;
    } else {
        for (phy_offset, record) in fillers(from, to - from, timestamp) {
            open.write_all_at(&record, phy_offset - file.offset)?;
        }
    }
    Ok(open.sync_data()?)
}
