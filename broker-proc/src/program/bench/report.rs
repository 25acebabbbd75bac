//! What a work found: figures with their limits, and checks.

mod table;

use super::histogram::Latencies;
use super::machine::Machine;
use serde::Serialize;
use std::fmt::Display;

/// Figures and checks of one work.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// Name of the work, as on the command line.
    work: &'static str,
    /// What it was told, in order.
    settings: Vec<Setting>,
    machine: Machine,
    figures: Vec<Figure>,
    checks: Vec<Check>,
    /// What the reader should know besides.
    notes: Vec<String>,
}

/// One setting of a run.
#[derive(Debug, Serialize)]
struct Setting {
    name: &'static str,
    value: String,
}

/// One figure, and what the machine allows.
#[derive(Debug, Serialize)]
pub(super) struct Figure {
    name: String,
    value: f64,
    unit: &'static str,
    limits: Vec<Limit>,
}

/// A limit of the same unit, measured in the same run.
#[derive(Debug, Serialize)]
struct Limit {
    name: String,
    value: f64,
    /// The figure over the limit; absent when the limit is zero.
    ratio: Option<f64>,
}

/// A result that has to be right.
#[derive(Debug, Serialize)]
struct Check {
    name: String,
    expected: String,
    found: String,
    right: bool,
}

impl Figure {
    /// A figure without limits yet.
    pub(super) fn new(name: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self { name: name.into(), value, unit, limits: Vec::new() }
    }

    /// The figure with one more limit.
    #[must_use]
    pub(super) fn with_limit(mut self, name: impl Into<String>, value: f64) -> Self {
        let ratio = (value > 0.0).then(|| self.value / value);
        self.limits.push(Limit { name: name.into(), value, ratio });
        self
    }
}

impl Report {
    /// An empty report of a work on the disk of `machine`.
    pub(super) fn new(work: &'static str, machine: Machine) -> Self {
        Self {
            work,
            settings: Vec::new(),
            machine,
            figures: Vec::new(),
            checks: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Tells a setting.
    pub(super) fn setting(&mut self, name: &'static str, value: impl Display) {
        self.settings.push(Setting { name, value: value.to_string() });
    }

    /// Adds a figure.
    pub(super) fn figure(&mut self, figure: Figure) {
        self.figures.push(figure);
    }

    /// Adds p50, p99, p99.9 and the greatest of some latencies, in microseconds, beside those of a limit.
    pub(super) fn latencies(&mut self, name: &str, latencies: &Latencies, limit: Option<(&str, &Latencies)>) {
        let limits = limit.map(|(name, limit)| (name, limit.marks()));
        for (number, (mark, micros)) in latencies.marks().into_iter().enumerate() {
            let mut figure = Figure::new(format!("{name} {mark}"), micros, "us");
            if let Some((limit, marks)) = &limits {
                figure = figure.with_limit(format!("{limit} {mark}"), marks[number].1);
            }
            self.figure(figure);
        }
    }

    /// Checks a result.
    pub(super) fn check<T: PartialEq + Display>(&mut self, name: impl Into<String>, expected: T, found: T) {
        self.checks.push(Check {
            name: name.into(),
            right: expected == found,
            expected: expected.to_string(),
            found: found.to_string(),
        });
    }

    /// Adds something to know.
    pub(super) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// True when every check was right; a work checks at least one thing.
    pub(super) fn is_right(&self) -> bool {
        !self.checks.is_empty() && self.checks.iter().all(|check| check.right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_right_when_something_was_checked_and_nothing_was_wrong() {
        let mut report = Report::new("put", Machine::default());
        assert!(!report.is_right());
        report.check("messages", 5, 5);
        assert!(report.is_right());
        report.check("checksum", "a", "b");
        assert!(!report.is_right());
        let table = report.table();
        assert!(table.contains("WRONG  checksum: expected a, found b"), "{table}");
    }

    #[test]
    fn a_ratio_is_the_figure_over_its_limit() {
        let mut report = Report::new("put", Machine::default());
        report.setting("size", 1024);
        report.figure(
            Figure::new("put", 500_000.0, "messages/s")
                .with_limit("copy", 2_000_000.0)
                .with_limit("none", 0.0),
        );
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["figures"][0]["limits"][0]["ratio"], 0.25);
        assert!(json["figures"][0]["limits"][1]["ratio"].is_null());
        let table = report.table();
        assert!(table.contains("size=1024") && table.contains("500,000 messages/s"), "{table}");
        assert!(table.contains("0.250"), "{table}");
    }
}
