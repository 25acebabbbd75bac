//! Index files that became full reach the disk, and the checkpoint says so.

use crate::service::{Service, Step, Wakeup};
use crossbeam::channel::{Receiver, Sender, unbounded};
use std::sync::Arc;
use std::time::Duration;
use store_logic::Result;
use store_logic::index_file::IndexFile;
use store_logic::store_checkpoint::StoreCheckpoint;

/// Rest without full files; one wakes the service.
const IDLE: Duration = Duration::from_secs(3600);

/// Where the dispatcher puts files it has filled.
#[derive(Debug)]
pub(crate) struct ClosedIndexFiles {
    sender: Sender<Arc<IndexFile>>,
    wakeup: Wakeup,
}

impl ClosedIndexFiles {
    /// Hands a full file over. Without a service (before the start, after the stop) it is flushed with all others.
    pub(crate) fn push(&self, file: Arc<IndexFile>) {
        if self.sender.send(file).is_ok() {
            self.wakeup.wake();
        }
    }
}

/// The flusher.
pub(crate) struct IndexService {
    closed: Receiver<Arc<IndexFile>>,
    checkpoint: Arc<StoreCheckpoint>,
}

/// Both sides.
pub(crate) fn index_service(
    checkpoint: Arc<StoreCheckpoint>,
    wakeup: Wakeup,
) -> (ClosedIndexFiles, IndexService) {
    let (sender, closed) = unbounded();
    (ClosedIndexFiles { sender, wakeup }, IndexService { closed, checkpoint })
}

impl IndexService {
    fn make_durable(&self, file: &IndexFile) -> Result<()> {
        file.flush()?;
        self.checkpoint.set_index_msg_timestamp(file.header()?.end_timestamp)?;
        self.checkpoint.flush()
    }
}

impl Service for IndexService {
    fn name(&self) -> &'static str {
        "Index"
    }

    fn step(&mut self) -> Step {
        let Ok(file) = self.closed.try_recv() else { return Step::Wait(IDLE) };
        if let Err(error) = self.make_durable(&file) {
            // The index can be built again from the log; the checkpoint does not vouch for this file.
            tracing::error!(%error, "an index file did not reach the disk");
        }
        Step::Again
    }
}
