//! Ranges of numbers and times on the command line: `A..B`, `A..`, `..B` or `A`, both ends included.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use store_core::inspect::Range;

/// A range of offsets.
pub(super) fn parse_offsets(text: &str) -> Result<Range, String> {
    parse(text, &|end| end.parse().map_err(|_| format!("`{end}`: expected a number from 0 on")))
}

/// A range of times: epoch milliseconds, RFC 3339, or a date and time of the machine's time zone.
pub(super) fn parse_times(text: &str) -> Result<Range, String> {
    parse(text, &parse_time)
}

fn parse(text: &str, parse_end: &dyn Fn(&str) -> Result<i64, String>) -> Result<Range, String> {
    let end = |end: &str| if end.is_empty() { Ok(None) } else { parse_end(end).map(Some) };
    match text.split_once("..") {
        Some((from, to)) => Ok(Range { from: end(from)?, to: end(to)? }),
        None => {
            let only = Some(parse_end(text)?);
            Ok(Range { from: only, to: only })
        }
    }
}

fn parse_time(text: &str) -> Result<i64, String> {
    if let Ok(millis) = text.parse::<i64>() {
        return Ok(millis);
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time.as_millisecond());
    }
    let local = text.parse::<DateTime>().ok().and_then(|time| TimeZone::system().to_timestamp(time).ok());
    local.map(Timestamp::as_millisecond).ok_or_else(|| {
        format!("`{text}`: expected epoch milliseconds or a time such as 2026-01-31T12:00:00Z")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_open_ends() {
        let range = |from, to| Ok(Range { from, to });
        assert_eq!(parse_offsets("5..9"), range(Some(5), Some(9)));
        assert_eq!(parse_offsets("5.."), range(Some(5), None));
        assert_eq!(parse_offsets("..9"), range(None, Some(9)));
        assert_eq!(parse_offsets("7"), range(Some(7), Some(7)));
        assert!(parse_offsets("x..9").unwrap_err().contains("`x`: expected a number"));
    }

    #[test]
    fn times_are_millis_or_rfc_3339() {
        let expected = Range { from: Some(1_700_000_000_000), to: Some(1_700_000_000_500) };
        assert_eq!(parse_times("2023-11-14T22:13:20Z..1700000000500"), Ok(expected));
        assert_eq!(parse_times("2023-11-14T23:13:20+01:00..2023-11-14T22:13:20.5Z"), Ok(expected));
        assert!(parse_times("yesterday..").is_err());
    }
}
