//! The named text fields of a header.

use std::fmt::{self, Display, Write as _};

/// Text fields of a command in order of insertion, names unique.
///
/// All names and values lie in one string, so that decoding a header costs two allocations however many
/// fields it has. A header has some fifteen of them; looking through all is faster than hashing.
#[derive(Clone, Default)]
pub struct ExtFields {
    text: String,
    entries: Vec<Entry>,
}

/// Where a field lies: its name from `start`, its value right behind.
#[derive(Clone, Copy)]
struct Entry {
    start: usize,
    name_len: usize,
    value_len: usize,
}

impl ExtFields {
    /// No fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// No fields yet, with room for `fields` of them with `text` bytes in names and values.
    #[must_use]
    pub fn with_capacity(fields: usize, text: usize) -> Self {
        Self { text: String::with_capacity(text), entries: Vec::with_capacity(fields) }
    }

    /// Makes room for so many more fields with `text` bytes in names and values.
    pub fn reserve(&mut self, fields: usize, text: usize) {
        self.text.reserve(text);
        self.entries.reserve(fields);
    }

    /// Number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no field.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Value of the field `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.position(name).map(|at| self.value(self.entries[at]))
    }

    /// Whether there is a field `name`.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    /// Sets the field `name`; an earlier value is replaced and keeps its place.
    pub fn insert(&mut self, name: &str, value: &str) {
        self.set(name, |text| text.push_str(value));
    }

    /// Sets the field `name` to the text of `value`.
    pub fn insert_display(&mut self, name: &str, value: impl Display) {
        self.set(name, |text| {
            // Writing to a string fails only when the value itself cannot be shown; what came so far stays.
            let _ = write!(text, "{value}");
        });
    }

    fn set(&mut self, name: &str, push_value: impl FnOnce(&mut String)) {
        let existing = self.position(name);
        let start = self.text.len();
        self.text.push_str(name);
        push_value(&mut self.text);
        let value_len = self.text.len() - start - name.len();
        let entry = Entry { start, name_len: name.len(), value_len };
        match existing {
            Some(at) => self.entries[at] = entry,
            None => self.entries.push(entry),
        }
    }

    /// Takes the field `name` away; whether it was there.
    pub fn remove(&mut self, name: &str) -> bool {
        match self.position(name) {
            Some(at) => {
                self.entries.remove(at);
                true
            }
            None => false,
        }
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|&entry| (self.name(entry), self.value(entry)))
    }

    fn position(&self, name: &str) -> Option<usize> {
        let (text, name) = (self.text.as_bytes(), name.as_bytes());
        // Names differ in length or first byte nearly always; that is cheaper than a call to compare them.
        self.entries.iter().position(|entry| {
            entry.name_len == name.len()
                && name.first().is_none_or(|first| text.get(entry.start) == Some(first))
                && text[entry.start..entry.start + entry.name_len] == *name
        })
    }

    fn name(&self, entry: Entry) -> &str {
        &self.text[entry.start..entry.start + entry.name_len]
    }

    fn value(&self, entry: Entry) -> &str {
        let start = entry.start + entry.name_len;
        &self.text[start..start + entry.value_len]
    }
}

impl fmt::Debug for ExtFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl PartialEq for ExtFields {
    /// Equal when the same names have the same values; the order does not count.
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

impl Eq for ExtFields {}

impl<N: AsRef<str>, V: AsRef<str>> FromIterator<(N, V)> for ExtFields {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(fields: I) -> Self {
        let mut collected = Self::new();
        fields.into_iter().for_each(|(name, value)| collected.insert(name.as_ref(), value.as_ref()));
        collected
    }
}

#[cfg(test)]
mod tests {
    use super::ExtFields;

    #[test]
    fn later_values_replace_earlier_ones_in_place() {
        let mut fields = ExtFields::from_iter([("topic", "a"), ("queueId", "1"), ("e", "")]);
        fields.insert("topic", "longer");
        fields.insert_display("offset", -5_i64);
        assert_eq!(
            fields.iter().collect::<Vec<_>>(),
            [("topic", "longer"), ("queueId", "1"), ("e", ""), ("offset", "-5")]
        );
        assert_eq!(fields.get("queueId"), Some("1"));
        assert_eq!(fields.get("queueI"), None);
        fields.insert("", "no name");
        fields.insert("", "still none");
        assert_eq!(fields.get(""), Some("still none"));
        assert!(fields.remove("") && !fields.contains(""));
        assert!(fields.remove("queueId") && !fields.remove("queueId"));
        assert_eq!((fields.len(), fields.contains("e")), (3, true));
    }

    #[test]
    fn order_does_not_count_for_equality() {
        let one = ExtFields::from_iter([("a", "1"), ("b", "2")]);
        assert_eq!(one, ExtFields::from_iter([("b", "2"), ("a", "1")]));
        assert_ne!(one, ExtFields::from_iter([("b", "2"), ("a", "2")]));
        assert_ne!(one, ExtFields::from_iter([("a", "1")]));
        assert_eq!(format!("{one:?}"), r#"{"a": "1", "b": "2"}"#);
    }
}
