//! The keys an Apache broker of release 5.5.0 knows, with their defaults.

/// One `key=default` a line in byte order. The default `*` depends on the machine; an empty one is Java's null.
const TABLE: &str = include_str!("known_keys.txt");

/// A key of Apache's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KnownKey {
    /// The key.
    pub key: &'static str,
    /// Apache's default; `None` when it depends on the machine.
    pub default: Option<&'static str>,
}

/// All known keys in byte order.
pub(super) fn all() -> impl Iterator<Item = KnownKey> {
    TABLE.lines().filter_map(|line| {
        let (key, default) = line.split_once('=')?;
        Some(KnownKey { key, default: (default != "*").then_some(default) })
    })
}

/// The entry of `key`.
pub(super) fn find(key: &str) -> Option<KnownKey> {
    all().find(|known| known.key == key)
}

/// The known key that is most likely meant by the unknown `key`: equal but for case, or few edits away.
pub(super) fn nearest(key: &str) -> Option<&'static str> {
    let wanted = key.to_ascii_lowercase();
    let limit = 1 + wanted.len() / 6;
    all()
        // As many edits at least as the lengths differ by: a key of any length costs little.
        .filter(|known| known.key.len().abs_diff(wanted.len()) <= limit)
        .map(|known| (edit_distance(&wanted, &known.key.to_ascii_lowercase()), known.key))
        .min()
        .filter(|(distance, _)| *distance <= limit)
        .map(|(_, known)| known)
}

/// Levenshtein distance over bytes, with two rows.
fn edit_distance(a: &str, b: &str) -> usize {
    let b = b.as_bytes();
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for (row, byte_a) in a.bytes().enumerate() {
        let mut current = vec![row + 1];
        for (column, byte_b) in b.iter().enumerate() {
            let replaced = previous[column] + usize::from(byte_a != *byte_b);
            let shifted = 1 + previous[column + 1].min(current[column]);
            current.push(replaced.min(shifted));
        }
        previous = current;
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_sorted_without_doubles() {
        let keys: Vec<_> = all().map(|known| known.key).collect();
        assert!(keys.len() > 500, "{}", keys.len());
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(keys.len(), TABLE.lines().count(), "every line is an entry");
    }

    #[test]
    fn defaults() {
        assert_eq!(find("defaultTopicQueueNums").and_then(|known| known.default), Some("8"));
        assert_eq!(find("rocketmqHome").map(|known| known.default), Some(None));
        assert_eq!(find("nonsense"), None);
    }

    #[test]
    fn nearest_finds_slips_of_the_pen() {
        assert_eq!(nearest("brokername"), Some("brokerName"));
        assert_eq!(nearest("mapedFileSizeCommitLog"), Some("mappedFileSizeCommitLog"));
        assert_eq!(nearest("defaultTopicQueueNum"), Some("defaultTopicQueueNums"));
        assert_eq!(nearest("nameserverAddress"), None);
        assert_eq!(nearest(&"k".repeat(1 << 20)), None, "and at once");
    }

    #[test]
    fn distance() {
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("same", "same"), 0);
    }
}
