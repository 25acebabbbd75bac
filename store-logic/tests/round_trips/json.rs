//! JSON in Java's dialect: what is written, compact or for people, reads as the same value.

use crate::damage::{flipped, truncated};
use crate::values::cases;
use proptest::prelude::*;
use serde_json::Value;
use store_logic::java_json::{parse, to_string_pretty, to_vec};

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[\"\\\\\u{0}-\u{1f}'/$@]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            // Java writes no property that is null.
            prop::collection::btree_map(any::<String>(), inner, 0..5).prop_map(|fields| Value::Object(
                fields.into_iter().filter(|field| !field.1.is_null()).collect()
            )),
        ]
    })
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn values_come_back_from_both_forms(value in value()) {
        let compact = to_vec(&value).unwrap();
        prop_assert_eq!(parse(&compact).unwrap(), value.clone());
        let pretty = to_string_pretty(&value).unwrap();
        prop_assert_eq!(parse(pretty.as_bytes()).unwrap(), value.clone());
        prop_assert_eq!(to_vec(&parse(pretty.as_bytes()).unwrap()).unwrap(), compact);
    }

    #[test]
    fn damaged_text_is_refused_or_another_value(value in value()) {
        let compact = to_vec(&value).unwrap();
        for cut in truncated(&compact).take(200) {
            if compact.starts_with(b"{") || compact.starts_with(b"[") || compact.starts_with(b"\"") {
                prop_assert!(parse(cut).is_err(), "{}", String::from_utf8_lossy(cut));
            }
        }
        for (_, damaged) in flipped(&compact).take(800) {
            let _ = parse(&damaged);
        }
    }
}
