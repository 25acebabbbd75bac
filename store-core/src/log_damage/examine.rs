//! What stands where the good records of a log end.
//!
//! Nothing is written. The rules, and why a torn tail is never taken for damage: docs/DURABILITY.md, "Damage in the
//! middle".

use super::torn::{in_one_sector, may_be_torn};
use super::{KnownDurable, LogDamage, expected_and_found};
use crate::store_paths::StorePaths;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use store_logic::commit_log::format::{
    self, BLANK_LEN, Checksum, Fault, MAGIC_V1, MAGIC_V2, PHYSICAL_OFFSET_AT, STORE_TIMESTAMP_END,
};
use store_logic::inspect::{FileSequence, InspectError, SequenceFile, last_data};
use store_logic::inspectors::{LogItem, LogReader};
use store_logic::{Env, OpenMode};

/// Bytes of a damaged stretch that are looked at for signs of tearing.
const MOST_LOOKED_AT: u64 = 1 << 20;

/// Where a walk over the log found its last good record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LogEndPlace {
    /// What the walk checked of each record.
    pub(crate) checksum: Checksum,
    /// Position behind it.
    pub(crate) at: u64,
    /// Newest store time of the good records before; 0 without one.
    pub(crate) newest: i64,
}

/// What stands there.
#[derive(Debug)]
pub(crate) enum Ending {
    /// Nothing: the log ends.
    Whole,
    /// What a crash leaves; a start cuts it.
    Tail(LogDamage),
    /// A record that was durable and cannot be read.
    Damaged(LogDamage),
}

/// Looks at the log behind `end`.
pub(crate) fn examine(
    env: &Env,
    paths: &StorePaths,
    known: &KnownDurable,
    end: LogEndPlace,
) -> Result<Ending, InspectError> {
    let mut bytes = LogBytes { env, files: FileSequence::list_all(env.disk(), paths.commit_logs().all())? };
    if bytes.files.files().is_empty() {
        return Ok(Ending::Whole);
    }
    let data = bytes.data_from(end.at)?;
    let blank_until = bytes.blank_until(end.at)?;
    let written = match blank_until {
        Some(behind) => data.iter().any(|stretch| stretch.0 >= behind),
        None => !data.is_empty(),
    };
    // A blank record ends its file.
    let ends_at = blank_until.unwrap_or(end.at);
    if !written && known.stop_end <= ends_at {
        return Ok(Ending::Whole);
    }
    let behind = Behind::read(env, paths, end)?;
    let durable = reason(&mut bytes, known, end, ends_at, &behind)?;
    let file = bytes.file_of(end.at);
    let (expected, found) = expected_and_found(&behind.fault);
    let last_data =
        data.iter().map(|stretch| stretch.1).rfind(|to| (file.offset..file.end()).contains(&(*to - 1)));
    let known_end = known.stop_end.max(known.mark).min(file.end());
    let damage = LogDamage {
        root: paths.root().to_owned(),
        commit_log: paths.commit_logs().all().map(Path::to_owned).collect(),
        file_offset: end.at - file.offset,
        file: file.path.clone(),
        log_offset: end.at,
        expected,
        found,
        durable,
        resumes_at: behind
            .resumes_at
            .unwrap_or_else(|| last_data.unwrap_or(end.at).max(known_end).max(end.at)),
        checksum: end.checksum,
        good_records_behind: behind.records,
        bytes_behind: data.iter().map(|stretch| stretch.1 - stretch.0).sum(),
        store_timestamp: [end.newest, behind.first_timestamp, env.now_millis()]
            .into_iter()
            .find(|at| *at > 0)
            .unwrap_or(1),
        is_followed: behind.resumes_at.is_some(),
    };
    Ok(if damage.durable.is_some() { Ending::Damaged(damage) } else { Ending::Tail(damage) })
}

/// Why the place is known to have been durable; `None` when it is not known.
fn reason(
    bytes: &mut LogBytes<'_>,
    known: &KnownDurable,
    end: LogEndPlace,
    ends_at: u64,
    behind: &Behind,
) -> Result<Option<String>, InspectError> {
    if known.stop_end > ends_at {
        return Ok(Some(format!("the last stop in order left a log that ends at {}", known.stop_end)));
    }
    let is_followed = behind.records > 0 || behind.fault != Fault::Nothing;
    if known.mark > ends_at && is_followed {
        return Ok(Some(format!("the log was synced up to {}", known.mark)));
    }
    // Where the record itself says when it was stored, or a good one behind it.
    // A sector that never reached the disk says 0.
    let own = bytes.store_timestamp(end.at, known.clean)?.filter(|at| *at > 0 && *at >= end.newest);
    let times = [own, behind.earliest_in_order].into_iter().flatten();
    let earliest = times.min();
    if known.clean {
        return Ok(
            earliest.map(|_| "the last stop was in order, so what was stored then was durable".to_owned())
        );
    }
    if let Some(at) = earliest.filter(|at| *at <= known.time) {
        return Ok(Some(format!(
            "what was stored at {at} stands there or behind it, and the checkpoint says that the log was durable up to \
             {}",
            known.checkpoint
        )));
    }
    let is_first = bytes.files.start() == Some(end.at);
    if is_first && behind.records > 0 && !bytes.may_be_torn(end.at, behind.resumes_at)? {
        return Ok(Some(
            "it is the first record of the log and no power cut leaves one like it; cutting here would drop all"
                .to_owned(),
        ));
    }
    Ok(None)
}

/// What stands behind the place.
struct Behind {
    /// What is wrong with the place.
    fault: Fault,
    resumes_at: Option<u64>,
    records: u64,
    /// Store time of the first good record behind; 0 without one.
    first_timestamp: i64,
    /// The earliest store time of those that are not older than what stands before the place: older ones are left from
    /// before an earlier cut.
    earliest_in_order: Option<i64>,
}

impl Behind {
    fn read(env: &Env, paths: &StorePaths, end: LogEndPlace) -> Result<Self, InspectError> {
        let mut behind = Self {
            fault: Fault::Nothing,
            resumes_at: None,
            records: 0,
            first_timestamp: 0,
            earliest_in_order: None,
        };
        LogReader::open_all(env, paths.commit_logs().all())?.walk(
            end.at,
            u64::MAX,
            &mut |phy_offset, item| {
                match item {
                    LogItem::Damage(damage) if phy_offset == end.at => {
                        behind.fault = damage.fault.clone();
                        behind.resumes_at = damage.resumes_at;
                    }
                    LogItem::Record(view) => {
                        if behind.records == 0 {
                            behind.first_timestamp = view.store_timestamp;
                            behind.resumes_at.get_or_insert(phy_offset);
                        }
                        behind.records += 1;
                        let in_order = Some(view.store_timestamp).filter(|at| *at >= end.newest);
                        behind.earliest_in_order =
                            [behind.earliest_in_order, in_order].into_iter().flatten().min();
                    }
                    LogItem::Damage(_) | LogItem::Blank => {}
                }
                ControlFlow::Continue(())
            },
        )?;
        Ok(behind)
    }
}

struct LogBytes<'a> {
    env: &'a Env,
    files: FileSequence,
}

impl LogBytes<'_> {
    /// Stretches from `at` on that hold something, one per file: from, to.
    fn data_from(&self, at: u64) -> Result<Vec<(u64, u64)>, InspectError> {
        let mut stretches = Vec::new();
        for file in self.files.files().iter().filter(|file| file.end() > at) {
            let first = at.saturating_sub(file.offset);
            let open = self.env.disk().open(&file.path, OpenMode::Read)?;
            if let Some(used) = last_data(&*open, first, file.len)? {
                stretches.push((file.offset + first, file.offset + used));
            }
        }
        Ok(stretches)
    }

    /// End of the file that a blank record at `at` ends.
    fn blank_until(&mut self, at: u64) -> Result<Option<u64>, InspectError> {
        let Some(file) = self.files.file_at(at).cloned() else { return Ok(None) };
        let head = self.files.bytes(self.env.disk(), at, BLANK_LEN)?;
        let rest = u32::try_from(file.end() - at).unwrap_or(u32::MAX);
        Ok(head.get(..BLANK_LEN).is_some_and(|head| head == format::blank(rest)).then(|| file.end()))
    }

    /// The file a place belongs to; behind the log, its last one.
    fn file_of(&self, at: u64) -> SequenceFile {
        let nowhere = SequenceFile { path: PathBuf::new(), offset: at, len: 0 };
        let file = self.files.file_at(at).or_else(|| self.files.files().last());
        file.cloned().unwrap_or(nowhere)
    }

    /// Store time that the bytes at `at` give, when they are recognisably a record of this place. One that lies over two
    /// sectors, of which a power cut may have kept one, counts only when there was none.
    fn store_timestamp(&mut self, at: u64, no_cut: bool) -> Result<Option<i64>, InspectError> {
        let Some(from) = self.files.file_at(at).map(|file| file.offset) else { return Ok(None) };
        let head = self.files.bytes(self.env.disk(), at, STORE_TIMESTAMP_END)?;
        let word = |at: usize, len: usize| head.get(at..at + len);
        let magic = word(4, 4);
        let is_record = [MAGIC_V1, MAGIC_V2].iter().any(|known| magic == Some(&known.to_be_bytes()));
        let is_here = word(PHYSICAL_OFFSET_AT, 8) == Some(&at.to_be_bytes());
        if !is_record && !is_here {
            return Ok(None);
        }
        let field = format::store_timestamp_place(head);
        let whole = field.is_some_and(|field| {
            let first = at - from;
            in_one_sector(first + field as u64, first + field as u64 + 8)
        });
        Ok(format::store_timestamp(head).filter(|_| whole || no_cut))
    }

    fn may_be_torn(&mut self, at: u64, resumes_at: Option<u64>) -> Result<bool, InspectError> {
        let Some(file) = self.files.file_at(at).cloned() else { return Ok(false) };
        let to = resumes_at.unwrap_or(file.end()).min(file.end()).min(at + MOST_LOOKED_AT);
        let len = (to - at) as usize;
        let bytes = self.files.bytes(self.env.disk(), at, len)?;
        Ok(may_be_torn(&bytes[..len.min(bytes.len())], at - file.offset))
    }
}
