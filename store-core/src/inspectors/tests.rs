use super::*;
use crate::config::MessageStoreConfig;
use crate::{DefaultMessageStore, Message, MessageStore};
use std::fs;
use std::ops::ControlFlow;
use store_logic::index_file::format::IndexGeometry;
use store_logic::inspect::{Finding, Place, Selection, Severity};
use store_logic::sparse_archive;
use tempfile::TempDir;

const ARCHIVE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/stores.pack");
const LOG_FILE: u64 = 32 << 10;
const GEOMETRY: IndexGeometry = IndexGeometry { slots: 16, entries: 100 };

fn config(root: &Path) -> MessageStoreConfig {
    let mut config = MessageStoreConfig::new(root);
    config.commit_log.mapped_file_size_commit_log = LOG_FILE;
    config.commit_log.preallocate = false;
    config.consume_queue.mapped_file_size_consume_queue = 400;
    config.index.max_hash_slot_num = GEOMETRY.slots;
    config.index.max_index_num = GEOMETRY.entries;
    config.clean.disk_space_warning_level_ratio = 100;
    config
}

/// A store of 120 messages in two topics, stopped in order.
fn store() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let store = DefaultMessageStore::open(&Env::os(), config(dir.path())).unwrap();
    for number in 0..120_u32 {
        let body = format!("body {number} ").repeat(80);
        let properties = format!("KEYS\u{1}k{number}\u{2}UNIQ_KEY\u{1}u{number}\u{2}TAGS\u{1}t\u{2}");
        let message = Message {
            topic: if number % 3 == 0 { "Rare" } else { "Often" },
            queue_id: (number % 2) as i32,
            flag: 0,
            sys_flag: 0,
            born_timestamp: 1_700_000_000_000,
            born_host: "127.0.0.1:40000".parse().unwrap(),
            store_host: "127.0.0.1:10911".parse().unwrap(),
            reconsume_times: 0,
            prepared_transaction_offset: 0,
            body: body.as_bytes(),
            properties: &properties,
        };
        assert!(store.put(&message).wait().appended.is_some());
    }
    store.shutdown().unwrap();
    dir
}

fn inspect(root: &Path) -> StoreInspection {
    StoreInspection::open(&Env::os(), root, &InspectOptions::default()).unwrap()
}

fn verify(store: &StoreInspection) -> (VerifySummary, Vec<Finding>) {
    let mut findings = Vec::new();
    let summary = store.verify(&mut |_| {}, &mut |finding| findings.push(finding)).unwrap();
    (summary, findings)
}

fn errors(root: &Path) -> Vec<Finding> {
    let mut findings = verify(&inspect(root)).1;
    findings.retain(|finding| finding.severity == Severity::Error);
    findings
}

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

/// Every file below, with its content.
fn contents(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut entries: Vec<_> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let mut contents = Vec::new();
    for entry in entries {
        if entry.is_dir() {
            contents.extend(self::contents(&entry));
        } else {
            contents.push((entry.clone(), fs::read(&entry).unwrap()));
        }
    }
    contents
}

/// Position of the record of a key.
fn offset_of(root: &Path, key: &str) -> u64 {
    let mut at = None;
    let address = MessageAddress::Key { key: key.to_owned(), topic: None };
    let found = inspect(root).find(&address, &mut |_| {}, &mut |offset, _| {
        at = Some(offset);
        ControlFlow::Continue(())
    });
    assert_eq!(found.unwrap(), 1, "{key}");
    at.unwrap()
}

fn log_file(root: &Path, offset: u64) -> (PathBuf, usize) {
    (root.join(format!("commitlog/{:020}", offset / LOG_FILE * LOG_FILE)), (offset % LOG_FILE) as usize)
}

#[test]
fn a_whole_store_is_clean_and_stays_as_it_is() {
    let dir = store();
    let before = contents(dir.path());
    let store = inspect(dir.path());
    let (summary, findings) = verify(&store);
    assert_eq!(findings, []);
    assert_eq!((summary.records, summary.units, summary.queues), (120, 120, 4));
    assert_eq!(summary.index_entries, 360);
    assert_eq!(store.in_use().unwrap(), None);
    let info = store.info().unwrap().to_string();
    assert!(info.contains("lastStop=\"in order\""), "{info}");
    assert!(info.contains("maxHashSlotNum=16 maxIndexNum=100"), "{info}");
    assert!(info.contains(&format!("goes on at {}", summary.log_end)), "{info}");
    assert!(store.log_bytes().unwrap() >= summary.log_end - 100);
    let usage = store.usage_by_topic(&mut |_| {}).unwrap();
    let rows: Vec<_> =
        usage.iter().map(|usage| (usage.topic.as_str(), usage.records, usage.queues)).collect();
    assert_eq!(rows, [("Often", 80, 2), ("Rare", 40, 2)]);
    for file in &before {
        let place = Place::open(Env::os().disk(), &file.0).unwrap();
        let registry = store.registry();
        let inspector = registry.inspector_of(&place);
        assert_ne!(inspector.name(), "file", "{}: not recognised", file.0.display());
        inspector.summarise(&place).unwrap();
        inspector.dump(&place, &Selection::all(), &mut |_| ControlFlow::Continue(())).unwrap();
    }
    assert_eq!(contents(dir.path()), before);
}

#[test]
fn a_message_is_found_by_all_its_names() {
    let dir = store();
    let store = inspect(dir.path());
    let offset = offset_of(dir.path(), "k77");
    let find = |address: MessageAddress| {
        let mut bodies = Vec::new();
        let count = store.find(&address, &mut |_| {}, &mut |at, view| {
            bodies.push((at, view.queue_id, view.queue_offset));
            ControlFlow::Continue(())
        });
        assert_eq!(count.unwrap(), bodies.len() as u64);
        bodies
    };
    let found = find(MessageAddress::Offset(offset));
    let (_, queue_id, queue_offset) = found[0];
    let id = store_logic::message::message_id::encode(&"127.0.0.1:10911".parse().unwrap(), offset);
    let queue_offset = queue_offset as u64;
    let addresses = [
        MessageAddress::Id { id, topic: None },
        MessageAddress::Id { id: "u77".to_owned(), topic: None },
        MessageAddress::Key { key: "k77".to_owned(), topic: Some("Often".to_owned()) },
        MessageAddress::Queue { topic: "Often".to_owned(), queue_id, queue_offset },
    ];
    for address in addresses {
        assert_eq!(find(address.clone()), found, "{address:?}");
    }
    for address in
        [MessageAddress::Offset(offset + 1), MessageAddress::Key { key: "none".to_owned(), topic: None }]
    {
        assert_eq!(find(address), []);
    }
    fs::remove_dir_all(dir.path().join("index")).unwrap();
    assert_eq!(find(MessageAddress::Id { id: "u77".to_owned(), topic: None }), found, "without an index");
}

#[test]
fn a_flipped_bit_in_a_body_is_named_with_its_place() {
    let dir = store();
    let offset = offset_of(dir.path(), "k50");
    let (file, at) = log_file(dir.path(), offset);
    change(&file, |bytes| bytes[at + 120] ^= 1);
    let errors = errors(dir.path());
    let damaged = &errors[0];
    assert_eq!((damaged.kind, &damaged.file, damaged.offset), ("damaged-record", &file, Some(at as u64)));
    assert!(damaged.found.contains("body CRC"), "{damaged}");
    // The message that is lost is named, and nothing else for the same reason.
    let kinds: Vec<_> = errors.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, ["damaged-record", "lost-message"]);
    assert!(errors[1].to_string().contains("topic=Often queueId=0 queueOffset=16"), "{}", errors[1]);
}

#[test]
fn every_flipped_bit_of_a_records_first_bytes_is_found() {
    let dir = store();
    let (file, at) = log_file(dir.path(), offset_of(dir.path(), "k50"));
    // Size, magic, CRC, queue, (flag), queue offset, position.
    for byte in (0..16).chain(20..36) {
        for bit in 0..8 {
            change(&file, |bytes| bytes[at + byte] ^= 1 << bit);
            let errors = errors(dir.path());
            change(&file, |bytes| bytes[at + byte] ^= 1 << bit);
            let named = errors.iter().any(|finding| finding.to_string().contains("queueOffset=16"));
            assert!(named, "byte {byte}, bit {bit}: {errors:?}");
        }
    }
    assert_eq!(errors(dir.path()), []);
}

#[test]
fn missing_foreign_and_unknown_units_are_named() {
    let dir = store();
    let queue = dir.path().join("consumequeue/Often/1");
    let second = queue.join("00000000000000000400");
    let whole = fs::read(&second).unwrap();

    change(&second, |bytes| bytes[60..100].fill(0));
    let found = errors(dir.path());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].kind, &found[0].file, found[0].offset), ("missing-unit", &second, Some(60)));
    assert!(found[0].to_string().contains("topic=Often queueId=1 queueOffset=23"), "{}", found[0]);
    assert!(found[0].to_string().contains("units=2"), "{}", found[0]);
    fs::write(&second, &whole).unwrap();

    let other = fs::read(dir.path().join("consumequeue/Rare/1/00000000000000000000")).unwrap();
    change(&second, |bytes| bytes[60..80].copy_from_slice(&other[40..60]));
    let found = errors(dir.path());
    assert_eq!((found[0].kind, found[0].offset), ("foreign-unit", Some(60)), "{found:?}");
    assert!(found[0].to_string().contains("queueOffset=23"), "{}", found[0]);
    fs::write(&second, &whole).unwrap();

    change(&second, |bytes| bytes[79] ^= 1);
    let found = errors(dir.path());
    assert_eq!((found.len(), found[0].kind, found[0].offset), (1, "unit-tags-code", Some(60)));
    fs::write(&second, &whole).unwrap();

    // Two units more than there are messages: one of a record that is another queue's, one behind the log.
    let end = whole.chunks_exact(20).position(|unit| unit.iter().all(|byte| *byte == 0));
    let (last, at) = match end {
        Some(place) => (second.clone(), place * 20),
        None => (queue.join("00000000000000000800"), 0),
    };
    if !last.exists() {
        fs::write(&last, [0; 400]).unwrap();
    }
    let rare = fs::read(dir.path().join("consumequeue/Rare/1/00000000000000000000")).unwrap();
    let foreign = rare.chunks_exact(20).rfind(|unit| unit.iter().any(|byte| *byte != 0)).unwrap().to_vec();
    let beyond = [&(1_u64 << 40).to_be_bytes()[..], &100_u32.to_be_bytes(), &[0; 8]].concat();
    change(&last, |bytes| bytes[at..at + 40].copy_from_slice(&[foreign, beyond].concat()));
    let kinds: Vec<_> = errors(dir.path()).iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, ["unit-order", "foreign-unit", "unit-beyond-log"]);
}

#[test]
fn wrong_and_missing_index_entries_are_named() {
    let dir = store();
    let index = dir.path().join("index");
    let first = contents(&index)[0].0.clone();
    let whole = fs::read(&first).unwrap();
    let entry = GEOMETRY.entry_at(40) as usize;
    change(&first, |bytes| bytes[entry + 3] ^= 16);
    let found = errors(dir.path());
    let wrong = found.iter().find(|finding| finding.kind == "wrong-index-entry").unwrap();
    assert_eq!((&wrong.file, wrong.offset), (&first, Some(entry as u64)));
    assert!(found.iter().any(|finding| finding.kind == "missing-index-entry"), "{found:?}");
    fs::write(&first, &whole).unwrap();

    change(&first, |bytes| bytes[entry + 11] ^= 1);
    let kinds: Vec<_> = errors(dir.path()).iter().map(|finding| finding.kind).collect();
    assert!(kinds.contains(&"foreign-index-entry") || kinds.contains(&"index-order"), "{kinds:?}");
    fs::write(&first, &whole).unwrap();

    fs::remove_file(contents(&index).last().unwrap().0.clone()).unwrap();
    let found = errors(dir.path());
    assert!(found.iter().any(|finding| finding.kind == "missing-index-entries"), "{found:?}");
    fs::remove_dir_all(&index).unwrap();
    assert_eq!(errors(dir.path()), [], "no index is no error");
}

#[test]
fn a_checkpoint_ahead_of_the_log_is_named() {
    let dir = store();
    let checkpoint = dir.path().join("checkpoint");
    change(&checkpoint, |bytes| bytes[0] = 1);
    let found = errors(dir.path());
    assert_eq!((found[0].kind, found[0].offset), ("checkpoint-ahead", Some(0)), "{found:?}");
    change(&checkpoint, |bytes| bytes[0] = 0);
    change(&checkpoint, |bytes| bytes[8..16].copy_from_slice(&1_u64.to_be_bytes()));
    let found = errors(dir.path());
    assert_eq!((found[0].kind, found[0].offset), ("checkpoint-record", Some(40)), "{found:?}");
}

#[test]
fn after_a_crash_what_a_start_repairs_is_a_note() {
    let dir = store();
    fs::write(dir.path().join("abort"), b"1").unwrap();
    let queue = dir.path().join("consumequeue/Rare/0/00000000000000000000");
    change(&queue, |bytes| bytes[360..400].fill(0));
    let (summary, findings) = verify(&inspect(dir.path()));
    assert_eq!((summary.errors, summary.notes), (0, 1), "{findings:?}");
    assert_eq!(findings[0].kind, "missing-unit");
    let info = inspect(dir.path()).info().unwrap().to_string();
    assert!(info.contains("as after a crash"), "{info}");
    fs::remove_file(dir.path().join("abort")).unwrap();
    assert_eq!(errors(dir.path()).len(), 1, "without abort it is an error");
}

#[test]
fn a_topic_made_anew_is_a_note() {
    let dir = store();
    let root = dir.path();
    // As a Java broker deletes: the queues go, the records stay, nobody notes it.
    fs::remove_dir_all(root.join("consumequeue/Rare")).unwrap();
    fs::remove_file(root.join("stratamq.snapshot")).unwrap();
    let topics = root.join("config/topics.json");
    fs::create_dir_all(topics.parent().unwrap()).unwrap();
    fs::write(&topics, b"{\"topicConfigTable\":{\"Often\":{}}}").unwrap();
    let options = InspectOptions {
        max_hash_slot_num: Some(GEOMETRY.slots),
        max_index_num: Some(GEOMETRY.entries),
        ..InspectOptions::default()
    };
    let verify = || verify(&StoreInspection::open(&Env::os(), root, &options).unwrap());
    let (summary, findings) = verify();
    assert_eq!((summary.errors, findings[0].kind, findings.len()), (0, "no-queue", 2), "{findings:?}");

    // The queue begins again with the units of two later records; those of two earlier ones are not there.
    let queue = root.join("consumequeue/Often/0/00000000000000000000");
    let log = fs::read_dir(root.join("commitlog")).unwrap().count();
    assert!(log > 2);
    let mut places = Vec::new();
    let store = StoreInspection::open(&Env::os(), root, &options).unwrap();
    for key in ["k2", "k4", "k8"] {
        let address = MessageAddress::Key { key: key.to_owned(), topic: Some("Often".to_owned()) };
        let visit = &mut |offset, view: &store_logic::commit_log::format::MessageView<'_>| {
            places.push((offset, view.queue_offset));
            ControlFlow::Continue(())
        };
        store.find(&address, &mut |_| {}, visit).unwrap();
    }
    let (third, _) = places[2];
    assert_eq!(places.iter().map(|place| place.1).collect::<Vec<_>>(), [0, 1, 2]);
    // The third record says that it is the first of the queue.
    let (file, at) = log_file(root, third);
    change(&file, |bytes| bytes[at + 20..at + 28].fill(0));
    change(&queue, |bytes| {
        let unit = bytes[40..60].to_vec();
        bytes[..20].copy_from_slice(&unit);
    });
    let (_, findings) = verify();
    let replaced = findings.iter().find(|finding| finding.kind == "replaced-records").unwrap();
    assert!(replaced.to_string().contains("topic=Often queueId=0"), "{replaced}");
}

#[test]
fn lost_files_are_named() {
    let dir = store();
    let second = dir.path().join("commitlog/00000000000000032768");
    fs::rename(&second, dir.path().join("away")).unwrap();
    let found = errors(dir.path());
    let kinds: Vec<_> = found.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, ["missing-file", "lost-message", "lost-message", "lost-message", "lost-message"]);
    let info = inspect(dir.path()).info().unwrap().to_string();
    assert!(info.contains("is refused"), "{info}");
    fs::rename(dir.path().join("away"), &second).unwrap();
    let last = contents(&dir.path().join("commitlog")).pop().unwrap().0;
    fs::rename(&last, dir.path().join("away")).unwrap();
    let kinds: Vec<_> = errors(dir.path()).iter().map(|finding| finding.kind).collect();
    assert!(kinds.contains(&"unit-beyond-log") && kinds.contains(&"log-end"), "{kinds:?}");
    fs::rename(dir.path().join("away"), &last).unwrap();
    fs::remove_dir_all(dir.path().join("consumequeue/Rare")).unwrap();
    let found = errors(dir.path());
    assert_eq!(found.iter().map(|finding| finding.kind).collect::<Vec<_>>(), ["missing-unit"; 2]);
    assert!(
        found[0].found.contains("no queue file") && found[0].to_string().contains("units=20"),
        "{}",
        found[0]
    );
}

#[test]
fn sizes_come_from_options_notes_or_defaults() {
    let dir = store();
    assert!(inspect(dir.path()).info().unwrap().to_string().contains("from stratamq.snapshot"));
    fs::remove_file(dir.path().join("stratamq.snapshot")).unwrap();
    let (_, findings) = verify(&inspect(dir.path()));
    let kinds: Vec<_> = findings.iter().map(|finding| finding.kind).collect();
    assert!(kinds.contains(&"index-length") && kinds.contains(&"no-index"), "{kinds:?}");
    let options = InspectOptions {
        max_hash_slot_num: Some(GEOMETRY.slots),
        max_index_num: Some(GEOMETRY.entries),
        ..InspectOptions::default()
    };
    let store = StoreInspection::open(&Env::os(), dir.path(), &options).unwrap();
    assert_eq!(verify(&store).1, []);
    let root = StoreInspection::root_of(&Env::os(), &dir.path().join("consumequeue/Often/1")).unwrap();
    assert_eq!(root.as_deref(), Some(dir.path()));
    let empty = tempfile::tempdir().unwrap();
    assert!(StoreInspection::open(&Env::os(), empty.path(), &InspectOptions::default()).is_err());
}

/// Stores that an Apache broker left, in order or killed.
#[test]
fn stores_of_an_apache_broker_are_clean() {
    let archive = tempfile::tempdir().unwrap();
    let env = Env::os();
    sparse_archive::unpack(env.disk(), Path::new(ARCHIVE), "", archive.path()).unwrap();
    let mut seen = 0;
    for folder in ["java-classes", "stores"] {
        let mut roots: Vec<_> =
            fs::read_dir(archive.path().join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        roots.sort();
        for root in roots.iter().filter(|root| root.join("expected.json").exists()) {
            let name = root.file_name().unwrap().to_str().unwrap();
            let text = fs::read_to_string(root.join("expected.json")).unwrap();
            let expected: serde_json::Value = serde_json::from_str(&text).unwrap();
            fs::remove_file(root.join("expected.json")).unwrap();
            let number = |key: &str| {
                let value = expected.get("config").and_then(|config| config.get(key)?.as_str());
                value.and_then(|value| value.parse().ok())
            };
            let options = InspectOptions {
                max_hash_slot_num: number("maxHashSlotNum"),
                max_index_num: number("maxIndexNum"),
                ..InspectOptions::default()
            };
            let store = StoreInspection::open(&env, root, &options).unwrap();
            let (summary, findings) = verify(&store);
            store.info().unwrap();
            assert_eq!(summary.errors, 0, "{name}: {findings:#?}");
            seen += usize::from(summary.records > 0);
        }
    }
    assert!(seen > 20, "{seen}");
}

/// Copies of a killed broker's store, each damaged in one way.
#[test]
fn damaged_stores_of_an_apache_broker_are_told_from_whole_ones() {
    let archive = tempfile::tempdir().unwrap();
    let env = Env::os();
    sparse_archive::unpack(env.disk(), Path::new(ARCHIVE), "stores/torn-tail/", archive.path()).unwrap();
    let mut roots: Vec<_> =
        fs::read_dir(archive.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    roots.sort();
    let mut seen = 0;
    for root in roots.iter().filter(|root| root.join("expected.json").exists()) {
        fs::remove_file(root.join("expected.json")).unwrap();
        let options = InspectOptions {
            max_hash_slot_num: Some(100),
            max_index_num: Some(400),
            ..InspectOptions::default()
        };
        let store = StoreInspection::open(&env, root, &options).unwrap();
        let (summary, findings) = verify(&store);
        let name = root.file_name().unwrap().to_str().unwrap();
        let mut kinds: Vec<_> = findings.iter().map(|finding| finding.kind).collect();
        kinds.dedup();
        let torn = ["torn-tail", "unit-beyond-log", "checkpoint-ahead", "checkpoint-record"];
        let torn_late = ["torn-tail", "unit-beyond-log", "checkpoint-ahead"];
        let lost = ["foreign-index-entry", "unit-beyond-log", "checkpoint-ahead", "checkpoint-record"];
        let expected: &[&str] = match name {
            // Nothing that carries a check of its own was touched, or nothing that this looks at.
            "cut-in-properties" | "topics-json-missing" => &[],
            "bad-body-bit" | "bad-crc-field" => &torn_late,
            "queue-behind-and-bad-tail" => &["torn-tail", "missing-unit", "checkpoint-ahead"],
            "garbage-tail" | "stale-tail" => &["torn-tail"],
            "gone" | "last-file-all-zero" | "last-file-gone" => &lost,
            "middle-file-empty" => &["stray-file", "missing-file", "unit-beyond-log", torn[2], torn[3]],
            "last-file-empty" => &["empty-file"],
            "last-file-short" => &["file-length"],
            "queue-behind" | "queue-empty" | "queue-missing" | "queue-file-short" | "clean-queue-behind" => {
                &["missing-unit"]
            }
            "middle-body-bit" | "clean-bad-middle-body" => &["damaged-record", "lost-message"],
            "index-missing" => &["no-index"],
            "index-short" => &["index-length", "no-index"],
            "checkpoint-missing" => &["no-checkpoint"],
            "checkpoint-future" => &["checkpoint-ahead", "checkpoint-record"],
            _ => &torn,
        };
        assert_eq!(kinds, expected, "{name}: {findings:#?}");
        let repaired = [
            "cut-in-properties",
            "topics-json-missing",
            "last-file-empty",
            "queue-behind",
            "queue-empty",
            "queue-missing",
            "queue-file-short",
            "index-missing",
            "checkpoint-missing",
        ];
        assert_eq!(summary.errors == 0, repaired.contains(&name), "{name}: {findings:#?}");
        let plan = store.info().unwrap().to_string();
        let is_bad = kinds.contains(&"torn-tail") || name.contains("middle-body");
        let was_durable = name.starts_with("clean-");
        assert_eq!(plan.contains("cuts the log"), is_bad && !was_durable, "{name}: {plan}");
        assert_eq!(
            plan.contains("is refused: ") && plan.contains("is damaged"),
            is_bad && was_durable,
            "{name}: {plan}"
        );
        seen += 1;
    }
    assert_eq!(seen, 37);
}
