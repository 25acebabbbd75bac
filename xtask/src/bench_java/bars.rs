//! What is expected of a figure, and whether it was met.

use super::contestants::Measured;
use super::spread::{Spread, number};

/// One row of the table: a figure and what is expected of it.
pub struct Bar {
    /// Name of the figure, the same on both sides.
    pub figure: String,
    /// Its unit.
    pub unit: &'static str,
    expected: Expected,
}

/// What is expected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Expected {
    /// Java's figure times this, or more.
    AtLeastJava(f64),
    /// Java's figure times this, or less.
    AtMostJava(f64),
    /// The limit of this name times this, or more.
    AtLeastLimit(&'static str, f64),
    /// The limit of this name times this, or less.
    AtMostLimit(&'static str, f64),
    /// This, or less.
    AtMost(f64),
    /// Nothing; it is shown.
    Nothing,
}

impl Bar {
    /// A row.
    pub fn new(figure: impl Into<String>, unit: &'static str, expected: Expected) -> Self {
        Self { figure: figure.into(), unit, expected }
    }
}

impl Expected {
    fn text(self) -> String {
        match self {
            Self::AtLeastJava(factor) => format!("≥ {} × Java", number(factor)),
            Self::AtMostJava(factor) => format!("≤ {} × Java", number(factor)),
            Self::AtLeastLimit(_, factor) => format!("≥ {} × limit", number(factor)),
            Self::AtMostLimit(_, factor) => format!("≤ {} × limit", number(factor)),
            Self::AtMost(value) => format!("≤ {}", number(value)),
            Self::Nothing => String::new(),
        }
    }

    fn limit_name(self) -> Option<&'static str> {
        match self {
            Self::AtLeastLimit(name, _) | Self::AtMostLimit(name, _) => Some(name),
            _ => None,
        }
    }
}

/// A row that was measured.
#[derive(Debug)]
pub struct Row {
    /// Name of the work.
    pub work: &'static str,
    /// Name of the figure.
    pub figure: String,
    /// Its unit.
    pub unit: &'static str,
    /// Ours.
    pub ours: Spread,
    /// The limit, and what it is.
    pub limit: Option<(String, Spread)>,
    /// Java's.
    pub java: Option<Spread>,
    /// Ours over what the bar speaks of, else over Java's.
    pub ratio: Option<f64>,
    /// The bar in words; empty when there is none.
    pub bar: String,
    /// Whether it was met; `None` without a bar, or when what it speaks of was not measured.
    pub met: Option<bool>,
}

impl Row {
    /// Holds what was measured against a bar.
    pub fn of(work: &'static str, bar: &Bar, measured: &Measured) -> Self {
        let ours = measured.ours.get(&bar.figure).cloned().unwrap_or_default();
        let java = measured.javas.get(&bar.figure).cloned();
        let limits = || measured.limits.iter().filter(|limit| limit.0.0 == bar.figure);
        let named = |name: &str| limits().find(|limit| limit.0.1 == name);
        let limit = match bar.expected.limit_name() {
            Some(name) => named(name),
            None => limits().next(),
        };
        let limit = limit.map(|((_, name), spread)| (name.clone(), spread.clone()));
        let over = |other: Option<&Spread>| other.map(|other| ours.median() / other.median());
        let (to_java, to_limit) = (over(java.as_ref()), over(limit.as_ref().map(|limit| &limit.1)));
        let (ratio, met) = match bar.expected {
            Expected::AtLeastJava(factor) => (to_java, to_java.map(|ratio| ratio >= factor)),
            Expected::AtMostJava(factor) => (to_java, to_java.map(|ratio| ratio <= factor)),
            Expected::AtLeastLimit(_, factor) => (to_limit, to_limit.map(|ratio| ratio >= factor)),
            Expected::AtMostLimit(_, factor) => (to_limit, to_limit.map(|ratio| ratio <= factor)),
            Expected::AtMost(value) => (to_java, Some(ours.median() <= value)),
            Expected::Nothing => (to_java, None),
        };
        let (figure, bar) = (bar.figure.clone(), (bar.unit, bar.expected.text()));
        Self { work, figure, unit: bar.0, ours, limit, java, ratio, bar: bar.1, met }
    }

    /// Cells of the table.
    pub fn cells(&self) -> [String; 8] {
        let limit = self.limit.as_ref().map(|(name, spread)| format!("{} ({name})", number(spread.median())));
        let met = match self.met {
            Some(true) => "met",
            Some(false) => "not met",
            None => "",
        };
        [
            self.work.to_owned(),
            format!("{} {}", self.figure, self.unit).trim().to_owned(),
            self.ours.text(),
            limit.unwrap_or_default(),
            self.java.as_ref().map(Spread::text).unwrap_or_default(),
            self.ratio.map(number).unwrap_or_default(),
            self.bar.clone(),
            met.to_owned(),
        ]
    }

    /// The row on one line.
    pub fn line(&self) -> String {
        let [work, figure, ours, limit, java, ratio, bar, met] = self.cells();
        let mut line = format!("{work}: {figure}: {ours}");
        for (name, text) in [("limit", limit), ("Java", java), ("ratio", ratio), ("bar", bar), ("", met)] {
            if !text.is_empty() {
                line = format!("{line}; {name} {text}");
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(ours: f64, java: f64, limit: f64) -> Measured {
        let mut measured = Measured::default();
        measured.ours.entry("put".to_owned()).or_default().add(ours);
        measured.javas.entry("put".to_owned()).or_default().add(java);
        measured.add_limit(("put".to_owned(), "copies".to_owned()), limit);
        measured
    }

    #[test]
    fn a_bar_is_met_on_its_own_side() {
        let measured = measured(40.0, 10.0, 100.0);
        let met = |expected| Row::of("work", &Bar::new("put", "", expected), &measured).met;
        assert_eq!(met(Expected::AtLeastJava(4.0)), Some(true));
        assert_eq!(met(Expected::AtLeastJava(4.1)), Some(false));
        assert_eq!(met(Expected::AtMostJava(4.0)), Some(true));
        assert_eq!(met(Expected::AtLeastLimit("copies", 0.5)), Some(false));
        assert_eq!(met(Expected::AtMostLimit("copies", 0.5)), Some(true));
        assert_eq!(met(Expected::AtLeastLimit("other", 0.1)), None, "not measured");
        assert_eq!(met(Expected::AtMost(39.0)), Some(false));
        assert_eq!(met(Expected::Nothing), None);
    }

    #[test]
    fn a_figure_that_is_missing_meets_nothing() {
        let row = Row::of("work", &Bar::new("absent", "s", Expected::AtMost(1.0)), &Measured::default());
        assert_eq!(row.met, Some(false));
        assert!(row.line().contains("NaN"), "{}", row.line());
    }
}
