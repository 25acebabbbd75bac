//! ASYNC_FLUSH with write buffers: appended records move to the log files, where they can be read.
//!
//! With SYNC_FLUSH there is no such service: each sync of the log commits first.

use crate::default_message_store::Shared;
use crate::service::{Service, Step, Wakeup};
use crate::sync::Arc;
use std::time::Duration;

/// The committer.
pub(crate) struct CommitRealTimeService {
    shared: Arc<Shared>,
    /// Wakes the flusher.
    flusher: Wakeup,
    last_thorough: Duration,
}

impl CommitRealTimeService {
    pub(crate) fn new(shared: Arc<Shared>, flusher: Wakeup) -> Self {
        Self { shared, flusher, last_thorough: Duration::ZERO }
    }
}

impl Service for CommitRealTimeService {
    fn name(&self) -> &'static str {
        "CommitRealTime"
    }

    fn step(&mut self) -> Step {
        let config = &self.shared.config.pool;
        let now = self.shared.env.clock().monotonic();
        let thorough = now.saturating_sub(self.last_thorough)
            >= Duration::from_millis(config.commit_commit_log_thorough_interval);
        let least_pages = if thorough { 0 } else { config.commit_commit_log_least_pages };
        if thorough {
            self.last_thorough = now;
        }
        let before = self.shared.log.max_offset();
        // A failure is noted in the running flags; the bytes stay in the buffer for the next time.
        if self.shared.commit_log(least_pages).is_ok_and(|committed| committed > before) {
            self.shared.dispatch_wakeup.wake();
            if !self.shared.config.flush.flush_commit_log_timed {
                self.flusher.wake();
            }
        }
        Step::Wait(Duration::from_millis(config.commit_interval_commit_log))
    }

    fn finish(&mut self) {
        let _ = self.shared.commit_log(0);
    }
}
