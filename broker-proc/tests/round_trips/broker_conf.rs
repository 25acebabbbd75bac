//! `broker.conf`: Java properties, and settings that read what they show.

use crate::no_machine::NoMachine;
use crate::values::cases;
use broker_proc::broker_config::{BrokerConfig, Properties};
use proptest::prelude::*;

/// A line as `java.util.Properties.store` writes it, other characters than ASCII as they are or as `\uXXXX`.
fn line(key: &str, value: &str, ascii: bool) -> String {
    let escape = |text: &str, is_key: bool| {
        let mut escaped = String::new();
        for (index, c) in text.chars().enumerate() {
            match c {
                ' ' if is_key || index == 0 => escaped.push_str("\\ "),
                '\t' => escaped.push_str("\\t"),
                '\n' => escaped.push_str("\\n"),
                '\r' => escaped.push_str("\\r"),
                '\u{c}' => escaped.push_str("\\f"),
                '\\' | '=' | ':' | '#' | '!' => escaped.extend(['\\', c]),
                ' '..='~' => escaped.push(c),
                _ if ascii => {
                    c.encode_utf16(&mut [0; 2])
                        .iter()
                        .for_each(|unit| escaped.push_str(&format!("\\u{unit:04X}")));
                }
                _ => escaped.push(c),
            }
        }
        escaped
    };
    format!("{}={}\n", escape(key, true), escape(value, false))
}

/// Lines of keys that have an effect, with values they take.
fn setting() -> impl Strategy<Value = String> {
    let number = |key: &'static str, range: std::ops::Range<u32>| {
        range.prop_map(move |value| format!("{key}={value}"))
    };
    let flag = |key: &'static str| any::<bool>().prop_map(move |value| format!("{key}={value}"));
    prop_oneof![
        number("listenPort", 20_000..30_000),
        number("defaultTopicQueueNums", 1..64),
        number("fileReservedTime", 1..1_000),
        number("maxMessageSize", 1_024..1 << 24),
        number("flushIntervalCommitLog", 1..5_000),
        number("diskMaxUsedSpaceRatio", 10..95),
        flag("autoCreateTopicEnable"),
        flag("traceOn"),
        flag("transientStorePoolEnable"),
        flag("checkCRCOnRecover"),
        flag("enabledAppendPropCRC"),
        "brokerName=[a-z][a-z0-9_-]{0,12}",
        "storePathRootDir=/[a-z]{1,8}(/[a-z]{1,8}){0,2}",
        "storePathCommitLog=/[a-z]{1,8}(,/[a-z]{1,8}){0,2}",
        "namesrvAddr=[a-z]{1,5}:[1-9][0-9]{2}(;[a-z]{1,5}:[1-9][0-9]{2}){0,2}",
        "flushDiskType=(ASYNC_FLUSH|SYNC_FLUSH)",
        "deleteWhen=0[0-9](;1[0-9]){0,2}",
        "messageDelayLevel=[1-9]s [1-9]m [1-9]h",
        "damagedCommitLogPolicy=(stop|truncate|skip)",
        "ownKey[a-z]{1,4}=[a-z ]{0,6}",
    ]
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn what_java_stores_is_read(
        pairs in prop::collection::vec(("[ -~\t\n\r\u{c}é标😀]{0,8}", "[ -~\t\n\r\u{c}é标😀]{0,12}"), 0..6), ascii: bool,
    ) {
        let text: String = pairs.iter().map(|(key, value)| line(key, value, ascii)).collect();
        let parsed = Properties::parse(&text).unwrap();
        let read = parsed.entries().iter().map(|property| (&property.key[..], &property.value[..]));
        prop_assert!(read.eq(pairs.iter().map(|(key, value)| (&key[..], &value[..]))), "{:?}", text);
        for (index, property) in parsed.entries().iter().enumerate() {
            prop_assert_eq!(property.line, index + 1);
        }
    }

    #[test]
    fn any_text_is_read_or_refused_with_a_line(text in "[a=: \t\\\\u04#!\n\r]{0,40}") {
        match Properties::parse(&text) {
            Ok(parsed) => prop_assert!(parsed.entries().len() <= text.len() + 1),
            Err(error) => prop_assert!(error.line <= text.split(['\n', '\r']).count() && !error.problem.is_empty()),
        }
    }
}

proptest! {
    #![proptest_config(cases(100))]

    /// Also the answer to an admin who asks for the settings and sends them back.
    #[test]
    fn settings_in_force_are_read_as_they_are_shown(lines in prop::collection::vec(setting(), 0..8)) {
        let loaded = BrokerConfig::parse(&lines.join("\n"), "broker.conf", &NoMachine).unwrap();
        let shown = loaded.effective_properties();
        // Ports beside the main one are shown with the value they have now.
        let again = BrokerConfig::parse(&shown, "broker.conf", &NoMachine).unwrap();
        prop_assert_eq!(again.effective_properties(), shown);
        prop_assert_eq!(again.broker.broker_addr(), loaded.broker.broker_addr());
        prop_assert_eq!(again.store.flush, loaded.store.flush);
    }
}
