//! What these stores hold and this release does not read, by name. Everything else is compared.

use crate::golden_store::GoldenStore;

/// Something of a store that is left to a later release.
pub struct LaterRelease {
    pub store: &'static str,
    pub what: What,
    pub why: &'static str,
}

/// What is left.
pub enum What {
    /// Reading of a queue; its offsets are compared.
    Messages(&'static str),
    /// A part of `expected.json`.
    Section(&'static str),
    /// A setting of the broker.
    Setting(&'static str),
}

const WHEEL: &str = "timer wheel and timer log";

const fn later(store: &'static str, what: What, why: &'static str) -> LaterRelease {
    LaterRelease { store, what, why }
}

/// The table.
pub const TABLE: &[LaterRelease] = &[
    later("stores/compaction", What::Messages("TopicCompact:0"), "reading through the compacted log"),
    later("stores/compaction", What::Setting("enableCompaction"), "compaction; the files stay as they are"),
    later("stores/ext-cq", What::Setting("enableCalcFilterBitMap"), "bitmaps of SQL92 filters"),
    later("stores/config-only", What::Section("timerwheel"), WHEEL),
    later("stores/config-only", What::Section("timerlog"), WHEEL),
    later("stores/config-only", What::Section("timercheck"), WHEEL),
    later("stores/pop", What::Section("timerwheel"), WHEEL),
    later("stores/pop", What::Section("timerlog"), WHEEL),
    later("stores/pop", What::Section("timercheck"), WHEEL),
    later("stores/timer", What::Section("timerwheel"), WHEEL),
    later("stores/timer", What::Section("timerlog"), WHEEL),
    later("stores/timer", What::Section("timercheck"), WHEEL),
    later("stores/v2-long-topic", What::Section("timerwheel"), WHEEL),
    later("stores/v2-long-topic", What::Section("timerlog"), WHEEL),
    later("stores/v2-long-topic", What::Section("timercheck"), WHEEL),
];

/// Tells what of a store is not compared, and checks that the table speaks of what is there.
pub fn tell(store: &GoldenStore) {
    let expected = &store.expected;
    for entry in TABLE.iter().filter(|entry| entry.store == store.name) {
        let (what, there) = match entry.what {
            What::Messages(name) => {
                (name, expected.java_open.queues.iter().any(|queue| queue.name() == name))
            }
            What::Section(name) => (name, expected.other.contains_key(name)),
            What::Setting(name) => (name, expected.config.get(name).is_some_and(|value| value == "true")),
        };
        assert!(there, "{}: no {what} in it", store.name);
        eprintln!("{}: {what} is left to a later release: {}", store.name, entry.why);
    }
    for section in expected.other.keys().filter(|section| *section != "files") {
        assert!(
            is_section_left(&store.name, section),
            "{}: {section} is neither compared nor left",
            store.name
        );
    }
}

fn is_section_left(store: &str, section: &str) -> bool {
    TABLE
        .iter()
        .any(|entry| entry.store == store && matches!(entry.what, What::Section(name) if name == section))
}

/// True for a queue whose messages are not compared.
pub fn messages_left(store: &str, queue: &str) -> bool {
    let named = |entry: &LaterRelease| matches!(entry.what, What::Messages(name) if name == queue);
    TABLE.iter().any(|entry| entry.store == store && named(entry))
}
