use super::{InspectError, Inspector};
use std::collections::BTreeMap;

/// Numbers from … to …, both included; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    /// Smallest.
    pub from: Option<i64>,
    /// Largest.
    pub to: Option<i64>,
}

impl Range {
    /// True when `number` lies in it.
    pub fn contains(&self, number: i64) -> bool {
        self.from.is_none_or(|from| number >= from) && self.to.is_none_or(|to| number <= to)
    }

    /// True when `number` and everything greater lies behind it.
    pub fn is_behind(&self, number: i64) -> bool {
        self.to.is_some_and(|to| number > to)
    }

    /// True when it says nothing.
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }
}

/// Which entries of a file are wanted. What the names of the conditions mean is up to the inspector
/// ([`Inspector::conditions`]).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    texts: BTreeMap<&'static str, String>,
    ranges: BTreeMap<&'static str, Range>,
}

impl Selection {
    /// Everything.
    pub fn all() -> Self {
        Self::default()
    }

    /// The selection with a text that has to be equal.
    #[must_use]
    pub fn with_text(mut self, name: &'static str, text: Option<String>) -> Self {
        self.texts.extend(text.map(|text| (name, text)));
        self
    }

    /// The selection with a number that has to lie in a range.
    #[must_use]
    pub fn with_range(mut self, name: &'static str, range: Range) -> Self {
        if !range.is_open() {
            self.ranges.insert(name, range);
        }
        self
    }

    /// The text of a condition.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }

    /// The range of a condition; an open one when there is none.
    pub fn range(&self, name: &str) -> Range {
        self.ranges.get(name).copied().unwrap_or_default()
    }

    /// True when a text condition is met or not made.
    pub fn accepts_text(&self, name: &str, text: &str) -> bool {
        self.text(name).is_none_or(|wanted| wanted == text)
    }

    /// Refuses conditions that an inspector does not know.
    ///
    /// # Errors
    ///
    /// [`InspectError::Condition`] names the first one.
    pub fn check(&self, inspector: &(impl Inspector + ?Sized)) -> Result<(), InspectError> {
        let known = inspector.conditions();
        let mut made = self.texts.keys().chain(self.ranges.keys());
        match made.find(|name| !known.contains(name)) {
            None => Ok(()),
            Some(name) => Err(InspectError::Condition {
                inspector: inspector.name(),
                condition: (*name).to_owned(),
                known: if known.is_empty() { "none".to_owned() } else { known.join(", ") },
            }),
        }
    }
}
