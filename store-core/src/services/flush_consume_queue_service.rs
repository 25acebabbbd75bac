//! Queues reach the disk in the background; the checkpoint follows what is known to be there. Also notices memory that
//! could not be delivered.

use crate::default_message_store::Shared;
use crate::service::{Service, Step};
use std::sync::Arc;
use std::time::Duration;

/// The flusher.
pub(crate) struct FlushConsumeQueueService {
    shared: Arc<Shared>,
    last_thorough: Duration,
}

impl FlushConsumeQueueService {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let last_thorough = shared.env.clock().monotonic();
        Self { shared, last_thorough }
    }
}

impl Service for FlushConsumeQueueService {
    fn name(&self) -> &'static str {
        "FlushConsumeQueue"
    }

    fn step(&mut self) -> Step {
        self.shared.check_mappings();
        let config = &self.shared.config.consume_queue;
        let now = self.shared.env.clock().monotonic();
        let thorough = now.saturating_sub(self.last_thorough)
            >= Duration::from_millis(config.flush_consume_queue_thorough_interval);
        let flushed = if thorough {
            self.last_thorough = now;
            self.shared.flush_queues_thoroughly()
        } else {
            self.shared.flush_queues(config.flush_consume_queue_least_pages)
        };
        if let Err(error) = flushed.and_then(|()| self.shared.flush_checkpoint()) {
            self.shared.flags.fail(error.to_string());
        }
        Step::Wait(Duration::from_millis(config.flush_interval_consume_queue))
    }
}
