//! SYNC_FLUSH: every put that waits when a sync begins is answered by that one sync.

use crate::default_message_store::Shared;
use crate::put_result::PutMessageStatus;
use crate::put_ticket::{Outcome, Pending};
use crate::service::{Service, Step, Wakeup};
use crate::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Rest without puts; they wake the service.
const IDLE: Duration = Duration::from_millis(500);

/// Puts that wait for the disk.
#[derive(Debug)]
pub(crate) struct GroupCommitQueue {
    waiting: Mutex<Waiting>,
    wakeup: Wakeup,
}

#[derive(Debug, Default)]
struct Waiting {
    /// The position each waits for.
    puts: Vec<(u64, Arc<Pending>)>,
    /// Result of the last sync there will be.
    closed: Option<Result<u64, String>>,
}

impl GroupCommitQueue {
    pub(crate) fn new(wakeup: Wakeup) -> Self {
        Self { waiting: Mutex::default(), wakeup }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers `pending` once the log is durable up to `end_offset`.
    pub(crate) fn wait_for(&self, end_offset: u64, pending: Arc<Pending>) {
        let mut waiting = self.lock();
        if let Some(flushed) = &waiting.closed {
            pending.complete(outcome(flushed, end_offset));
            return;
        }
        waiting.puts.push((end_offset, pending));
        drop(waiting);
        self.wakeup.wake();
    }

    /// Something was put that nobody waits for.
    pub(crate) fn nudge(&self) {
        self.wakeup.wake();
    }

    /// Answers whoever waits, and whoever comes later, by the last sync there will be.
    pub(crate) fn close(&self, flushed: Result<u64, String>) {
        let mut waiting = self.lock();
        for (end_offset, pending) in waiting.puts.drain(..) {
            pending.complete(outcome(&flushed, end_offset));
        }
        waiting.closed = Some(flushed);
    }

    fn take(&self) -> Vec<(u64, Arc<Pending>)> {
        std::mem::take(&mut self.lock().puts)
    }
}

/// The flusher.
pub(crate) struct GroupCommitService {
    shared: Arc<Shared>,
}

impl GroupCommitService {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Answers everyone who waits by one sync; false when there was nothing to sync, or no sync may be tried any more.
    fn commit(&self) -> bool {
        // Taken before the sync: whoever comes later may have written behind what it covers.
        let waiting = self.shared.group_commit.take();
        let dirty = self.shared.log.files().dirty_bytes() > 0;
        if waiting.is_empty() && !dirty {
            return false;
        }
        let flushed = self.shared.flush_log(0);
        let now = self.shared.env.clock().monotonic();
        for (end_offset, pending) in waiting {
            self.shared.stats.count_put_answer(now.saturating_sub(pending.began()));
            pending.complete(outcome(&flushed, end_offset));
        }
        self.shared.dispatch_wakeup.wake();
        flushed.is_ok()
    }
}

fn outcome(flushed: &Result<u64, String>, end_offset: u64) -> Outcome {
    match flushed {
        Ok(durable) if *durable >= end_offset => Outcome { status: PutMessageStatus::PutOk, remark: None },
        Ok(durable) => Outcome {
            status: PutMessageStatus::FlushDiskTimeout,
            remark: Some(format!("stored up to {end_offset}, durable up to {durable}")),
        },
        Err(reason) => {
            Outcome { status: PutMessageStatus::ServiceNotAvailable, remark: Some(reason.clone()) }
        }
    }
}

impl Service for GroupCommitService {
    fn name(&self) -> &'static str {
        "GroupCommit"
    }

    fn step(&mut self) -> Step {
        if self.commit() { Step::Again } else { Step::Wait(IDLE) }
    }

    fn finish(&mut self) {
        while self.commit() {}
    }
}
