//! Places in queues whose messages were lost with a stretch of the log.

use super::batches::{lost_batches, remove_batches};
use crate::error::StoreError;
use crate::lost_places::LostPlaces;
use crate::store_notes::StoreNotes;
use crate::store_paths::StorePaths;
use std::ops::{ControlFlow, Range};
use store_logic::consume_queue::Unit;
use store_logic::consume_queue::format::UNIT_SIZE;
use store_logic::inspectors::{QueueDirectory, QueuePlace, QueueReader};
use store_logic::{Env, OpenMode};

/// Places of one queue, next to each other.
#[derive(Debug)]
pub(super) struct LostRun {
    pub(super) queue: QueueDirectory,
    pub(super) from: u64,
    pub(super) to: u64,
    /// No message of the queue stands behind.
    pub(super) at_end: bool,
    /// Of a batch queue, whose places are units: queue offset behind the last of them.
    pub(super) batch_end: Option<u64>,
}

impl LostRun {
    pub(super) fn len(&self) -> u64 {
        self.to - self.from
    }
}

/// Places of all queues whose records lie in a stretch of the log.
pub(super) fn lost_runs(env: &Env, paths: &StorePaths, log: &Range<u64>) -> Result<Vec<LostRun>, StoreError> {
    let mut runs = Vec::new();
    for queue in QueueDirectory::list(env.disk(), &paths.consume_queue())? {
        let mut reader = QueueReader::open(env, &queue.path)?;
        let (first, end) = (reader.first(), reader.end()?);
        let mut run: Option<(u64, u64)> = None;
        let mut at_end = true;
        reader.walk(first, end, &mut |queue_offset, place| {
            let QueuePlace::Unit(unit) = place else { return ControlFlow::Continue(()) };
            if unit.phy_offset >= log.end {
                at_end = false;
                return ControlFlow::Break(());
            }
            if unit.phy_offset >= log.start {
                run = Some((run.map_or(queue_offset, |run| run.0), queue_offset + 1));
            }
            ControlFlow::Continue(())
        })?;
        if let Some((from, to)) = run {
            runs.push(LostRun { queue, from, to, at_end, batch_end: None });
        }
    }
    for queue in QueueDirectory::list(env.disk(), &paths.batch_consume_queue())? {
        runs.extend(lost_batches(env, queue, log)?);
    }
    Ok(runs)
}

/// Empties the places: blank units inside a queue, none in a batch queue; at its end zeros, and a note that their offsets
/// are not given again (a blank unit that stands last makes Apache's dispatch pass over everything below 2 GiB).
pub(super) fn empty(
    env: &Env,
    paths: &StorePaths,
    notes: Option<&StoreNotes>,
    log: &Range<u64>,
    runs: &[LostRun],
) -> Result<(), StoreError> {
    let at_end = runs.iter().filter(|run| run.at_end);
    let mut lost = LostPlaces::read(env, paths)?;
    at_end.for_each(|run| {
        lost.add(&run.queue.topic, run.queue.queue_id, run.batch_end.unwrap_or(run.to));
    });
    lost.write(env, paths)?;
    if let Some(notes) = notes {
        let gone = runs.iter().filter(|run| run.at_end || run.batch_end.is_some());
        notes.lower_units(gone.map(LostRun::len).sum());
        notes.write()?;
    }
    for run in runs {
        if run.batch_end.is_some() {
            remove_batches(env, run, log)?;
            continue;
        }
        let place = if run.at_end { [0; UNIT_SIZE as usize] } else { Unit::BLANK.encode() };
        let reader = QueueReader::open(env, &run.queue.path)?;
        let mut queue_offset = run.from;
        while queue_offset < run.to {
            let (path, at) = reader.location(queue_offset);
            let file = env.disk().open(&path, OpenMode::ReadWrite)?;
            let len = run.to.min(queue_offset + (file.len()? - at) / UNIT_SIZE) - queue_offset;
            file.write_all_at(&place.repeat(len as usize), at)?;
            file.sync_data()?;
            queue_offset += len.max(1);
        }
    }
    Ok(())
}
