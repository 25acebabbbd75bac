//! Queues and index follow the beginning of the log.

use crate::default_message_store::Shared;
use crate::service::{Service, Step};
use std::sync::Arc;
use std::time::Duration;

/// The cleaner.
pub(crate) struct CleanConsumeQueueService {
    shared: Arc<Shared>,
    last_log_min: u64,
}

impl CleanConsumeQueueService {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        // The first step catches up with what a crash kept from being done.
        Self { shared, last_log_min: 0 }
    }
}

impl Service for CleanConsumeQueueService {
    fn name(&self) -> &'static str {
        "CleanConsumeQueue"
    }

    fn step(&mut self) -> Step {
        let log_min = self.shared.log.min_offset();
        if log_min > self.last_log_min {
            self.last_log_min = log_min;
            match self.shared.clean_derived(log_min) {
                Ok((queue_files, index_files)) => {
                    tracing::info!(log_min, queue_files, index_files, "queues and index follow the log");
                }
                // The files stay and are tried again with the next log file.
                Err(error) => tracing::warn!(%error, "could not clean behind the log"),
            }
        }
        Step::Wait(Duration::from_millis(self.shared.config.clean.clean_resource_interval))
    }
}
