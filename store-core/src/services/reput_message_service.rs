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
}

impl ReputMessageService {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, out_of_space: false }
    }
}

impl Service for ReputMessageService {
    fn name(&self) -> &'static str {
        "ReputMessage"
    }

    fn step(&mut self) -> Step {
        match self.shared.dispatch_some() {
            Ok(more) => {
                if std::mem::take(&mut self.out_of_space) {
                    self.shared.flags.release(Hold::DispatchSpace);
                }
                if more { Step::Again } else { Step::Wait(IDLE) }
            }
            Err(error) if error.is_no_space() => {
                self.out_of_space = true;
                let reason = format!("no space for queues or index: {error}");
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
