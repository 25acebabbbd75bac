//! Latencies with three digits each, however many there are.

use hdrhistogram::Histogram;
use std::time::Duration;

/// Longer ones count as this.
const GREATEST: Duration = Duration::from_secs(600);
/// Digits that are kept.
const DIGITS: u8 = 3;
/// Shares of all latencies that are told, with their names.
const MARKS: [(&str, f64); 3] = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)];

/// Latencies of one thread or of several.
#[derive(Debug, Clone)]
pub(super) struct Latencies {
    nanos: Histogram<u64>,
}

impl Latencies {
    /// None yet.
    pub(super) fn new() -> Self {
        // The bounds are constants that fit each other.
        let nanos = Histogram::new_with_bounds(1, GREATEST.as_nanos() as u64, DIGITS);
        Self { nanos: nanos.expect("constant bounds") }
    }

    /// One more.
    pub(super) fn record(&mut self, latency: Duration) {
        self.nanos.saturating_record(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Those of another thread as well.
    pub(super) fn add(&mut self, other: &Self) {
        // Equal bounds always fit.
        let _ = self.nanos.add(&other.nanos);
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        self.nanos.len()
    }

    /// Names and microseconds: p50, p99, p99.9, max.
    pub(super) fn marks(&self) -> [(&'static str, f64); 4] {
        let micros = |nanos: u64| nanos as f64 / 1000.0;
        let [p50, p99, p999] = MARKS.map(|(name, share)| (name, micros(self.nanos.value_at_quantile(share))));
        [p50, p99, p999, ("max", micros(self.nanos.max()))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_a_thousand_latencies() {
        let (mut low, mut high) = (Latencies::new(), Latencies::new());
        for micros in 1..=500 {
            low.record(Duration::from_micros(micros));
            high.record(Duration::from_micros(micros + 500));
        }
        low.add(&high);
        assert_eq!(low.count(), 1000);
        let expected = [("p50", 500.0), ("p99", 990.0), ("p99.9", 999.0), ("max", 1000.0)];
        for ((name, found), (expected_name, expected)) in low.marks().into_iter().zip(expected) {
            assert_eq!(name, expected_name);
            assert!((found - expected).abs() <= expected / 500.0, "{name}: {found}");
        }
    }

    #[test]
    fn what_takes_for_ever_counts_as_the_greatest() {
        let mut latencies = Latencies::new();
        latencies.record(Duration::MAX);
        assert!(latencies.marks()[3].1 >= 5.99e8);
    }
}
