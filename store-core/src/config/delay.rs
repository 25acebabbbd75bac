use std::fmt;
use std::str::FromStr;

/// Table of delay levels (`messageDelayLevel`): level 1 is the first entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DelayLevels {
    millis: Vec<i64>,
}

/// A `messageDelayLevel` value that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidDelayLevels {
    /// The entry at fault.
    pub entry: String,
}

impl fmt::Display for InvalidDelayLevels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "delay level `{}`: expected a number and a unit (s, m, h or d), such as 10s", self.entry)
    }
}

impl std::error::Error for InvalidDelayLevels {}

impl DelayLevels {
    /// Apache's table of 18 levels.
    pub const DEFAULT: &'static str = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h";

    /// Number of levels; larger levels are clamped to it.
    pub fn max_level(&self) -> i32 {
        i32::try_from(self.millis.len()).unwrap_or(i32::MAX)
    }

    /// Delay of a level in milliseconds; `None` for level 0 and below and beyond the table.
    pub fn delay_millis(&self, level: i32) -> Option<i64> {
        let index = usize::try_from(level).ok()?.checked_sub(1)?;
        self.millis.get(index).copied()
    }

    /// When a message of `level` stored at `store_timestamp` is due (epoch milliseconds). A level without an entry
    /// is delayed by one second, as Apache does.
    pub fn deliver_timestamp(&self, level: i32, store_timestamp: i64) -> i64 {
        store_timestamp.saturating_add(self.delay_millis(level).unwrap_or(1000))
    }
}

impl Default for DelayLevels {
    fn default() -> Self {
        const SECOND: i64 = 1000;
        const MINUTE: i64 = 60 * SECOND;
        let mut millis = vec![SECOND, 5 * SECOND, 10 * SECOND, 30 * SECOND];
        millis.extend((1..=10).map(|minutes| minutes * MINUTE));
        millis.extend([20 * MINUTE, 30 * MINUTE, 60 * MINUTE, 120 * MINUTE]);
        Self { millis }
    }
}

impl FromStr for DelayLevels {
    type Err = InvalidDelayLevels;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let millis = text.split_whitespace().map(parse_entry).collect::<Result<Vec<_>, _>>()?;
        if millis.is_empty() {
            return Err(InvalidDelayLevels { entry: text.to_owned() });
        }
        Ok(Self { millis })
    }
}

fn parse_entry(entry: &str) -> Result<i64, InvalidDelayLevels> {
    let invalid = || InvalidDelayLevels { entry: entry.to_owned() };
    let unit = match entry.chars().last() {
        Some('s') => 1000,
        Some('m') => 60_000,
        Some('h') => 3_600_000,
        Some('d') => 86_400_000,
        _ => return Err(invalid()),
    };
    let number: i64 = entry[..entry.len() - 1].parse().map_err(|_| invalid())?;
    if number < 0 {
        return Err(invalid());
    }
    number.checked_mul(unit).ok_or_else(invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_is_the_written_table() {
        assert_eq!(DelayLevels::default(), DelayLevels::DEFAULT.parse().unwrap());
        assert_eq!(DelayLevels::default().max_level(), 18);
        assert_eq!(DelayLevels::default().delay_millis(18), Some(7_200_000));
    }

    #[test]
    fn bad_entries_are_named() {
        for text in ["", "1x", "s", "-1s", "9223372036854775807d", "1s é"] {
            assert!(text.parse::<DelayLevels>().is_err(), "{text}");
        }
    }
}
