//! Watches how full the disk is, on a thread of its own: a deletion that takes long must not keep writes from being
//! refused in time.

use crate::default_message_store::Shared;
use crate::service::{Service, Step};
use std::sync::Arc;
use std::time::Duration;

/// Between two looks.
const INTERVAL: Duration = Duration::from_secs(1);

/// The watcher.
pub(crate) struct DiskCheckService {
    shared: Arc<Shared>,
}

impl DiskCheckService {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }
}

impl Service for DiskCheckService {
    fn name(&self) -> &'static str {
        "DiskCheck"
    }

    fn step(&mut self) -> Step {
        self.shared.watch_disk();
        Step::Wait(INTERVAL)
    }
}
