use super::*;
use crate::commit_log::format::Fault;
use crate::commit_log::{CommitLog, RecordBatch};
use crate::consume_queue::{ConsumeQueue, Unit};
use crate::index_file::IndexFile;
use crate::message::Message;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store_mmap::OnDemand;
use store_mmap::inspect::{Finding, Inspector, Place, Range, Selection};
use tempfile::TempDir;

const FILE_SIZE: u64 = 4096;
const GEOMETRY: IndexGeometry = IndexGeometry { slots: 8, entries: 20 };

/// A log of `records` records of the topics A and B in turn.
fn log(records: u64) -> (TempDir, PathBuf, Vec<u64>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("commitlog");
    let log = CommitLog::open(&Env::os(), &path, FILE_SIZE, Arc::new(OnDemand)).unwrap();
    let mut places = Vec::new();
    for number in 0..records {
        let body = format!("body of message {number}").repeat(10);
        let properties = format!("KEYS\u{1}k{number} all\u{2}UNIQ_KEY\u{1}u{number}\u{2}TAGS\u{1}t\u{2}");
        let message = Message {
            topic: if number % 2 == 0 { "A" } else { "B" },
            queue_id: 1,
            flag: 0,
            sys_flag: 0,
            born_timestamp: 1,
            born_host: "10.0.0.1:40000".parse().unwrap(),
            store_host: "10.0.0.2:10911".parse().unwrap(),
            reconsume_times: 0,
            prepared_transaction_offset: 0,
            body: body.as_bytes(),
            properties: &properties,
        };
        let mut batch = RecordBatch::new();
        batch.push(&message, 1 << 20).unwrap();
        let (mut tail, _) = log.lock_tail(|| 1_700_000_000_000 + number as i64 * 1000);
        let appended = tail.append(&mut batch, number / 2, 1_700_000_000_000 + number as i64 * 1000).unwrap();
        places.push(appended.phy_offset);
    }
    (dir, path, places)
}

fn flip(path: &Path, at: u64) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[at as usize] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

/// Positions of records and damage of a walk.
fn walk(path: &Path) -> (Vec<u64>, Vec<(u64, Damage)>, LogSummary) {
    let (mut records, mut damages) = (Vec::new(), Vec::new());
    let mut reader = LogReader::open(&Env::os(), path).unwrap();
    let summary = reader
        .walk(0, u64::MAX, &mut |at, item| {
            match item {
                LogItem::Record(view) => {
                    assert_eq!(view.physical_offset as u64, at);
                    records.push(at);
                }
                LogItem::Damage(damage) => damages.push((at, damage.clone())),
                LogItem::Blank => {}
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    (records, damages, summary)
}

fn findings(inspector: &dyn Inspector, path: &Path) -> Vec<Finding> {
    let place = Place::open(Env::os().disk(), path).unwrap();
    assert!(inspector.recognises(&place), "{}", path.display());
    let mut findings = Vec::new();
    inspector.verify(&place, &mut |finding| findings.push(finding)).unwrap();
    findings
}

fn kinds(inspector: &dyn Inspector, path: &Path) -> Vec<&'static str> {
    findings(inspector, path).iter().map(|finding| finding.kind).collect()
}

fn dump(inspector: &dyn Inspector, path: &Path, selection: &Selection) -> Vec<String> {
    let place = Place::open(Env::os().disk(), path).unwrap();
    let mut lines = Vec::new();
    let visit = &mut |fields: store_mmap::inspect::Fields| {
        lines.push(fields.to_string());
        ControlFlow::Continue(())
    };
    inspector.dump(&place, selection, visit).unwrap();
    lines
}

#[test]
fn a_whole_log_has_no_damage() {
    let (_dir, path, places) = log(30);
    let (records, damages, summary) = walk(&path);
    assert_eq!(records, places);
    assert!(damages.is_empty(), "{damages:?}");
    assert_eq!((summary.records, summary.last_store_timestamp), (30, 1_700_000_029_000));
    let mut reader = LogReader::open(&Env::os(), &path).unwrap();
    assert!(reader.files().files().len() > 2);
    assert!(reader.record_at(places[7]).unwrap().is_some());
    assert!(reader.record_at(places[7] + 1).unwrap().is_none());
    let third = reader.files().files()[2].offset;
    let first_in_third = places.iter().position(|place| *place == third).unwrap() as i64;
    let at = 1_700_000_000_000 + first_in_third * 1000;
    assert_eq!(reader.start_for_time(at).unwrap(), third);
    assert!(reader.start_for_time(at - 1).unwrap() < third);
}

#[test]
fn every_flipped_byte_of_a_record_is_found_and_the_others_are_read() {
    let (_dir, path, places) = log(4);
    let file = path.join("00000000000000000000");
    let whole = std::fs::read(&file).unwrap();
    // Queue, flags, times and hosts carry no check of their own in the log.
    let unchecked = [12..28, 36..48, 48..84_u64];
    for at in places[1]..places[2] {
        let within = at - places[1];
        flip(&file, at);
        let (records, damages, _) = walk(&path);
        std::fs::write(&file, &whole).unwrap();
        let properties = records.len() == 4;
        if unchecked.iter().any(|range| range.contains(&within)) || (properties && within > 300) {
            continue;
        }
        let others = [places[0], places[2], places[3]];
        assert!(others.iter().all(|place| records.contains(place)), "byte {within}: {records:?}");
        assert_eq!(damages.len(), usize::from(records.len() == 3), "byte {within}: {damages:?}");
        if within < 12 {
            assert_eq!(damages[0].0, places[1], "byte {within}");
            assert_eq!(damages[0].1.resumes_at, Some(places[2]), "byte {within}");
        }
    }
}

#[test]
fn a_hole_is_damage_and_a_torn_tail_has_nothing_behind() {
    let (_dir, path, places) = log(12);
    let file = path.join("00000000000000000000");
    let whole = std::fs::read(&file).unwrap();
    let mut bytes = whole.clone();
    bytes[places[1] as usize..places[3] as usize].fill(0);
    std::fs::write(&file, &bytes).unwrap();
    let (records, damages, _) = walk(&path);
    assert_eq!(records.len(), 10);
    assert_eq!(damages, [(places[1], Damage { fault: Fault::Nothing, resumes_at: Some(places[3]) })]);
    std::fs::write(&file, &whole).unwrap();

    let last = *places.last().unwrap();
    let last_file = path.join(format!("{:020}", last / FILE_SIZE * FILE_SIZE));
    flip(&last_file, last % FILE_SIZE + 100);
    let (records, damages, summary) = walk(&path);
    assert_eq!((records.len(), summary.end), (11, last));
    assert!(
        matches!(damages[..], [(at, Damage { fault: Fault::BodyCrc { .. }, resumes_at: None })] if at == last)
    );
    let found = findings(&CommitLogInspector::new(&Env::os()), &last_file);
    assert_eq!((found[0].kind, found[0].offset), ("torn-tail", Some(last % FILE_SIZE)));
}

#[test]
fn a_log_that_ends_with_a_blank_record_ends_with_its_file() {
    let (_dir, path, places) = log(30);
    for entry in std::fs::read_dir(&path).unwrap() {
        let later = entry.unwrap().path();
        if !later.ends_with("00000000000000000000") {
            std::fs::remove_file(later).unwrap();
        }
    }
    let (records, damages, summary) = walk(&path);
    assert!(records.len() < places.len() && damages.is_empty(), "{damages:?}");
    assert_eq!(summary.end, FILE_SIZE);
}

#[test]
fn a_blank_record_of_another_length_is_damage() {
    let (_dir, path, places) = log(30);
    let file = path.join("00000000000000000000");
    let blank = std::fs::read(&file).unwrap().windows(4).rposition(|at| at == [0xCB, 0xD4, 0x31, 0x94]);
    let blank = blank.unwrap() as u64 - 4;
    flip(&file, blank + 3);
    let (records, damages, _) = walk(&path);
    assert_eq!(records, places, "the records behind it are read");
    let [(at, damage)] = &damages[..] else { panic!("{damages:?}") };
    assert_eq!((*at, damage.resumes_at), (blank, Some(FILE_SIZE)));
    assert!(
        damage.fault.to_string().contains(&format!("expected {}, the rest", FILE_SIZE - blank)),
        "{damage:?}"
    );
}

#[test]
fn the_log_is_listed_by_topic_key_time_and_offset() {
    let (_dir, path, places) = log(8);
    let inspector = CommitLogInspector::new(&Env::os());
    let file = path.join("00000000000000000000");
    let count = |selection: &Selection| dump(&inspector, &file, selection).len();
    let all = count(&Selection::all());
    assert!(all > 4);
    assert_eq!(count(&Selection::all().with_text(conditions::TOPIC, Some("B".to_owned()))), all / 2);
    let key = |key: &str| Selection::all().with_text(conditions::KEY, Some(key.to_owned()));
    assert_eq!((count(&key("k3")), count(&key("u3")), count(&key("all")), count(&key("k"))), (1, 1, all, 0));
    let time = Range { from: Some(1_700_000_001_000), to: Some(1_700_000_002_000) };
    assert_eq!(count(&Selection::all().with_range(conditions::TIME, time)), 2);
    let offsets = Range { from: Some(places[1] as i64), to: Some(places[3] as i64 - 1) };
    let lines = dump(&inspector, &file, &Selection::all().with_range(conditions::OFFSET, offsets));
    assert_eq!(lines.len(), 2);
    assert!(
        lines[0].contains("topic=B queueId=1 queueOffset=0 uniqKey=u1 keys=\"k1 all\" tags=t"),
        "{}",
        lines[0]
    );
}

#[test]
fn holes_and_disorder_of_a_queue_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let directory = dir.path().join("consumequeue/T/3");
    let queue = ConsumeQueue::open(&Env::os(), &directory, "T", 3, 400).unwrap();
    for number in 0..30_u64 {
        queue.put(number, Unit { phy_offset: number * 100, size: 100, tags_code: 0 }).unwrap();
    }
    drop(queue);
    let inspector = ConsumeQueueInspector::new(&Env::os());
    let first = directory.join("00000000000000000000");
    let second = directory.join("00000000000000000400");
    assert!(kinds(&inspector, &first).is_empty() && kinds(&inspector, &second).is_empty());
    let mut reader = QueueReader::open(&Env::os(), &directory).unwrap();
    assert_eq!((reader.first(), reader.end().unwrap()), (0, 30));
    let unit = QueuePlace::Unit(Unit { phy_offset: 2500, size: 100, tags_code: 0 });
    assert_eq!(reader.place(25).unwrap(), unit);
    assert_eq!(
        (reader.place(30).unwrap(), reader.place(40).unwrap()),
        (QueuePlace::Empty, QueuePlace::Outside)
    );
    let mut bytes = std::fs::read(&second).unwrap();
    bytes[40..60].fill(0);
    bytes[86] = 0;
    std::fs::write(&second, bytes).unwrap();
    let found = findings(&inspector, &second);
    assert_eq!(found[0].kind, "missing-unit");
    assert!(found[0].to_string().contains("byte 40, topic=T queueId=3 queueOffset=22"), "{}", found[0]);
    assert_eq!((found[1].kind, found[1].offset), ("unit-order", Some(80)));
    let range = Range { from: Some(28), to: None };
    let lines = dump(&inspector, &second, &Selection::all().with_range(conditions::OFFSET, range));
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0], "topic=T queueId=3 queueOffset=28 offset=2800 size=100 tagsCode=0");
    assert_eq!(QueueDirectory::list(Env::os().disk(), &dir.path().join("consumequeue")).unwrap().len(), 1);
}

#[test]
fn chains_slots_and_header_of_an_index_are_checked() {
    let dir = tempfile::tempdir().unwrap();
    let directory = dir.path().join("index");
    std::fs::create_dir(&directory).unwrap();
    let path = directory.join("20240101000000000");
    let index = IndexFile::open(&Env::os(), &path, GEOMETRY).unwrap();
    for number in 0..15_u64 {
        index.put(&format!("T#k{number}"), number * 100, 1_700_000_000_000 + number as i64 * 1000).unwrap();
    }
    index.flush().unwrap();
    drop(index);
    let inspector = IndexFileInspector::new(&Env::os(), &[GEOMETRY]);
    assert!(kinds(&inspector, &path).is_empty());
    let selection = Selection::all()
        .with_text(conditions::TOPIC, Some("T".to_owned()))
        .with_text(conditions::KEY, Some("k9".to_owned()));
    assert_eq!(dump(&inspector, &path, &selection).len(), 1);
    let whole = std::fs::read(&path).unwrap();
    let damages = [
        (GEOMETRY.entry_at(9) + 19, "index-chain"),
        (GEOMETRY.slot_at(crate::index_file::format::key_hash("T#k14") % 8) + 3, "index-slot"),
        (crate::index_file::format::END_PHY_OFFSET_AT + 7, "index-header"),
    ];
    for (at, kind) in damages {
        flip(&path, at);
        assert!(kinds(&inspector, &path).contains(&kind), "{kind}");
        std::fs::write(&path, &whole).unwrap();
    }
    std::fs::write(&path, &whole[1..]).unwrap();
    assert_eq!(kinds(&inspector, &path), ["index-length"]);
}

#[test]
fn small_files_are_recognised_and_checked() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let env = Env::os();
    let notes = dir.path().join("stratamq.snapshot");
    crate::snapshot_file::write(&env, &notes, 7, &("state", 1_u64)).unwrap();
    assert!(kinds(&NotesFileInspector::new(&env), &notes).is_empty());
    flip(&notes, 25);
    assert_eq!(kinds(&NotesFileInspector::new(&env), &notes), ["snapshot-envelope"]);

    let topics = write("config/topics.json", b"{\"dataVersion\":{},\"topicConfigTable\":{1:{},\"b\":{}}}");
    let place = Place::open(env.disk(), &topics).unwrap();
    assert_eq!(ConfigFileInspector.summarise(&place).unwrap().to_string(), "topicConfigTable=2");
    assert!(kinds(&ConfigFileInspector, &topics).is_empty());
    let broken = write("config/consumerOffset.json", b"{\"offsetTable\":{");
    assert_eq!(kinds(&ConfigFileInspector, &broken), ["settings-syntax"]);

    let mut checkpoint = vec![0; 4096];
    checkpoint[47] = 9;
    let checkpoint = write("checkpoint", &checkpoint);
    assert!(kinds(&CheckpointInspector, &checkpoint).is_empty());
    let place = Place::open(env.disk(), &checkpoint).unwrap();
    assert_eq!(read_checkpoint(&place).unwrap().logics_physical_offset, 9);
    flip(&checkpoint, 0);
    assert!(kinds(&CheckpointInspector, &checkpoint).is_empty());
    std::fs::write(&checkpoint, [0xFF; 100]).unwrap();
    assert_eq!(kinds(&CheckpointInspector, &checkpoint), ["checkpoint-length"]);

    let abort = write("abort", b"4711");
    assert!(kinds(&MarkerFileInspector, &abort).is_empty());
    let registry = registry(&env, &[]);
    let place = Place::open(env.disk(), &abort).unwrap();
    assert_eq!(registry.inspector_of(&place).name(), "marker file");
}
