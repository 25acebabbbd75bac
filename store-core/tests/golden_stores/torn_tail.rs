//! What a crash, a bad disk or a careless hand may leave: 37 damaged copies of one store. The result is Java's where
//! that is right, and the right one where it is not.

use crate::golden_store::{self, GoldenStore};
use crate::messages::message;
use crate::opened::{Indexed, read_all};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use store_core::config::DamagedCommitLogPolicy;
use store_core::{DefaultMessageStore, MessageStore, StoreError};

/// What comes of a variant.
enum Outcome {
    /// It opens.
    Opens(Opens),
    /// It does not, and the error names this.
    Refused(&'static str),
    /// It does not unless somebody says what to do: a record that was durable is damaged.
    Damaged(Damaged),
}

struct Damaged {
    /// The damaged record.
    at: u64,
    /// Where the next one begins.
    resumes_at: u64,
    /// Its queue, by its place in the list, and its queue offset.
    lost: (usize, u64),
    /// When what is behind it is cut.
    truncated: Opens,
    /// End of the two queues when it is passed over.
    skipped_max: [u64; 2],
}

struct Opens {
    log_end: u64,
    /// End of the two queues.
    max: [u64; 2],
    /// Good records behind the cut.
    dropped: u64,
    /// Why this is not what Java makes of it.
    unlike_java: Option<&'static str>,
}

/// The variants that lose the last record.
const LAST_RECORD_LOST: &[&str] = &[
    "bad-body-bit",
    "bad-crc-field",
    "bad-magic",
    "body-length-bad",
    "cut-after-length",
    "cut-in-body",
    "cut-in-header",
    "gone",
    "properties-length-bad",
    "queue-behind-and-bad-tail",
    "size-negative",
    "size-plus-one",
    "size-too-big",
    "size-zero-magic-kept",
    "topic-length-bad",
];

/// The variants that lose nothing.
const NOTHING_LOST: &[&str] = &[
    "checkpoint-future",
    "checkpoint-missing",
    "cut-in-properties",
    "garbage-tail",
    "index-missing",
    "index-short",
    "last-file-empty",
    "queue-behind",
    "topics-json-missing",
];

fn outcome(variant: &str) -> Outcome {
    let opens = |log_end, max| Opens { log_end, max, dropped: 0, unlike_java: None };
    let whole = || opens(86_386, [30, 30]);
    Outcome::Opens(match variant {
        "last-file-short" | "middle-file-empty" => return Outcome::Refused("commitlog/"),
        "queue-file-short" => return Outcome::Refused("consumequeue/"),
        // The checkpoint says nothing, so nothing is known to have been durable.
        "middle-body-bit" => Opens { dropped: 7, ..opens(72_486, [26, 26]) },
        "clean-bad-middle-body" => {
            return Outcome::Damaged(Damaged {
                at: 72_486,
                resumes_at: 72_728,
                lost: (0, 26),
                truncated: Opens { dropped: 7, ..opens(72_486, [26, 26]) },
                skipped_max: [30, 30],
            });
        }
        "clean-bad-last-magic" => {
            return Outcome::Damaged(Damaged {
                at: 80_161,
                resumes_at: 86_386,
                lost: (1, 29),
                truncated: opens(80_161, [30, 29]),
                skipped_max: [30, 29],
            });
        }
        "last-file-gone" => opens(65_430, [24, 24]),
        "last-file-all-zero" => opens(65_536, [24, 24]),
        "physical-offset-bad" => Opens {
            unlike_java: Some("a record that stands elsewhere than it says is none"),
            ..opens(80_161, [30, 29])
        },
        "stale-tail" => Opens { unlike_java: Some("a stale copy is no record"), ..whole() },
        "queue-empty" => Opens { unlike_java: Some("units belong where the records say"), ..whole() },
        "queue-missing" => Opens { unlike_java: Some("a lost queue is built from its beginning"), ..whole() },
        "clean-queue-behind" => Opens { unlike_java: Some("nothing undispatched is passed over"), ..whole() },
        _ if LAST_RECORD_LOST.contains(&variant) => opens(80_161, [30, 29]),
        _ if NOTHING_LOST.contains(&variant) => whole(),
        _ => panic!("{variant}: not in the table"),
    })
}

#[test]
fn every_variant_comes_to_its_right_end() {
    let archive = golden_store::unpack("stores/torn-tail/");
    let list: serde_json::Value =
        serde_json::from_slice(&fs::read(archive.path().join("variants.json")).expect("a list"))
            .expect("JSON");
    let variants: BTreeSet<&str> =
        list["variants"].as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(variants.len(), 37);
    let base = GoldenStore::unpack("stores/plain-abort");
    for variant in variants {
        check(variant, &base);
    }
}

fn check(variant: &str, base: &GoldenStore) {
    let mut golden = GoldenStore::unpack(&format!("stores/torn-tail/{variant}"));
    golden.expected.config.clone_from(&base.expected.config);
    match outcome(variant) {
        Outcome::Refused(names) => {
            assert!(!golden.expected.java_open.load, "{variant}: Java refuses as well");
            refuses(&golden, names);
        }
        Outcome::Damaged(damaged) => {
            stops(&golden, &damaged);
            passes_over(variant, base, &damaged);
            golden.policy = DamagedCommitLogPolicy::Truncate;
            opens_as(variant, &golden, base, damaged.truncated);
        }
        Outcome::Opens(opens) => opens_as(variant, &golden, base, opens),
    }
}

fn opens_as(variant: &str, golden: &GoldenStore, base: &GoldenStore, opens: Opens) {
    assert!(golden.expected.java_open.load, "{variant}: Java opens it as well");
    compare_with_java(variant, golden, &opens);
    let store = golden.open().unwrap_or_else(|error| panic!("{variant}: {error}"));
    compare(variant, golden, base, &opens, &store);
    store.shutdown().unwrap_or_else(|error| panic!("{variant}: {error}"));
    drop(store);
    // The second start finds everything settled.
    let before = golden.contents(&["commitlog", "consumequeue", "index"]);
    let store = golden.open().unwrap_or_else(|error| panic!("{variant}, again: {error}"));
    let report = store.recovery_report();
    assert_eq!((report.clean, report.units_rebuilt, &report.cut), (true, 0, &None), "{variant}: {report}");
    compare(variant, golden, base, &Opens { dropped: 0, ..opens }, &store);
    store.shutdown().unwrap_or_else(|error| panic!("{variant}, again: {error}"));
    drop(store);
    let changed = before == golden.contents(&["commitlog", "consumequeue", "index"]);
    assert!(changed, "{variant}: the second start changed files");
}

/// Without a word nothing is changed.
fn stops(golden: &GoldenStore, damaged: &Damaged) {
    let before = golden.contents(&[""]);
    let error = golden.open().err().unwrap_or_else(|| panic!("{}: opened", golden.name));
    let StoreError::Damaged(found) = &error else { panic!("{}: {error}", golden.name) };
    assert_eq!((found.log_offset, found.resumes_at), (damaged.at, damaged.resumes_at), "{error}");
    assert_eq!(found.good_records_behind, damaged.truncated.dropped, "{error}");
    let text = error.to_string();
    let at = format!("store truncate {} --at {}", golden.root().display(), damaged.at);
    assert!(text.contains("commitlog/00000000000000065536") && text.contains(&at), "{text}");
    let after = golden.contents(&[""]);
    let names = |contents: &BTreeMap<String, Vec<u8>>| contents.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&before), names(&after), "{}: changed", golden.name);
    assert!(before == after, "{}: changed", golden.name);
}

/// With `skip` everything but the damaged record is there, and its place stays empty.
fn passes_over(variant: &str, base: &GoldenStore, damaged: &Damaged) {
    let mut golden = GoldenStore::unpack(&format!("stores/torn-tail/{variant}"));
    golden.expected.config.clone_from(&base.expected.config);
    golden.policy = DamagedCommitLogPolicy::Skip;
    for round in 0..3 {
        let before = golden.contents(&["commitlog", "consumequeue"]);
        let store = golden.open().unwrap_or_else(|error| panic!("{variant}: {error}"));
        let report = store.recovery_report();
        assert_eq!((report.log_end, &report.cut), (86_386, &None), "{variant}: {report}");
        assert_eq!(report.skipped.len(), usize::from(round == 0), "{variant}: {report}");
        for (number, queue) in base.expected.java_open.queues.iter().enumerate() {
            let offsets = store.offsets(&queue.topic, queue.queue_id);
            assert_eq!((offsets.min, offsets.max), (0, damaged.skipped_max[number]), "{variant}");
            let expected: Vec<_> = queue
                .messages
                .iter()
                .filter(|message| (number, message.0 as u64) != damaged.lost)
                .copied()
                .collect();
            assert_eq!(
                read_all(&store, &queue.topic, queue.queue_id),
                expected,
                "{variant}: {}",
                queue.name()
            );
        }
        if round == 2 {
            for (number, queue) in base.expected.java_open.queues.iter().enumerate() {
                let put = store.put(&message(&queue.topic, queue.queue_id, b"next")).wait().appended;
                assert_eq!(put.map(|put| put.logics_offset), Some(30), "{variant}: queue {number}");
            }
        }
        store.shutdown().unwrap_or_else(|error| panic!("{variant}: {error}"));
        let after = golden.contents(&["commitlog", "consumequeue"]);
        assert!(round != 1 || before == after, "{variant}: the second start changed files");
    }
    let store = golden.open().unwrap_or_else(|error| panic!("{variant}: {error}"));
    for queue in &base.expected.java_open.queues {
        assert_eq!(store.offsets(&queue.topic, queue.queue_id).max, 31, "{variant}");
    }
}

/// The table against what Java did: equal, or said to be unlike.
fn compare_with_java(variant: &str, golden: &GoldenStore, opens: &Opens) {
    let java = &golden.expected.java_open;
    let ranges: Vec<_> = java.queues.iter().map(|queue| (queue.min, queue.max)).collect();
    let ours: Vec<_> = opens.max.iter().map(|max| (0, *max)).collect();
    let equal = java.max_phy_offset == Some(opens.log_end) && ranges == ours;
    assert_eq!(
        equal,
        opens.unlike_java.is_none(),
        "{variant}: Java has {:?} {ranges:?}",
        java.max_phy_offset
    );
    if let Some(why) = opens.unlike_java {
        eprintln!("torn-tail/{variant}: unlike Java, because {why}");
    }
}

fn refuses(golden: &GoldenStore, names: &str) {
    let before = golden.contents(&["commitlog", "consumequeue", "index"]);
    let error = golden.open().err().unwrap_or_else(|| panic!("{}: opened", golden.name)).to_string();
    let names_file = error.contains(names) && error.contains("expected a file of");
    assert!(names_file, "{}: {error}", golden.name);
    assert_eq!(before, golden.contents(&["commitlog", "consumequeue", "index"]), "{}: changed", golden.name);
    assert!(golden.root().join("abort").exists(), "{}: still counts as crashed", golden.name);
}

fn compare(
    variant: &str,
    golden: &GoldenStore,
    base: &GoldenStore,
    opens: &Opens,
    store: &DefaultMessageStore,
) {
    let report = store.recovery_report();
    assert_eq!((report.log_min, report.log_end), (0, opens.log_end), "{variant}: {report}");
    assert_eq!(report.dropped_records, opens.dropped, "{variant}: {report}");
    assert!(opens.dropped == 0 || report.cut.is_some(), "{variant}: {report}");
    let info = store.runtime_info();
    assert_eq!(info["commitLogMaxOffset"], opens.log_end.to_string(), "{variant}");
    assert_eq!(info["dispatchBehindBytes"], "0", "{variant}");
    for (queue, max) in base.expected.java_open.queues.iter().zip(opens.max) {
        let offsets = store.offsets(&queue.topic, queue.queue_id);
        assert_eq!((offsets.min, offsets.max), (0, max), "{variant}: {}", queue.name());
        let found = read_all(store, &queue.topic, queue.queue_id);
        assert_eq!(found, queue.messages[..max as usize], "{variant}: {}", queue.name());
    }
    if variant == "cut-in-properties" {
        // The last record has lost the end of its property string, and a key with it.
        return;
    }
    let keys = Indexed::read(base, store).compare(&golden.name, store);
    let lost: usize =
        base.expected.messages().filter(|message| message.phy >= opens.log_end).map(|_| 1).sum();
    assert!(keys >= 100 - 2 * lost, "{variant}: {keys} keys");
}

/// Good records that were cut must not come back when a new one has grown up to where they stood.
#[test]
fn what_was_cut_stays_away() {
    let mut golden = GoldenStore::unpack("stores/torn-tail/middle-body-bit");
    golden.expected.config = GoldenStore::unpack("stores/plain-abort").expected.config;
    let store = golden.open().expect("opens");
    let cut = store.recovery_report().log_end;
    // As long as the bad record was: the good ones stood right behind it.
    let body = [b'x'; 242 - 91 - "TopicAbort".len()];
    let put = store.put(&message("TopicAbort", 0, &body)).wait().appended.expect("stored");
    assert_eq!((put.wrote_offset, put.wrote_bytes, put.logics_offset), (cut, 242, 26));
    drop(store);

    let store = golden.open().expect("opens");
    let report = store.recovery_report();
    assert_eq!((report.clean, report.log_end, &report.cut), (false, cut + 242, &None));
    assert_eq!(store.offsets("TopicAbort", 0).max, 27);
    assert_eq!(store.offsets("TopicAbort", 1).max, 26);
}
