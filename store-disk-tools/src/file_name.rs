//! File names as RocketMQ writes them.

use crate::env::UnixMillis;

/// Digits of an offset name.
const OFFSET_DIGITS: usize = 20;

/// Name of a file by the offset of its first byte: 20 decimal digits, zero-padded (`UtilAll.offset2FileName`).
///
/// ```
/// assert_eq!(store_disk_tools::file_name::offset_name(1_073_741_824), "00000000001073741824");
/// ```
pub fn offset_name(offset: u64) -> String {
    format!("{offset:0OFFSET_DIGITS$}")
}

/// Offset in a file name; `None` unless the name consists of digits only and fits.
pub fn parse_offset_name(name: &str) -> Option<u64> {
    let digits = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    if digits { name.parse().ok() } else { None }
}

/// Name of an index file: local time of its creation as `yyyyMMddHHmmssSSS` (`UtilAll.timeMillisToHumanString`).
pub fn human_time_name(at: UnixMillis) -> String {
    let timestamp = jiff::Timestamp::from_millisecond(at).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let local = jiff::tz::TimeZone::system().to_datetime(timestamp);
    format!(
        "{:04}{:02}{:02}{:02}{:02}{:02}{:03}",
        local.year(),
        local.month(),
        local.day(),
        local.hour(),
        local.minute(),
        local.second(),
        local.millisecond()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offset_names_go_there_and_back() {
        for offset in [0, 20, 65_536, 1 << 30, i64::MAX as u64] {
            assert_eq!(parse_offset_name(&offset_name(offset)), Some(offset));
        }
        assert_eq!(offset_name(0).len(), OFFSET_DIGITS);
    }

    #[test]
    fn stray_names_are_not_offsets() {
        for name in ["", "+1", "-1", "1.tmp", " 1", "٣", "99999999999999999999999"] {
            assert_eq!(parse_offset_name(name), None, "{name}");
        }
    }

    #[test]
    fn time_names_have_17_digits() {
        let name = human_time_name(1_700_000_000_123);
        assert_eq!(name.len(), 17);
        assert!(name.ends_with("123"), "{name}");
    }
}
