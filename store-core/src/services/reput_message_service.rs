//! Dispatch: reads the log behind the writer and feeds what is derived from it.

use crate::default_message_store::Shared;
use crate::running_flags::Hold;
use crate::service::{Service, Step};
use std::sync::Arc;
use std::time::Duration;

/// Rest at the end of the log; puts wake the service.
const IDLE: Duration = Duration::from_millis(500);
/// Rest when a record could not be dispatched, before it is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// The dispatcher.
pub(crate) struct ReputMessageService {
    shared: Arc<Shared>,
    /// The last record could not be dispatched for lack of space.
    out_of_space: bool,
    /// When an index that is behind is tried again, of the monotonic clock.
    index_again_at: Duration,
}

impl ReputMessageService {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, out_of_space: false, index_again_at: Duration::ZERO }
    }

    /// Lets an index that is behind catch up by a piece; true when there is more to do at once.
    fn catch_up_index(&mut self) -> bool {
        if !self.shared.is_index_behind() {
            return false;
        }
        let now = self.shared.env.clock().monotonic();
        if now < self.index_again_at {
            return false;
        }
        self.shared.index_some().unwrap_or_else(|error| {
            tracing::warn!(%error, "the index still cannot be written");
            self.index_again_at = now + RETRY;
            false
        })
    }
}

impl Service for ReputMessageService {
    fn name(&self) -> &'static str {
        "ReputMessage"
    }

    fn step(&mut self) -> Step {
        let index_is_late = self.catch_up_index();
        match self.shared.dispatch_some() {
            Ok(more) => {
                if std::mem::take(&mut self.out_of_space) {
                    self.shared.flags.release(Hold::DispatchSpace);
                }
                if more || index_is_late { Step::Again } else { Step::Wait(IDLE) }
            }
            Err(error) if error.is_no_space() => {
                self.out_of_space = true;
                let reason = format!("no space for queues: {error}");
                self.shared.flags.hold(Hold::DispatchSpace, reason);
                Step::Wait(RETRY)
            }
            Err(error) => {
                self.shared.flags.fail(format!("dispatch failed: {error}"));
                Step::Wait(RETRY)
            }
        }
    }

    fn finish(&mut self) {
        while let Ok(true) = self.shared.dispatch_some() {}
    }
}
