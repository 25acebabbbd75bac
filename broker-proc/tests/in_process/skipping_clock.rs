use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use store_core::{Clock, Monotonic, SystemClock, UnixMillis};

/// A wall clock that stands still until it is put forward: what is due later is due when the test says so.
pub struct SkippingClock {
    now: AtomicI64,
    system: SystemClock,
}

impl SkippingClock {
    /// A clock that stands at the machine's time.
    pub fn new() -> Self {
        let system = SystemClock::new();
        Self { now: AtomicI64::new(system.now_millis()), system }
    }

    /// Puts the clock forward.
    pub fn skip(&self, time: Duration) {
        self.now.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for SkippingClock {
    fn now_millis(&self) -> UnixMillis {
        self.now.load(Ordering::SeqCst)
    }

    fn monotonic(&self) -> Monotonic {
        self.system.monotonic()
    }
}
