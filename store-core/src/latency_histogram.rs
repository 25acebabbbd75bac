//! How long calls take: counted in buckets by any thread, told for whole windows.

use crate::sync::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the buckets in microseconds. One more bucket holds what is longer.
const BOUNDS: [u64; 25] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000,
    500_000, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000, 10_000_000, 20_000_000,
];
const BUCKETS: usize = BOUNDS.len() + 1;

/// Apache's buckets of `putMessageDistributeTime`: name and upper bound in microseconds.
const JAVA_BUCKETS: [(&str, u64); 13] = [
    ("<=0ms", 1_000),
    ("0~10ms", 10_000),
    ("10~50ms", 50_000),
    ("50~100ms", 100_000),
    ("100~200ms", 200_000),
    ("200~500ms", 500_000),
    ("500ms~1s", 1_000_000),
    ("1~2s", 2_000_000),
    ("2~3s", 3_000_000),
    ("3~4s", 4_000_000),
    ("4~5s", 5_000_000),
    ("5~10s", 10_000_000),
    ("10s~", u64::MAX),
];

/// Counts of the window under way.
#[derive(Debug)]
pub(crate) struct LatencyHistogram {
    counts: [AtomicU64; BUCKETS],
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self { counts: std::array::from_fn(|_| AtomicU64::new(0)) }
    }
}

impl LatencyHistogram {
    /// Counts a call.
    pub(crate) fn record(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS.partition_point(|bound| *bound < micros);
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the window and begins the next. Each call is in one of the two.
    pub(crate) fn take(&self) -> LatencyWindow {
        LatencyWindow { counts: std::array::from_fn(|bucket| self.counts[bucket].swap(0, Ordering::Relaxed)) }
    }
}

/// Counts of a window that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LatencyWindow {
    counts: [u64; BUCKETS],
}

impl Default for LatencyWindow {
    fn default() -> Self {
        Self { counts: [0; BUCKETS] }
    }
}

impl LatencyWindow {
    /// Calls counted.
    pub(crate) fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Milliseconds that so many in a thousand calls stayed within, as an upper bound with two decimals (Apache's form);
    /// `0.00` without calls.
    pub(crate) fn per_mille(&self, per_mille: u64) -> String {
        let wanted = (self.total() * per_mille).div_ceil(1000);
        let mut seen = 0;
        let within = self.counts.iter().zip(BOUNDS.iter().chain(BOUNDS.last())).find(|(count, _)| {
            seen += **count;
            seen >= wanted
        });
        let micros = within.filter(|_| wanted > 0).map_or(0, |(_, bound)| *bound);
        format!("{:.2}", micros as f64 / 1000.0)
    }

    /// Apache's text: `[<=0ms]:2 [0~10ms]:1 … [10s~]:0 `.
    pub(crate) fn java_distribution(&self) -> String {
        let mut text = String::new();
        let mut bucket = 0;
        for (name, limit) in JAVA_BUCKETS {
            let mut count = 0;
            while bucket < BUCKETS && upper(bucket) <= limit {
                count += self.counts[bucket];
                bucket += 1;
            }
            text.push_str(&format!("[{name}]:{count} "));
        }
        text
    }

    /// Every bucket: `<=1us:0 <=2us:7 … >20000000us:0`.
    pub(crate) fn distribution(&self) -> String {
        let names =
            BOUNDS.iter().map(|bound| format!("<={bound}us")).chain([format!(">{}us", BOUNDS[BUCKETS - 2])]);
        let buckets: Vec<_> = names.zip(self.counts).map(|(name, count)| format!("{name}:{count}")).collect();
        buckets.join(" ")
    }
}

/// Upper bound of a bucket in microseconds.
fn upper(bucket: usize) -> u64 {
    BOUNDS.get(bucket).copied().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(micros: &[u64]) -> LatencyWindow {
        let histogram = LatencyHistogram::default();
        micros.iter().for_each(|micros| histogram.record(Duration::from_micros(*micros)));
        let window = histogram.take();
        assert_eq!(histogram.take(), LatencyWindow::default(), "the next window begins empty");
        window
    }

    #[test]
    fn every_call_is_in_one_bucket_of_each_form() {
        let window =
            window(&[0, 1, 999, 1_000, 1_001, 10_000, 10_001, 49_000, 1_500_000, 11_000_000, 25_000_000]);
        assert_eq!(window.total(), 11);
        assert_eq!(
            window.java_distribution(),
            "[<=0ms]:4 [0~10ms]:2 [10~50ms]:2 [50~100ms]:0 [100~200ms]:0 [200~500ms]:0 [500ms~1s]:0 [1~2s]:1 \
             [2~3s]:0 [3~4s]:0 [4~5s]:0 [5~10s]:0 [10s~]:2 "
        );
        let counts = window.distribution();
        assert!(
            counts.starts_with("<=1us:2 <=2us:0 ") && counts.ends_with("<=20000000us:1 >20000000us:1"),
            "{counts}"
        );
    }

    #[test]
    fn shares_are_upper_bounds() {
        let mut micros = vec![15; 989];
        micros.extend([3_000; 10]);
        micros.push(30_000_000);
        let window = window(&micros);
        assert_eq!(
            [500, 989, 990, 999, 1000].map(|share| window.per_mille(share)),
            ["0.02", "0.02", "5.00", "5.00", "20000.00"]
        );
        assert_eq!(LatencyWindow::default().per_mille(990), "0.00");
    }
}
