//! Counters of puts and reads, and their rates (`StoreStatsService`).

use crate::service::{Service, Step};
use crossbeam::utils::CachePadded;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use store_logic::{Env, UnixMillis};

/// Samples kept: ten minutes and one.
const SAMPLES: usize = 601;
/// Spans in seconds over which rates are told.
const SPANS: [usize; 3] = [10, 60, 600];
/// Upper bounds of the put latency buckets in microseconds; the last bucket is open.
const LATENCY_BOUNDS: [u64; 12] =
    [1, 10, 50, 100, 500, 1_000, 5_000, 10_000, 50_000, 100_000, 500_000, 1_000_000];

/// Counters that any thread raises.
#[derive(Debug)]
pub(crate) struct StoreStats {
    boot_timestamp: UnixMillis,
    put_times: CachePadded<AtomicU64>,
    put_bytes: AtomicU64,
    put_failed: AtomicU64,
    put_max_micros: AtomicU64,
    put_latency: [AtomicU64; LATENCY_BOUNDS.len() + 1],
    get_found: CachePadded<AtomicU64>,
    get_miss: AtomicU64,
    get_max_micros: AtomicU64,
    transferred: AtomicU64,
    samples: Mutex<VecDeque<Sample>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sample {
    at: Duration,
    put_times: u64,
    get_found: u64,
    get_miss: u64,
    transferred: u64,
}

impl StoreStats {
    pub(crate) fn new(boot_timestamp: UnixMillis) -> Self {
        Self {
            boot_timestamp,
            put_times: CachePadded::new(AtomicU64::new(0)),
            put_bytes: AtomicU64::new(0),
            put_failed: AtomicU64::new(0),
            put_max_micros: AtomicU64::new(0),
            put_latency: std::array::from_fn(|_| AtomicU64::new(0)),
            get_found: CachePadded::new(AtomicU64::new(0)),
            get_miss: AtomicU64::new(0),
            get_max_micros: AtomicU64::new(0),
            transferred: AtomicU64::new(0),
            samples: Mutex::new(VecDeque::new()),
        }
    }

    /// Messages were stored.
    pub(crate) fn count_put(&self, messages: u64, bytes: u64, took: Duration) {
        self.put_times.fetch_add(messages, Ordering::Relaxed);
        self.put_bytes.fetch_add(bytes, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.put_max_micros.fetch_max(micros, Ordering::Relaxed);
        let bucket = LATENCY_BOUNDS.partition_point(|bound| *bound < micros);
        self.put_latency[bucket].fetch_add(1, Ordering::Relaxed);
    }

    /// A put was refused.
    pub(crate) fn count_put_failed(&self) {
        self.put_failed.fetch_add(1, Ordering::Relaxed);
    }

    /// A read was answered with so many messages.
    pub(crate) fn count_get(&self, messages: u64, took: Duration) {
        if messages > 0 {
            self.get_found.fetch_add(1, Ordering::Relaxed);
            self.transferred.fetch_add(messages, Ordering::Relaxed);
        } else {
            self.get_miss.fetch_add(1, Ordering::Relaxed);
        }
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.get_max_micros.fetch_max(micros, Ordering::Relaxed);
    }

    fn sample(&self, at: Duration) -> Sample {
        Sample {
            at,
            put_times: self.put_times.load(Ordering::Relaxed),
            get_found: self.get_found.load(Ordering::Relaxed),
            get_miss: self.get_miss.load(Ordering::Relaxed),
            transferred: self.transferred.load(Ordering::Relaxed),
        }
    }

    fn take_sample(&self, at: Duration) {
        let sample = self.sample(at);
        let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        samples.push_back(sample);
        if samples.len() > SAMPLES {
            samples.pop_front();
        }
    }

    /// `"<10 s> <1 min> <10 min>"`, per second.
    fn rates(&self, now: Duration, counter: impl Fn(&Sample) -> u64) -> String {
        let samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = self.sample(now);
        let rate = |span: usize| {
            let oldest = samples.get(samples.len().saturating_sub(span)).copied().unwrap_or_default();
            let seconds = newest.at.saturating_sub(oldest.at).as_secs_f64();
            let count = counter(&newest).saturating_sub(counter(&oldest)) as f64;
            if seconds > 0.0 { count / seconds } else { 0.0 }
        };
        SPANS.map(|span| format!("{}", rate(span))).join(" ")
    }

    /// Upper bound in milliseconds of the latency that so many in a thousand puts stayed below.
    fn latency_per_mille(&self, per_mille: u64) -> String {
        let counts: Vec<u64> = self.put_latency.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        let total: u64 = counts.iter().sum();
        let wanted = (total * per_mille).div_ceil(1000);
        let mut seen = 0;
        for (count, bound) in counts.iter().zip(LATENCY_BOUNDS) {
            seen += count;
            if seen >= wanted && total > 0 {
                return format!("{}", bound as f64 / 1000.0);
            }
        }
        let slowest = self.put_max_micros.load(Ordering::Relaxed) as f64 / 1000.0;
        format!("{slowest}")
    }

    /// Apache's keys.
    pub(crate) fn runtime_info(&self, env: &Env, info: &mut BTreeMap<String, String>) {
        let now = env.clock().monotonic();
        let puts = self.put_times.load(Ordering::Relaxed);
        let bytes = self.put_bytes.load(Ordering::Relaxed);
        let mut set = |key: &str, value: String| {
            info.insert(key.to_owned(), value);
        };
        set("bootTimestamp", self.boot_timestamp.to_string());
        set("runtime", runtime_text(env.now_millis() - self.boot_timestamp));
        set("putMessageEntireTimeMax", (self.put_max_micros.load(Ordering::Relaxed) / 1000).to_string());
        set("putMessageTimesTotal", puts.max(1).to_string());
        set("putMessageFailedTimes", self.put_failed.load(Ordering::Relaxed).to_string());
        set("putMessageSizeTotal", bytes.to_string());
        set("putMessageDistributeTime", self.distribution());
        set("putMessageAverageSize", (bytes as f64 / puts.max(1) as f64).to_string());
        set("dispatchMaxBuffer", "0".to_owned());
        set("getMessageEntireTimeMax", (self.get_max_micros.load(Ordering::Relaxed) / 1000).to_string());
        set("putTps", self.rates(now, |sample| sample.put_times));
        set("getFoundTps", self.rates(now, |sample| sample.get_found));
        set("getMissTps", self.rates(now, |sample| sample.get_miss));
        set("getTotalTps", self.rates(now, |sample| sample.get_found + sample.get_miss));
        set("getTransferredTps", self.rates(now, |sample| sample.transferred));
        set("putLatency99", self.latency_per_mille(990));
        set("putLatency999", self.latency_per_mille(999));
    }

    fn distribution(&self) -> String {
        let mut text = String::new();
        let bounds = LATENCY_BOUNDS.iter().map(|bound| format!("<={bound}us")).chain(["more".to_owned()]);
        for (bound, count) in bounds.zip(&self.put_latency) {
            text.push_str(&format!("[{bound}]:{} ", count.load(Ordering::Relaxed)));
        }
        text
    }
}

/// `[ 1 days, 2 hours, 3 minutes, 4 seconds ]`.
fn runtime_text(millis: i64) -> String {
    let seconds = millis.max(0) / 1000;
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    format!("[ {days} days, {hours} hours, {} minutes, {} seconds ]", seconds / 60 % 60, seconds % 60)
}

/// Takes the samples.
pub(crate) struct StoreStatsService {
    stats: Arc<StoreStats>,
    env: Env,
}

impl StoreStatsService {
    pub(crate) fn new(stats: Arc<StoreStats>, env: Env) -> Self {
        Self { stats, env }
    }
}

impl Service for StoreStatsService {
    fn name(&self) -> &'static str {
        "StoreStats"
    }

    fn step(&mut self) -> Step {
        self.stats.take_sample(self.env.clock().monotonic());
        Step::Wait(Duration::from_secs(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keys_are_there_from_the_first_second() {
        let env = Env::os();
        let stats = StoreStats::new(env.now_millis() - 93_784_000);
        stats.count_put(3, 300, Duration::from_micros(20));
        stats.count_get(2, Duration::ZERO);
        stats.count_get(0, Duration::ZERO);
        let mut info = BTreeMap::new();
        stats.runtime_info(&env, &mut info);
        assert_eq!(info["putMessageTimesTotal"], "3");
        assert_eq!(info["putMessageAverageSize"], "100");
        assert_eq!(info["runtime"], "[ 1 days, 2 hours, 3 minutes, 4 seconds ]");
        assert_eq!(info["putLatency99"], "0.05");
        assert_eq!(info["putTps"].split(' ').count(), 3);
    }
}
