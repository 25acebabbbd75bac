//! Queues and index follow the beginning of the log (`CleanConsumeQueueService`).

use crate::default_message_store::Shared;
use crate::service::{Service, Step};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use store_logic::{QueueHandle, Result};

/// The cleaner. First the smallest offsets of all queues follow, for that is what consumers see; then files go, queue by
/// queue with a pause behind each that lost some, and at last index files.
pub(crate) struct CleanConsumeQueueService {
    shared: Arc<Shared>,
    /// Beginning of the log that queues and index have followed.
    followed: u64,
    round: Option<Round>,
}

/// A round under way.
struct Round {
    log_min: u64,
    /// Queues whose files are still to be looked at.
    queues: VecDeque<Arc<QueueHandle>>,
    queue_files: usize,
}

impl CleanConsumeQueueService {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        // The first step catches up with what a crash kept from being done.
        Self { shared, followed: 0, round: None }
    }

    fn begin(&self, log_min: u64) -> Round {
        let queues = VecDeque::from(self.shared.queues.all());
        for handle in &queues {
            handle.queue.correct_min_offset(log_min);
        }
        Round { log_min, queues, queue_files: 0 }
    }

    /// Goes on with a round up to the next pause; false at its end.
    fn go_on(&mut self, round: &mut Round) -> Result<bool> {
        while let Some(handle) = round.queues.pop_front() {
            let deleted = handle.queue.delete_expired(round.log_min)?;
            if deleted > 0 {
                round.queue_files += deleted;
                return Ok(true);
            }
        }
        let index = self.shared.index.as_ref();
        let index_files = index.map_or(Ok(0), |index| index.delete_expired(round.log_min))?;
        tracing::info!(
            log_min = round.log_min,
            queue_files = round.queue_files,
            index_files,
            "queues and index follow the log"
        );
        self.followed = round.log_min;
        Ok(false)
    }
}

impl Service for CleanConsumeQueueService {
    fn name(&self) -> &'static str {
        "CleanConsumeQueue"
    }

    fn step(&mut self) -> Step {
        let rest = Duration::from_millis(self.shared.config.clean.clean_resource_interval);
        let log_min = self.shared.log.min_offset();
        let Some(mut round) =
            self.round.take().or_else(|| (log_min > self.followed).then(|| self.begin(log_min)))
        else {
            return Step::Wait(rest);
        };
        match self.go_on(&mut round) {
            Ok(true) => {
                self.round = Some(round);
                Step::Wait(Duration::from_millis(
                    self.shared.config.clean.delete_consume_queue_files_interval,
                ))
            }
            Ok(false) => Step::Wait(rest),
            Err(error) => {
                tracing::warn!(%error, "could not clean behind the log; trying again");
                Step::Wait(rest)
            }
        }
    }
}
