//! Readers of single values. An error is the text of what would have been allowed.

use std::ops::RangeInclusive;

/// A whole number within `range`; blanks around it do not count.
pub(super) fn number<T: TryFrom<i64>>(text: &str, range: RangeInclusive<i64>) -> Result<T, String> {
    let expected = || format!("a whole number from {} to {}", range.start(), range.end());
    let value: i64 = text.trim().parse().map_err(|_| expected())?;
    if !range.contains(&value) {
        return Err(expected());
    }
    T::try_from(value).map_err(|_| expected())
}

/// `true` or `false` in any case. Apache reads every other text as `false`; here it is an error.
pub(super) fn boolean(text: &str) -> Result<bool, String> {
    match text.trim() {
        word if word.eq_ignore_ascii_case("true") => Ok(true),
        word if word.eq_ignore_ascii_case("false") => Ok(false),
        _ => Err("true or false".to_owned()),
    }
}

/// Text that is not blank, without the blanks around it.
pub(super) fn word(text: &str) -> Result<String, String> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err("a text that is not empty".to_owned());
    }
    Ok(trimmed.to_owned())
}

/// An address to bind or to announce: an IP address, or a host name.
pub(super) fn host(text: &str) -> Result<String, String> {
    let host = word(text)?;
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']' | '%');
    if !host.chars().all(legal) {
        return Err("an IP address or a host name, without a port".to_owned());
    }
    Ok(host)
}

/// Name server addresses, `;` between them. Empty text is an empty list; separators alone are none.
pub(super) fn addresses(text: &str) -> Result<Vec<String>, String> {
    let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
    let addresses = parts.map(address).collect::<Result<Vec<_>, _>>()?;
    if addresses.is_empty() && !text.trim().is_empty() {
        Err(EXPECTED_ADDRESSES.to_owned())
    } else {
        Ok(addresses)
    }
}

const EXPECTED_ADDRESSES: &str = "a list of host:port, separated by `;`, such as 127.0.0.1:9876";

fn address(text: &str) -> Result<String, String> {
    let well_formed = text
        .rsplit_once(':')
        .is_some_and(|(name, port)| host(name).is_ok() && port.parse::<u16>().is_ok_and(|port| port != 0));
    if !well_formed {
        return Err(EXPECTED_ADDRESSES.to_owned());
    }
    Ok(text.to_owned())
}

/// Hours of the day, `;` between them (`deleteWhen`).
pub(super) fn hours(text: &str) -> Result<Vec<u8>, String> {
    let expected = || "hours from 0 to 23, separated by `;`, such as 04".to_owned();
    let hours: Vec<u8> = text
        .split(';')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().ok().filter(|hour| *hour < 24).ok_or_else(expected))
        .collect::<Result<_, _>>()?;
    if hours.is_empty() { Err(expected()) } else { Ok(hours) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_name_their_range() {
        assert_eq!(number::<u16>(" 10911 ", 3..=65_534), Ok(10_911));
        for text in ["2", "65535", "", "ten", "1.5", "99999999999999999999"] {
            assert_eq!(
                number::<u16>(text, 3..=65_534),
                Err("a whole number from 3 to 65534".to_owned()),
                "{text}"
            );
        }
        assert!(number::<u8>("300", 0..=1000).is_err(), "in range but too large for the type");
    }

    #[test]
    fn booleans_in_any_case_and_nothing_else() {
        assert_eq!(boolean("TRUE "), Ok(true));
        assert_eq!(boolean("False"), Ok(false));
        for text in ["", "yes", "1", "on"] {
            assert!(boolean(text).is_err(), "{text}");
        }
    }

    #[test]
    fn address_lists() {
        assert_eq!(addresses(""), Ok(vec![]));
        assert_eq!(addresses("a:1; [::1]:9876;"), Ok(vec!["a:1".to_owned(), "[::1]:9876".to_owned()]));
        for text in ["a", "a:", "a:0", "a:70000", ":1", "http://a:1", "a:1,b:2", ";", ";; ;"] {
            assert!(addresses(text).is_err(), "{text}");
        }
    }

    #[test]
    fn hour_lists() {
        assert_eq!(hours("04"), Ok(vec![4]));
        assert_eq!(hours("4;16; 23"), Ok(vec![4, 16, 23]));
        for text in ["", ";", "24", "-1", "4,5"] {
            assert!(hours(text).is_err(), "{text}");
        }
    }
}
