//! Decoders of this layer, each as a function of any bytes: it returns, whatever it gets, and what it asserts holds. Run
//! over seeds and mutated seeds by `tests/decoders.rs`, and by `cargo xtask fuzz` as long as one likes.

use std::ops::ControlFlow;
use std::path::Path;
use store_logic::commit_log::format::{Decoded, decode};
use store_logic::consume_queue::Unit;
use store_logic::index_file::format::IndexGeometry;
use store_logic::message::{message_id, properties};
use store_logic::store_checkpoint::StoreCheckpoint;
use store_logic::{Env, IndexFileSet, java_json, snapshot_file};
use tempfile::TempDir;

/// A target: its name, and what is done with the input.
pub type Target = (&'static str, fn(&[u8]));

/// Name and function of each.
pub const TARGETS: [Target; 8] = [
    ("record", record),
    ("property_string", property_string),
    ("queue_unit", queue_unit),
    ("index_file", index_file),
    ("checkpoint", checkpoint),
    ("snapshot", snapshot),
    ("java_json", json),
    ("message_id", id),
];

/// Those that read a file.
#[allow(dead_code, reason = "fuzzing takes them like any other")]
pub const OF_FILES: [&str; 3] = ["index_file", "checkpoint", "snapshot"];

const GEOMETRY: IndexGeometry = IndexGeometry { slots: 8, entries: 16 };
const CHECKPOINT_SIZE: usize = 4096;
const SNAPSHOT_KIND: u32 = 1;

type State = (u64, String, Vec<(u32, String)>);

/// A directory with one file of these bytes.
fn directory_with(name: &str, bytes: &[u8]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join(name), bytes).unwrap();
    directory
}

/// `bytes`, cut or filled up with zeros.
fn sized(bytes: &[u8], len: usize) -> Vec<u8> {
    let mut sized = bytes[..bytes.len().min(len)].to_vec();
    sized.resize(len, 0);
    sized
}

/// A record is whole: all its parts lie in its bytes, the same bytes alone give the same record, and fewer give none.
fn record(bytes: &[u8]) {
    let unchecked = decode(bytes, false);
    let Ok(Decoded::Record(view)) = &unchecked else { return };
    let size = view.total_size as usize;
    assert!(size <= bytes.len());
    assert!(view.body.len() + view.topic.len() + view.properties_bytes.len() < size);
    assert_eq!(decode(&bytes[..size], false), unchecked);
    assert!(!matches!(decode(&bytes[..size - 1], false), Ok(Decoded::Record(_))));
    if let Ok(Decoded::Record(checked)) = decode(bytes, true) {
        assert_eq!(&checked, view);
    }
}

/// Parsing and writing settle after one round, and all ways of looking a property up agree.
fn property_string(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let parsed = properties::Properties::parse(&text);
    for (name, value) in parsed.iter() {
        assert!(!name.is_empty() && !value.is_empty());
        assert_eq!(properties::get(&text, name), Some(value));
    }
    let written = parsed.encode();
    assert!(written.len() <= text.len() + 1);
    let again = properties::Properties::parse(&written);
    assert_eq!(again.encode(), written);
    assert!(again.iter().eq(parsed.iter()));
}

fn queue_unit(bytes: &[u8]) {
    let Some(unit) = Unit::decode(bytes) else { return };
    assert_eq!(unit.encode()[..], bytes[..20]);
    assert!(unit.end_offset() > unit.phy_offset);
}

/// An index file of any content opens, recovers, and answers queries; nothing loops.
fn index_file(bytes: &[u8]) {
    let directory = directory_with("20260101000000000", &sized(bytes, GEOMETRY.file_size() as usize));
    let Ok(index) = IndexFileSet::load(&Env::os(), directory.path(), GEOMETRY, false) else { return };
    let _ = index.entries();
    let _ = index.end_phy_offset();
    for key in ["k", "key1", ""] {
        let mut found = 0;
        let _ = index.query("TopicTest", key, 0, i64::MAX, |_| {
            found += 1;
            ControlFlow::Continue(())
        });
        assert!(found <= GEOMETRY.entries, "{found} entries found");
    }
}

fn checkpoint(bytes: &[u8]) {
    let directory = directory_with("checkpoint", &sized(bytes, CHECKPOINT_SIZE));
    let path = directory.path().join("checkpoint");
    let fields = StoreCheckpoint::open(&Env::os(), &path).unwrap().fields().unwrap();
    assert_eq!(StoreCheckpoint::open(&Env::os(), &path).unwrap().fields().unwrap(), fields);
    // A file of another size is refused, or read no further than it goes.
    let directory = directory_with("checkpoint", bytes);
    let _ = StoreCheckpoint::open(&Env::os(), &directory.path().join("checkpoint"))
        .map(|checkpoint| checkpoint.fields());
}

/// What can be read can be written, and reads the same again.
fn snapshot(bytes: &[u8]) {
    let env = Env::os();
    let directory = directory_with("snapshot", bytes);
    let path = directory.path().join("snapshot");
    let Ok(Some(state)) = snapshot_file::read::<State>(&env, &path, SNAPSHOT_KIND) else { return };
    snapshot_file::write(&env, &path, SNAPSHOT_KIND, &state).unwrap();
    assert_eq!(snapshot_file::read::<State>(&env, &path, SNAPSHOT_KIND).unwrap(), Some(state));
}

/// What the tolerant reader takes, the strict writer writes, and that settles after one round.
fn json(bytes: &[u8]) {
    let Ok(value) = java_json::parse(bytes) else { return };
    let written = java_json::to_vec(&value).unwrap();
    let again = java_json::parse(&written)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&written)));
    assert_eq!(java_json::to_vec(&again).unwrap(), written);
}

fn id(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Some((host, offset)) = message_id::decode(&text) else { return };
    assert_eq!(message_id::decode(&message_id::encode(&host, offset)), Some((host, offset)));
}

/// Good inputs of each target, to begin with.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let golden = golden_files();
    let ending = |part: &str| -> Vec<Vec<u8>> {
        golden.iter().filter(|(name, _)| name.contains(part)).map(|(_, bytes)| bytes.clone()).collect()
    };
    match target {
        "record" => ending("commitlog/").iter().flat_map(|log| records(log)).collect(),
        "property_string" => {
            vec![b"KEYS\x01k1 k2\x02TAGS\x01TagA\x02".to_vec(), b"a\x01b\x02a\x01c".to_vec()]
        }
        "queue_unit" => ending("consumequeue/")
            .iter()
            .flat_map(|file| file.chunks(20).take(3))
            .map(<[u8]>::to_vec)
            .collect(),
        "index_file" => {
            ending("index/").into_iter().map(|bytes| sized(&bytes, GEOMETRY.file_size() as usize)).collect()
        }
        "checkpoint" => ending("/checkpoint"),
        "snapshot" => {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("snapshot");
            let state: State = (7, "text".to_owned(), vec![(1, "one".to_owned())]);
            snapshot_file::write(&Env::os(), &path, SNAPSHOT_KIND, &state).unwrap();
            vec![std::fs::read(path).unwrap()]
        }
        "java_json" => {
            let mut seeds = ending("config/");
            seeds.push(br#"{1:{"a":[1,-2.5e3,true,null,'x']},"$ref":"$","b":0x1F,}"#.to_vec());
            seeds
        }
        "message_id" => {
            vec![b"0A0908070000 2A9F0000000000000081".to_vec(), b"7F00000100002A9F0000000000000081".to_vec()]
        }
        _ => panic!("no target {target}"),
    }
}

/// The first records of a log file.
fn records(log: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut rest = log;
    while let (Ok(Decoded::Record(view)), true) = (decode(rest, false), found.len() < 8) {
        let size = view.total_size as usize;
        found.push(rest[..size].to_vec());
        rest = &rest[size..];
    }
    found
}

/// Files of one store that Apache left behind, by their names.
fn golden_files() -> Vec<(String, Vec<u8>)> {
    let pack = Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN_PACK);
    let directory = tempfile::tempdir().unwrap();
    store_logic::sparse_archive::unpack(Env::os().disk(), &pack, "stores/plain-abort", directory.path())
        .unwrap();
    let mut found = Vec::new();
    let mut open = vec![directory.path().to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(directory.path()).unwrap().display().to_string();
                found.push((name, std::fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// From the directory of the crate that builds this: store-logic and fuzz lie side by side.
const GOLDEN_PACK: &str = "../store-core/tests/golden/stores.pack";
