//! Units of batch queues whose records were lost with a stretch of the log.

use super::places::LostRun;
use crate::error::StoreError;
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use store_logic::batch_consume_queue::format::UNIT_SIZE;
use store_logic::inspectors::{BatchPlace, BatchQueueReader, QueueDirectory};
use store_logic::{DiskError, DiskFile, Env, OpenMode};

/// Units of records in `log`, and those that stand twice because their removal did not come to its end.
pub(super) fn lost_batches(
    env: &Env,
    queue: QueueDirectory,
    log: &Range<u64>,
) -> Result<Option<LostRun>, StoreError> {
    let mut run: Option<(u64, u64, u64)> = None;
    let mut at_end = true;
    let mut newest = None;
    BatchQueueReader::open(env, &queue.path)?.walk(&mut |number, place| {
        let BatchPlace::Unit(unit) = place else { return ControlFlow::Continue(()) };
        let is_first = newest.is_none_or(|newest| unit.phy_offset > newest);
        newest = newest.max(Some(unit.phy_offset));
        at_end = at_end && unit.phy_offset < log.end;
        if !is_first || log.contains(&unit.phy_offset) {
            let (from, end) = run.map_or((number, 0), |(from, _, end)| (from, end));
            run = Some((from, number + 1, unit.next_offset().max(end)));
        }
        ControlFlow::Continue(())
    })?;
    Ok(run.map(|(from, to, end)| LostRun { queue, from, to, at_end, batch_end: Some(end) }))
}

/// Removes the run's units: those behind move up. They say themselves which queue offsets they stand for, and nothing
/// but a unit says to Apache that a message is not there. A crash in between leaves some units twice; done again, this
/// drops them.
pub(super) fn remove_batches(env: &Env, run: &LostRun, log: &Range<u64>) -> Result<(), StoreError> {
    let mut reader = BatchQueueReader::open(env, &run.queue.path)?;
    let (first, end) = (reader.first(), reader.end()?);
    let mut places = Places { env, queue: BatchQueueReader::open(env, &run.queue.path)?, file: None };
    let mut newest = None;
    let mut to = first;
    for number in first..end {
        let BatchPlace::Unit(unit) = reader.place(number)? else { continue };
        if log.contains(&unit.phy_offset) || newest.is_some_and(|newest| unit.phy_offset <= newest) {
            continue;
        }
        newest = Some(unit.phy_offset);
        if to < number {
            places.write(to, &unit.encode())?;
        }
        to += 1;
    }
    places.sync()?;
    for number in to..end {
        places.write(number, &[0; UNIT_SIZE as usize])?;
    }
    Ok(places.sync()?)
}

/// Writes places one after the other, each file durably before the next.
struct Places<'a> {
    env: &'a Env,
    queue: BatchQueueReader,
    file: Option<(PathBuf, Box<dyn DiskFile>)>,
}

impl Places<'_> {
    fn write(&mut self, number: u64, bytes: &[u8; UNIT_SIZE as usize]) -> Result<(), DiskError> {
        let (path, at) = self.queue.location(number);
        if self.file.as_ref().is_none_or(|file| file.0 != path) {
            self.sync()?;
            let file = self.env.disk().open(&path, OpenMode::ReadWrite)?;
            self.file = Some((path, file));
        }
        self.file.as_ref().map_or(Ok(()), |file| file.1.write_all_at(bytes, at))
    }

    fn sync(&self) -> Result<(), DiskError> {
        self.file.as_ref().map_or(Ok(()), |file| file.1.sync_data())
    }
}
