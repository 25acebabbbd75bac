//! Counters of puts and reads, their rates, and how long they take (`StoreStatsService`).
//!
//! What is told does not depend on when it is asked: rates are between samples, latencies of the last whole window.

use crate::latency_histogram::{LatencyHistogram, LatencyWindow};
use crate::service::{Service, Step};
use crate::sync::{Arc, AtomicU64, Mutex, MutexGuard, Ordering, PoisonError};
use crossbeam::utils::CachePadded;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use store_logic::{Env, UnixMillis, local_hour};

/// Samples kept: ten minutes and one.
const SAMPLES: usize = 601;
/// Spans in seconds over which rates are told.
const SPANS: [usize; 3] = [10, 60, 600];
/// Length of a window of latencies.
const WINDOW: Duration = Duration::from_secs(60);

/// Counters that any thread raises.
#[derive(Debug)]
pub(crate) struct StoreStats {
    boot_timestamp: UnixMillis,
    put_times: CachePadded<AtomicU64>,
    put_bytes: AtomicU64,
    put_failed: AtomicU64,
    put_max_micros: AtomicU64,
    get_found: CachePadded<AtomicU64>,
    get_miss: AtomicU64,
    get_max_micros: AtomicU64,
    transferred: AtomicU64,
    listener_panics: AtomicU64,
    latencies: CachePadded<Latencies<LatencyHistogram>>,
    told: Mutex<Told>,
}

/// One of each kind.
#[derive(Debug, Clone, Copy, Default)]
struct Latencies<T> {
    /// Puts until their answer, so with SYNC_FLUSH until the sync.
    put: T,
    /// Puts until the message is in the log.
    append: T,
    /// Reads.
    get: T,
}

/// What has been taken from the counters.
#[derive(Debug, Default)]
struct Told {
    samples: VecDeque<Sample>,
    /// When the window under way began.
    window_began: Option<Duration>,
    window: Latencies<LatencyWindow>,
    windows: u64,
    last_hour: Option<u8>,
    /// Messages put and read up to the last two midnights.
    today_morning: (u64, u64),
    yesterday_morning: (u64, u64),
}

#[derive(Debug, Clone, Copy, Default)]
struct Sample {
    at: Duration,
    put_times: u64,
    get_found: u64,
    get_miss: u64,
    transferred: u64,
}

fn micros(took: Duration) -> u64 {
    u64::try_from(took.as_micros()).unwrap_or(u64::MAX)
}

impl StoreStats {
    pub(crate) fn new(boot_timestamp: UnixMillis) -> Self {
        Self {
            boot_timestamp,
            put_times: CachePadded::new(AtomicU64::new(0)),
            put_bytes: AtomicU64::new(0),
            put_failed: AtomicU64::new(0),
            put_max_micros: AtomicU64::new(0),
            get_found: CachePadded::new(AtomicU64::new(0)),
            get_miss: AtomicU64::new(0),
            get_max_micros: AtomicU64::new(0),
            transferred: AtomicU64::new(0),
            listener_panics: AtomicU64::new(0),
            latencies: CachePadded::default(),
            told: Mutex::default(),
        }
    }

    /// Messages were stored together, in the log after `took`.
    pub(crate) fn count_put(&self, messages: u64, bytes: u64, took: Duration) {
        self.put_times.fetch_add(messages, Ordering::Relaxed);
        self.put_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.latencies.append.record(took);
    }

    /// A put was answered after `took`.
    pub(crate) fn count_put_answer(&self, took: Duration) {
        self.put_max_micros.fetch_max(micros(took), Ordering::Relaxed);
        self.latencies.put.record(took);
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
        self.get_max_micros.fetch_max(micros(took), Ordering::Relaxed);
        self.latencies.get.record(took);
    }

    /// Whoever is told of arriving messages panicked.
    pub(crate) fn count_listener_panic(&self) {
        self.listener_panics.fetch_add(1, Ordering::Relaxed);
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Takes a sample, ends a window that is over, and notes the totals of a day that has begun.
    pub(crate) fn take_sample(&self, at: Duration, hour: u8) {
        let sample = self.sample(at);
        let mut told = self.told();
        if told.samples.len() == SAMPLES {
            told.samples.pop_front();
        }
        told.samples.push_back(sample);
        let began = *told.window_began.get_or_insert(at);
        if at.saturating_sub(began) >= WINDOW {
            let running = &self.latencies;
            told.window =
                Latencies { put: running.put.take(), append: running.append.take(), get: running.get.take() };
            told.windows += 1;
            told.window_began = Some(at);
        }
        if hour == 0 && told.last_hour.is_some_and(|last| last != 0) {
            told.yesterday_morning = told.today_morning;
            told.today_morning = (sample.put_times, sample.transferred);
        }
        told.last_hour = Some(hour);
    }

    /// Apache's keys, and those of this store (`docs/RUNTIME_FIGURES.md`).
    pub(crate) fn runtime_info(&self, env: &Env, info: &mut BTreeMap<String, String>) {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (puts, bytes) = (count(&self.put_times), count(&self.put_bytes));
        let told = self.told();
        let window = &told.window;
        let mut set = |key: &str, value: String| {
            info.insert(key.to_owned(), value);
        };
        set("bootTimestamp", self.boot_timestamp.to_string());
        set("runtime", runtime_text(env.now_millis() - self.boot_timestamp));
        set("putMessageEntireTimeMax", (count(&self.put_max_micros) / 1000).to_string());
        set("putMessageTimesTotal", puts.max(1).to_string());
        set("putMessageFailedTimes", count(&self.put_failed).to_string());
        set("putMessageSizeTotal", bytes.to_string());
        set("putMessageAverageSize", (bytes as f64 / puts.max(1) as f64).to_string());
        set("dispatchMaxBuffer", "0".to_owned());
        set("arrivalPanics", count(&self.listener_panics).to_string());
        set("getMessageEntireTimeMax", (count(&self.get_max_micros) / 1000).to_string());
        set("putTps", told.rates(|sample| sample.put_times));
        set("getFoundTps", told.rates(|sample| sample.get_found));
        set("getMissTps", told.rates(|sample| sample.get_miss));
        set("getTotalTps", told.rates(|sample| sample.get_found + sample.get_miss));
        set("getTransferredTps", told.rates(|sample| sample.transferred));
        set("msgPutTotalTodayNow", puts.to_string());
        set("msgGetTotalTodayNow", count(&self.transferred).to_string());
        set("msgPutTotalTodayMorning", told.today_morning.0.to_string());
        set("msgGetTotalTodayMorning", told.today_morning.1.to_string());
        set("msgPutTotalYesterdayMorning", told.yesterday_morning.0.to_string());
        set("msgGetTotalYesterdayMorning", told.yesterday_morning.1.to_string());
        set("putMessageDistributeTime", window.put.java_distribution());
        set("latencyWindows", told.windows.to_string());
        for (name, latency) in [("put", &window.put), ("append", &window.append), ("get", &window.get)] {
            set(&format!("{name}LatencyCount"), latency.total().to_string());
            set(&format!("{name}Latency50"), latency.per_mille(500));
            set(&format!("{name}Latency99"), latency.per_mille(990));
            set(&format!("{name}Latency999"), latency.per_mille(999));
            set(&format!("{name}LatencyDistribution"), latency.distribution());
        }
    }
}

impl Told {
    /// `"<10 s> <1 min> <10 min>"`, per second, up to the last sample; shorter spans at the beginning.
    fn rates(&self, counter: impl Fn(&Sample) -> u64) -> String {
        let newest = self.samples.back().copied().unwrap_or_default();
        let rate = |span: usize| {
            let oldest =
                self.samples.get(self.samples.len().saturating_sub(span + 1)).copied().unwrap_or_default();
            let seconds = newest.at.saturating_sub(oldest.at).as_secs_f64();
            let count = counter(&newest).saturating_sub(counter(&oldest)) as f64;
            if seconds > 0.0 { count / seconds } else { 0.0 }
        };
        SPANS.map(|span| format!("{}", rate(span))).join(" ")
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
        let now = self.env.clock().monotonic();
        self.stats.take_sample(now, local_hour(self.env.now_millis()));
        Step::Wait(Duration::from_secs(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(stats: &StoreStats) -> BTreeMap<String, String> {
        let mut info = BTreeMap::new();
        stats.runtime_info(&Env::os(), &mut info);
        info
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn all_keys_are_there_from_the_first_second() {
        let stats = StoreStats::new(Env::os().now_millis() - 93_784_000);
        let empty = info(&stats);
        assert_eq!(empty["putTps"], "0 0 0");
        assert_eq!(empty["putLatency99"], "0.00");
        stats.count_put(3, 300, Duration::from_micros(20));
        stats.count_get(2, Duration::ZERO);
        stats.count_get(0, Duration::ZERO);
        let info = info(&stats);
        assert_eq!(info["putMessageTimesTotal"], "3");
        assert_eq!(info["putMessageAverageSize"], "100");
        assert_eq!(info["runtime"], "[ 1 days, 2 hours, 3 minutes, 4 seconds ]");
        assert!(info.keys().eq(empty.keys()));
    }

    #[test]
    fn field_F100_whole_windows_are_told_whenever_one_asks() {
        let stats = StoreStats::new(0);
        stats.take_sample(seconds(0), 1);
        let put = |millis| {
            stats.count_put(10, 1000, Duration::from_micros(7));
            stats.count_put_answer(Duration::from_millis(millis));
        };
        (0..100).for_each(|number| put(if number < 98 { 4 } else { 40 }));
        let before = info(&stats);
        assert_eq!(before["putLatencyCount"], "0", "no window is over");
        assert_eq!(before["putMessageTimesTotal"], "1000", "a batch of ten counts ten");
        stats.take_sample(seconds(59), 1);
        assert_eq!(info(&stats)["latencyWindows"], "0");
        stats.take_sample(seconds(60), 1);
        let told = info(&stats);
        assert_eq!((told["latencyWindows"].as_str(), told["putLatencyCount"].as_str()), ("1", "100"));
        assert_eq!((told["putLatency50"].as_str(), told["putLatency99"].as_str()), ("5.00", "50.00"));
        assert_eq!(told["appendLatency999"], "0.01");
        assert!(told["putMessageDistributeTime"].starts_with("[<=0ms]:0 [0~10ms]:98 [10~50ms]:2 "));
        for second in 61..119 {
            put(900);
            stats.take_sample(seconds(second), 1);
            let again = info(&stats);
            for key in
                ["putLatency99", "putMessageDistributeTime", "putLatencyDistribution", "latencyWindows"]
            {
                assert_eq!(again[key], told[key], "{key} after {second} s");
            }
        }
        stats.take_sample(seconds(120), 1);
        assert_eq!(
            (info(&stats)["putLatencyCount"].as_str(), info(&stats)["putLatency50"].as_str()),
            ("58", "1000.00")
        );
    }

    #[test]
    fn rates_are_between_samples() {
        let stats = StoreStats::new(0);
        for second in 0..=70 {
            stats.take_sample(seconds(second), 1);
            stats.count_put(if second < 60 { 100 } else { 10 }, 0, Duration::ZERO);
        }
        assert_eq!(info(&stats)["putTps"].split(' ').next(), Some("10"));
        assert_eq!(info(&stats)["putTps"].split(' ').nth(1), Some("85"), "ten seconds at 10, fifty at 100");
    }

    #[test]
    fn a_day_begins_at_midnight() {
        let stats = StoreStats::new(0);
        stats.take_sample(seconds(0), 23);
        stats.count_put(5, 0, Duration::ZERO);
        stats.take_sample(seconds(1), 0);
        stats.count_put(2, 0, Duration::ZERO);
        stats.take_sample(seconds(2), 0);
        let day = info(&stats);
        assert_eq!(
            (day["msgPutTotalTodayMorning"].as_str(), day["msgPutTotalTodayNow"].as_str()),
            ("5", "7")
        );
        stats.take_sample(seconds(3), 23);
        stats.take_sample(seconds(4), 0);
        let day = info(&stats);
        assert_eq!(
            (day["msgPutTotalYesterdayMorning"].as_str(), day["msgPutTotalTodayMorning"].as_str()),
            ("5", "7")
        );
    }
}
