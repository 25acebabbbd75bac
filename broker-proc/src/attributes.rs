//! Changes of topic and group attributes as clients write them: `+key=value` sets, `-key` deletes.
//!
//! In requests the sign is part of the key, in the stored table it is not. The remarks are Apache's.

use std::collections::{BTreeMap, BTreeSet};

/// Why a topic or a group cannot be made or changed as asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetadataUpdateError {
    /// A parameter is illegal: code 29 with this remark.
    InvalidParameter(String),
    /// The attributes cannot be applied: code 1 with this remark.
    Attributes(String),
}

impl MetadataUpdateError {
    /// The remark of the answer.
    pub fn remark(&self) -> &str {
        match self {
            Self::InvalidParameter(remark) | Self::Attributes(remark) => remark,
        }
    }
}

/// Values an attribute may have.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AttributeValues {
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A whole number within these bounds.
    Range(i64, i64),
}

/// An attribute that can be set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attribute {
    /// Key.
    pub name: &'static str,
    /// Whether it may change after the topic or group was made.
    pub changeable: bool,
    /// What it may be.
    pub values: AttributeValues,
}

/// Splits the text form `+key1=value1,-key2` (header field `attributes` of code 17) into signed keys and values.
///
/// # Errors
/// A remark when an entry has no sign or a key occurs twice.
pub fn parse_attributes(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut attributes = BTreeMap::new();
    for entry in text.split(',').filter(|entry| !entry.is_empty()) {
        let (key, value) = match entry.split_once('=') {
            Some((key, value)) if key.starts_with('+') => (key, value),
            Some((key, _)) => return Err(format!("add/alter attribute format is wrong: {key}")),
            None if entry.starts_with('-') => (entry, ""),
            None => return Err(format!("delete attribute format is wrong: {entry}")),
        };
        if attributes.insert(key.to_owned(), value.to_owned()).is_some() {
            return Err(format!("key duplication: {key}"));
        }
    }
    Ok(attributes)
}

/// Applies signed `changes` to the `current` attributes; `current` is `None` while the topic or group is being made.
///
/// # Errors
/// A remark when a key is unknown, occurs twice, has a value it cannot have, may not change, or is deleted without
/// being there.
pub(crate) fn alter_attributes(
    known: &[Attribute],
    current: Option<&BTreeMap<String, String>>,
    changes: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, String> {
    let mut altered = current.cloned().unwrap_or_default();
    let mut seen = BTreeSet::new();
    for (signed_key, value) in changes {
        let (is_set, key) = split_sign(signed_key)?;
        if key.is_empty() || key.contains(['+', '-']) {
            return Err("kv string format wrong.".to_owned());
        }
        if !seen.insert(key) {
            return Err(format!("alter duplication key. key: {key}"));
        }
        if current.is_none() && !is_set {
            return Err(format!("only add attribute is supported while creating topic. key: {key}"));
        }
        if !is_set && !altered.contains_key(key) {
            return Err(format!("attempt to delete a nonexistent key: {key}"));
        }
        check(known, key, current.is_none(), is_set.then_some(value))?;
        if is_set {
            altered.insert(key.to_owned(), value.clone());
        } else {
            altered.remove(key);
        }
    }
    Ok(altered)
}

/// Whether the key is set (`+`) or deleted (`-`), and the key without its sign.
fn split_sign(signed_key: &str) -> Result<(bool, &str), String> {
    match (signed_key.strip_prefix('+'), signed_key.strip_prefix('-')) {
        (Some(key), _) => Ok((true, key)),
        (None, Some(key)) => Ok((false, key)),
        (None, None) => Err(format!("wrong format key: {signed_key}")),
    }
}

/// Checks one change; `value` is `None` when the key is deleted.
fn check(known: &[Attribute], key: &str, creating: bool, value: Option<&String>) -> Result<(), String> {
    let Some(attribute) = known.iter().find(|attribute| attribute.name == key) else {
        return Err(format!("unsupported key: {key}"));
    };
    if !creating && !attribute.changeable {
        return Err(format!("attempt to update an unchangeable attribute. key: {key}"));
    }
    match (attribute.values, value) {
        (AttributeValues::OneOf(words), Some(value)) if !words.contains(&value.as_str()) => {
            Err(format!("value is not in set: {words:?}, key: {key}, value: {value}"))
        }
        (AttributeValues::Range(min, max), Some(value)) => match value.parse::<i64>() {
            Ok(number) if (min..=max).contains(&number) => Ok(()),
            _ => Err(format!("value is not in range({min}, {max}), key: {key}, value: {value}")),
        },
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Attribute] = &[
        Attribute { name: "kind", changeable: true, values: AttributeValues::OneOf(&["A", "B"]) },
        Attribute { name: "fixed", changeable: false, values: AttributeValues::OneOf(&["X"]) },
        Attribute { name: "time", changeable: true, values: AttributeValues::Range(-1, 100) },
    ];

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn text_form() {
        assert_eq!(parse_attributes("").unwrap(), map(&[]));
        assert_eq!(
            parse_attributes("+kind=A,-time,+x=a=b").unwrap(),
            map(&[("+kind", "A"), ("-time", ""), ("+x", "a=b")])
        );
        for (text, remark) in [
            ("kind=A", "add/alter attribute format is wrong: kind"),
            ("-kind=A", "add/alter attribute format is wrong: -kind"),
            ("+kind", "delete attribute format is wrong: +kind"),
            ("+kind=A,+kind=B", "key duplication: +kind"),
        ] {
            assert_eq!(parse_attributes(text), Err(remark.to_owned()), "{text}");
        }
    }

    #[test]
    fn creation_only_sets() {
        let made = alter_attributes(KNOWN, None, &map(&[("+kind", "A"), ("+fixed", "X")]));
        assert_eq!(made, Ok(map(&[("kind", "A"), ("fixed", "X")])));
        assert!(
            alter_attributes(KNOWN, None, &map(&[("-kind", "")])).unwrap_err().contains("while creating")
        );
    }

    #[test]
    fn changes_are_merged_into_what_is_there() {
        let current = map(&[("kind", "A"), ("fixed", "X"), ("old", "kept")]);
        let changed = alter_attributes(KNOWN, Some(&current), &map(&[("-kind", ""), ("+time", "7")]));
        assert_eq!(changed, Ok(map(&[("fixed", "X"), ("old", "kept"), ("time", "7")])));
        assert_eq!(alter_attributes(KNOWN, Some(&current), &map(&[])), Ok(current));
    }

    #[test]
    fn refusals() {
        let current = map(&[("fixed", "X")]);
        for (changes, remark) in [
            (map(&[("+other", "1")]), "unsupported key: other"),
            (map(&[("+kind", "C")]), "value is not in set"),
            (map(&[("+time", "101")]), "value is not in range(-1, 100)"),
            (map(&[("+time", "x")]), "value is not in range(-1, 100)"),
            (map(&[("-fixed", "")]), "unchangeable attribute. key: fixed"),
            (map(&[("-kind", "")]), "attempt to delete a nonexistent key: kind"),
            (map(&[("+kind", "A"), ("-kind", "")]), "alter duplication key. key: kind"),
            (map(&[("kind", "A")]), "wrong format key: kind"),
            (map(&[("+", "A")]), "kv string format wrong."),
            (map(&[("+a-b", "A")]), "kv string format wrong."),
        ] {
            let error = alter_attributes(KNOWN, Some(&current), &changes).unwrap_err();
            assert!(error.contains(remark), "{changes:?}: {error}");
        }
    }
}
