//! A disk whose level and a clock whose time the test decides.

use super::roomy_disk::RoomyDisk;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use store_logic::{Clock, Env, SystemEntropy, UnixMillis};

/// Noon of some day.
const BEGIN: UnixMillis = 1_700_000_000_000;

/// What the test decides. Every file was last changed at the beginning.
#[derive(Clone)]
pub(super) struct World {
    now: Arc<AtomicI64>,
    pub(super) disk: Arc<RoomyDisk>,
}

impl World {
    pub(super) fn new() -> Self {
        Self { now: Arc::new(BEGIN.into()), disk: Arc::new(RoomyDisk::with_all_modified(BEGIN)) }
    }

    pub(super) fn env(&self) -> Env {
        Env::new(Arc::clone(&self.disk) as _, Arc::new(self.clone()), Arc::new(SystemEntropy))
    }

    pub(super) fn now(&self) -> i64 {
        self.now.load(Ordering::SeqCst)
    }

    pub(super) fn set_now(&self, now: i64) {
        self.now.store(now, Ordering::SeqCst);
    }

    pub(super) fn pass(&self, time: Duration) {
        self.now.fetch_add(time.as_millis() as i64, Ordering::SeqCst);
    }
}

impl Clock for World {
    fn now_millis(&self) -> UnixMillis {
        self.now()
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.now() as u64)
    }
}
