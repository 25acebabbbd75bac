//! ASYNC_FLUSH: the log reaches the disk in the background.

use crate::default_message_store::Shared;
use crate::service::{Service, Step};
use std::sync::Arc;
use std::time::Duration;

/// The flusher.
pub(crate) struct FlushRealTimeService {
    shared: Arc<Shared>,
    last_thorough: Duration,
}

impl FlushRealTimeService {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, last_thorough: Duration::ZERO }
    }
}

impl Service for FlushRealTimeService {
    fn name(&self) -> &'static str {
        "FlushRealTime"
    }

    fn step(&mut self) -> Step {
        let flush = &self.shared.config.flush;
        let now = self.shared.env.clock().monotonic();
        let thorough = now.saturating_sub(self.last_thorough)
            >= Duration::from_millis(flush.flush_commit_log_thorough_interval);
        let least_pages = if thorough { 0 } else { flush.flush_commit_log_least_pages };
        if thorough {
            self.last_thorough = now;
        }
        // A failure is noted in the running flags; there is nobody here to tell.
        let _ = self.shared.flush_log(least_pages);
        Step::Wait(Duration::from_millis(flush.flush_interval_commit_log))
    }

    fn finish(&mut self) {
        let _ = self.shared.flush_log(0);
    }
}
