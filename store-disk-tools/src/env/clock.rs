use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970-01-01 00:00 UTC, the unit of every time in a store file.
pub type UnixMillis = i64;

/// Time since an arbitrary start that never goes back; for intervals.
pub type Monotonic = Duration;

/// Where a store gets its time from.
pub trait Clock: Send + Sync {
    /// Wall clock. May jump when the machine's clock is set.
    fn now_millis(&self) -> UnixMillis;

    /// Never goes back.
    fn monotonic(&self) -> Monotonic;
}

/// The machine's clocks.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// A clock whose monotonic time starts now.
    #[allow(clippy::new_without_default, reason = "a default clock would hide that it reads the time")]
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now_millis(&self) -> UnixMillis {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
        }
    }

    fn monotonic(&self) -> Monotonic {
        self.start.elapsed()
    }
}

/// Hour of the day (0…23) of a time in the machine's time zone; the cleaning schedule is in local hours.
pub fn local_hour(at: UnixMillis) -> u8 {
    let timestamp = jiff::Timestamp::from_millisecond(at).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let hour = jiff::tz::TimeZone::system().to_datetime(timestamp).hour();
    u8::try_from(hour).unwrap_or(0)
}
