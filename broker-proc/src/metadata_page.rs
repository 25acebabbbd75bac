//! One page of the topic table (GET_ALL_TOPIC_CONFIG 21) or the group table (GET_ALL_SUBSCRIPTIONGROUP_CONFIG 201).

use crate::remoting::protocol::DataVersion;

/// Which part of a table is asked for. Old callers send none of the fields and get everything.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PageRequest {
    /// Number of entries the caller has already (`topicSeq`, `groupSeq`).
    pub sequence: Option<i32>,
    /// Version of the table those entries came from; `None` when the caller sent none, blank text or nonsense.
    pub data_version: Option<DataVersion>,
    /// Most entries wanted (`maxTopicNum`, `maxGroupNum`).
    pub max_entries: Option<i32>,
}

impl PageRequest {
    /// Everything at once.
    pub fn everything() -> Self {
        Self::default()
    }

    /// The names of the page: `names` sorted, from the sequence number on, at most `limit`. A caller whose entries are
    /// of another version starts again at 0, for the order may have changed under it.
    pub(crate) fn select(&self, mut names: Vec<String>, current: &DataVersion, limit: usize) -> Vec<String> {
        names.sort_unstable();
        if *self == Self::everything() {
            return names;
        }
        let same_version = self.data_version.as_ref() == Some(current);
        let asked_start = usize::try_from(self.sequence.unwrap_or(0)).unwrap_or(0);
        let start = if same_version { asked_start } else { 0 };
        let asked_count = self.max_entries.and_then(|max| usize::try_from(max).ok()).unwrap_or(limit);
        names.into_iter().skip(start).take(asked_count.min(limit)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(counter: i64) -> DataVersion {
        DataVersion { counter, state_version: 0, timestamp: 7 }
    }

    fn select(request: &PageRequest) -> Vec<String> {
        let names = ["c", "a", "e", "b", "d"].map(str::to_owned).to_vec();
        request.select(names, &version(1), 3)
    }

    #[test]
    fn old_callers_get_everything() {
        assert_eq!(select(&PageRequest::everything()), ["a", "b", "c", "d", "e"]);
    }

    #[test]
    fn pages_follow_each_other() {
        let first = PageRequest { sequence: Some(0), data_version: None, max_entries: Some(2) };
        assert_eq!(select(&first), ["a", "b"]);
        let second =
            PageRequest { sequence: Some(2), data_version: Some(version(1)), max_entries: Some(2000) };
        assert_eq!(select(&second), ["c", "d", "e"], "no more than the limit");
        let end = PageRequest { sequence: Some(5), ..second };
        assert!(select(&end).is_empty());
    }

    #[test]
    fn another_version_starts_again() {
        let stale = PageRequest { sequence: Some(2), data_version: Some(version(0)), max_entries: Some(1) };
        assert_eq!(select(&stale), ["a"]);
        let none = PageRequest { sequence: Some(2), data_version: None, max_entries: Some(1) };
        assert_eq!(select(&none), ["a"]);
    }

    #[test]
    fn nonsense_numbers_are_harmless() {
        let request =
            PageRequest { sequence: Some(-1), data_version: Some(version(1)), max_entries: Some(-5) };
        assert_eq!(select(&request), ["a", "b", "c"]);
    }
}
