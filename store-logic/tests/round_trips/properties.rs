//! Property strings against Apache's rules, said once more in the plainest way; light queues in them.

use crate::values::{POSITION, cases};
use proptest::prelude::*;
use store_logic::message::properties::{Properties, get, names, pairs, without_the_stores_own};
use store_logic::multi_dispatch::{LMQ_PREFIX, assigned, offsets_property, requested};

/// Text in which separators are as common as letters.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab\x01\x02]{0,16}",
        "[ab\u{e9}\u{6807}\u{1f600}\x01\x02]{0,16}",
        // The last separator may be missing.
        "([a-c]\x01[a-c]\x02){0,4}([a-c]\x01[a-c])?",
    ]
}

/// `MessageDecoder.string2messageProperties`: parts between separators; a part without a name or without a value does not
/// count; the name ends at the first 0x01; the last of equal names counts.
fn as_java_reads(text: &str) -> Vec<(String, String)> {
    let mut read: Vec<(String, String)> = Vec::new();
    for part in text.split('\x02') {
        let Some((name, value)) = part.split_once('\x01') else { continue };
        if name.is_empty() || value.is_empty() {
            continue;
        }
        match read.iter_mut().find(|pair| pair.0 == name) {
            Some(pair) => pair.1 = value.to_owned(),
            None => read.push((name.to_owned(), value.to_owned())),
        }
    }
    read
}

/// `MessageDecoder.messageProperties2String` since 5.2: a separator behind every pair.
fn as_java_writes(pairs: &[(String, String)]) -> String {
    pairs.iter().map(|(name, value)| format!("{name}\x01{value}\x02")).collect()
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn any_text_is_read_as_java_reads_it(text in text()) {
        let expected = as_java_reads(&text);
        let parsed = Properties::parse(&text);
        prop_assert!(parsed.iter().eq(expected.iter().map(|(name, value)| (&name[..], &value[..]))));
        for (name, value) in &expected {
            prop_assert_eq!(get(&text, name), Some(&value[..]));
            prop_assert_eq!(parsed.get(name), Some(&value[..]));
        }
        prop_assert_eq!(get(&text, "c\x01").or(get(&text, "")), None);
        prop_assert!(pairs(&text).count() >= expected.len());
        prop_assert_eq!(parsed.encode(), as_java_writes(&expected));
    }

    #[test]
    fn what_java_writes_comes_back_byte_for_byte(
        pairs in prop::collection::btree_map("[^\x01\x02]{1,6}", "[^\x02]{1,6}", 0..5),
    ) {
        let pairs: Vec<(String, String)> = pairs.into_iter().collect();
        let written = as_java_writes(&pairs);
        // Before 5.2, and from other clients, the last separator is missing.
        for text in [&written[..], written.trim_end_matches('\x02')] {
            prop_assert_eq!(Properties::parse(text).encode(), &written[..]);
        }
    }

    #[test]
    fn only_the_store_s_own_properties_are_taken_out(
        parts in prop::collection::vec(prop_oneof![
            "[ab_#\x01]{0,5}", Just(names::CRC32.to_owned()), Just(format!("{}\x017", names::CRC32)),
            Just(format!("{}\x011,2", names::INNER_MULTI_QUEUE_OFFSET)),
        ], 0..6),
    ) {
        let text = parts.join("\x02");
        let kept = without_the_stores_own(&text);
        let own = |name: &str| name == names::CRC32 || name == names::INNER_MULTI_QUEUE_OFFSET;
        let expected: Vec<(String, String)> = as_java_reads(&text).into_iter().filter(|pair| !own(&pair.0)).collect();
        prop_assert_eq!(as_java_reads(&kept), expected);
        prop_assert_eq!(without_the_stores_own(&kept), &kept[..]);
    }

    #[test]
    fn places_in_light_queues_come_back(
        places in prop::collection::btree_map("[a-zA-Z0-9_%.-]{1,12}", POSITION, 1..5),
    ) {
        let names: Vec<String> = places.keys().map(|name| format!("{LMQ_PREFIX}{name}")).collect();
        let offsets: Vec<u64> = places.values().copied().collect();
        let asked = format!("{}\x01{}\x02", names::INNER_MULTI_DISPATCH, names.join(","));
        prop_assert_eq!(requested("T", 0, &asked).unwrap(), names.iter().map(String::as_str).collect::<Vec<_>>());
        let all = asked + &offsets_property(&offsets);
        let found: Vec<(&str, u64)> =
            assigned("T", get(&all, names::INNER_MULTI_DISPATCH), get(&all, names::INNER_MULTI_QUEUE_OFFSET)).collect();
        prop_assert!(found.iter().copied().eq(names.iter().map(String::as_str).zip(offsets)));
    }

    #[test]
    fn any_lists_of_light_queues_are_read(names in "[%LMQa,/. ]{0,16}", offsets in "[0-9,a -]{0,16}") {
        for (name, offset) in assigned("T", Some(&names), Some(&offsets)) {
            prop_assert!(name.starts_with(LMQ_PREFIX) && POSITION.contains(&offset));
        }
        let asked = format!("{}\x01{names}\x02", names::INNER_MULTI_DISPATCH);
        // Nothing is promised to a name that dispatch would pass over.
        for name in requested("T", 0, &asked).unwrap_or_default() {
            prop_assert_eq!(assigned("T", Some(name), Some("7")).collect::<Vec<_>>(), [(name, 7)]);
        }
    }
}
