//! What is known of how far the log was durable, read without changing anything.

use crate::store_notes::StoreNotes;
use crate::store_paths::StorePaths;
use store_logic::flushed_mark::FlushedMark;
use store_logic::inspect::{InspectError, Place};
use store_logic::inspectors::read_checkpoint;
use store_logic::store_checkpoint::CheckpointFields;
use store_logic::{DiskError, Env};

/// Milliseconds before the checkpoint's log time that are not taken for durable. A Java broker may write the time down
/// before the sync: as a replica it follows the dispatch, which is ahead of the sync by up to
/// `flushCommitLogThoroughInterval` (10 s); with a buffer pool it follows the buffer.
const CHECKPOINT_MARGIN: i64 = 15_000;

/// What is known of how far the log was durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KnownDurable {
    /// The last stop was in order.
    pub(crate) clean: bool,
    /// End of the log at the last stop in order of this program, if it was the last one.
    pub(crate) stop_end: u64,
    /// Position up to which the log was synced; 0 when unknown.
    pub(crate) mark: u64,
    /// What was stored up to this time is durable; 0 when unknown.
    pub(crate) time: i64,
    /// The checkpoint's log time.
    pub(crate) checkpoint: i64,
}

impl KnownDurable {
    pub(crate) fn read(
        env: &Env,
        paths: &StorePaths,
        notes: Option<&StoreNotes>,
        clean: bool,
    ) -> Result<Self, DiskError> {
        let checkpoint = checkpoint_of(env, paths)?.physic_msg_timestamp;
        // A Java broker that ran since has moved the checkpoint on and may have cut the log.
        let mark = FlushedMark::read(env, &paths.flushed_mark())?;
        let mark = mark.filter(|mark| checkpoint <= mark.physic_msg_timestamp);
        // A time that has not come yet was never written by a flush.
        let believable = (1..=env.now_millis()).contains(&checkpoint);
        Ok(Self {
            clean,
            stop_end: notes.and_then(StoreNotes::clean_stop).map_or(0, |stop| stop.log_end),
            mark: mark.map_or(0, |mark| mark.position),
            time: if believable { (checkpoint - CHECKPOINT_MARGIN).max(0) } else { 0 },
            checkpoint,
        })
    }
}

fn checkpoint_of(env: &Env, paths: &StorePaths) -> Result<CheckpointFields, DiskError> {
    let path = paths.checkpoint();
    if env.disk().stat(&path)?.is_none() {
        return Ok(CheckpointFields::default());
    }
    match Place::open(env.disk(), &path).map_err(InspectError::from).and_then(|place| read_checkpoint(&place))
    {
        Ok(fields) => Ok(fields),
        Err(InspectError::Disk(error)) => Err(error),
        // Opening the store refuses it by itself.
        Err(_) => Ok(CheckpointFields::default()),
    }
}
