use crate::env::{Clock, Monotonic, UnixMillis};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// A clock that stands still until told otherwise. Clones show the same time.
#[derive(Debug, Clone)]
pub struct SimClock {
    now: Arc<AtomicI64>,
}

impl SimClock {
    /// A clock that shows `now`.
    pub fn new(now: UnixMillis) -> Self {
        Self { now: Arc::new(AtomicI64::new(now)) }
    }

    /// Lets time pass.
    pub fn pass(&self, time: Duration) {
        let millis = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        self.now.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for SimClock {
    fn now_millis(&self) -> UnixMillis {
        self.now.load(Ordering::SeqCst)
    }

    fn monotonic(&self) -> Monotonic {
        Duration::from_millis(u64::try_from(self.now_millis()).unwrap_or(0))
    }
}
