//! Part 1: the files read with the format code alone.

use crate::expected::{Expected, IndexDump, LogEntry, MessageDump, QueueDump};
use crate::golden_store::{GoldenStore, sorted};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use store_core::record_format::{BLANK_LEN, Decoded, Fault, MessageView, decode};
use store_core::{Env, Unit, message_id, properties, tags_code};
use store_logic::index_file::IndexFile;
use store_logic::index_file::format::{IndexGeometry, key_hash, key_of};
use store_logic::store_checkpoint::StoreCheckpoint;

/// Compares everything; panics at the first difference.
pub fn compare(store: &GoldenStore) {
    log(store);
    queues(store);
    crate::other_queues::compare(store);
    index(store);
    checkpoint(store);
    assert_eq!(store.root().join("abort").exists(), store.expected.abort, "{}: abort", store.name);
}

fn log(store: &GoldenStore) {
    let mut entries = store.expected.commitlog.iter();
    let file_size = store.number("mappedFileSizeCommitLog");
    for path in sorted(&store.root().join("commitlog")) {
        let bytes = fs::read(&path).expect("a log file");
        assert_eq!(bytes.len() as u64, file_size, "{}", path.display());
        let from: u64 = path.file_name().and_then(|name| name.to_str()?.parse().ok()).expect("an offset");
        let mut at = 0;
        while at < bytes.len() {
            let place = format!("{}, log position {}", store.name, from + at as u64);
            let entry = entries.next().unwrap_or_else(|| panic!("{place}: nothing more expected"));
            at += log_entry(&place, entry, &bytes[at..], from + at as u64);
        }
    }
    assert!(entries.next().is_none(), "{}: more log entries expected", store.name);
}

/// Compares what stands at the beginning of `rest`; returns its length.
fn log_entry(place: &str, entry: &LogEntry, rest: &[u8], position: u64) -> usize {
    match (decode(rest, true), entry) {
        (Ok(Decoded::Record(view)), LogEntry::Message(message)) => {
            assert_eq!((message.phy, message.physical_offset), (position, Some(position as i64)), "{place}");
            record(place, message, &view, &rest[..view.total_size as usize]);
            view.total_size as usize
        }
        (Ok(Decoded::Blank), LogEntry::Blank { phy, size, file_rest }) => {
            assert_eq!((*phy, *file_rest), (position, rest.len() as u64), "{place}");
            assert_eq!(rest[..4], size.to_be_bytes(), "{place}: length of the blank");
            assert!(rest[BLANK_LEN..].iter().all(|byte| *byte == 0), "{place}: behind the blank");
            rest.len()
        }
        (Err(Fault::Nothing), LogEntry::Zero { phy, length }) => {
            assert_eq!((*phy, *length), (position, rest.len() as u64), "{place}");
            assert!(rest.iter().all(|byte| *byte == 0), "{place}: zeros");
            rest.len()
        }
        (Err(_), LogEntry::Unreadable { phy }) => {
            assert_eq!(*phy, position, "{place}");
            rest.len()
        }
        (found, _) => panic!("{place}: found {found:?}"),
    }
}

fn record(place: &str, message: &MessageDump, view: &MessageView<'_>, bytes: &[u8]) {
    assert_eq!(view.total_size, message.size, "{place}: size");
    assert_eq!(Some(format!("V{}", view.version)), message.version, "{place}: version");
    assert_eq!(Some(view.body_crc), message.body_crc, "{place}: body CRC");
    assert_eq!(view.queue_id, message.queue_id, "{place}: queue id");
    assert_eq!(Some(view.flag), message.flag, "{place}: flag");
    assert_eq!(view.queue_offset, message.queue_offset, "{place}: queue offset");
    assert_eq!(Some(view.physical_offset), message.physical_offset, "{place}: physical offset");
    assert_eq!(Some(view.sys_flag), message.sys_flag, "{place}: sysFlag");
    assert_eq!(Some(view.born_timestamp), message.born_timestamp, "{place}: born timestamp");
    assert_eq!(Some(java_host(view.born_host)), message.born_host, "{place}: born host");
    assert_eq!(Some(view.store_timestamp), message.store_timestamp, "{place}: store timestamp");
    assert_eq!(
        store_core::record_format::store_timestamp(bytes),
        message.store_timestamp,
        "{place}: store timestamp from the head"
    );
    assert_eq!(Some(java_host(view.store_host)), message.store_host, "{place}: store host");
    assert_eq!(Some(view.reconsume_times), message.reconsume_times, "{place}: reconsume times");
    assert_eq!(Some(view.prepared_transaction_offset), message.prepared_transaction_offset, "{place}");
    assert_eq!(view.topic, message.topic, "{place}: topic");
    body(place, message, view.body);
    property_string(place, message, view);
    let id = message_id::encode(&view.store_host, message.phy);
    assert_eq!(Some(&id), message.msg_id.as_ref(), "{place}: message id");
    assert_eq!(message_id::decode(&id), Some((view.store_host, message.phy)), "{place}: message id");
}

fn body(place: &str, message: &MessageDump, body: &[u8]) {
    assert_eq!(Some(body.len()), message.body_length, "{place}: body length");
    match (&message.body_hex, &message.body_sha256) {
        (Some(expected), None) => assert_eq!(&hex(body), expected, "{place}: body"),
        (None, Some(expected)) => assert_eq!(&sha256(body), expected, "{place}: body"),
        // A body of no bytes is not shown.
        (None, None) => assert!(body.is_empty(), "{place}: body"),
        both => panic!("{place}: {both:?}"),
    }
}

fn property_string(place: &str, message: &MessageDump, view: &MessageView<'_>) {
    assert_eq!(Some(view.properties.len()), message.properties_length, "{place}: properties");
    assert_eq!(view.properties.as_bytes(), view.properties_bytes, "{place}: properties");
    match (&message.properties_raw, &message.properties_sha256) {
        (Some(expected), None) => {
            assert_eq!(view.properties, expected, "{place}: properties");
            let pairs: BTreeMap<_, _> = properties::pairs(view.properties).collect();
            let expected = message.properties.iter().flatten();
            let expected: BTreeMap<_, _> =
                expected.map(|(name, value)| (name.as_str(), value.as_str())).collect();
            assert_eq!(pairs, expected, "{place}: properties");
            let again = properties::Properties::parse(view.properties).encode();
            assert_eq!(
                properties::pairs(&again).collect::<BTreeMap<_, _>>(),
                pairs,
                "{place}: written again"
            );
        }
        (None, Some(expected)) => assert_eq!(&sha256(view.properties_bytes), expected, "{place}: properties"),
        both => panic!("{place}: {both:?}"),
    }
    let tags = properties::get(view.properties, properties::names::TAGS);
    assert_eq!(Some(tags_code::tags_code(tags)), message.tags_code, "{place}: tag code");
}

fn queues(store: &GoldenStore) {
    let mut expected = store.expected.consumequeue.iter();
    for topic in sorted(&store.root().join("consumequeue")) {
        for queue in sorted(&topic) {
            let name = queue.display().to_string();
            let dump = expected.next().unwrap_or_else(|| panic!("{name}: not expected"));
            assert!(name.ends_with(&format!("/{}/{}", dump.topic, dump.queue_id)), "{name}");
            units(&name, dump, &sorted(&queue));
        }
    }
    assert!(expected.next().is_none(), "{}: more queues expected", store.name);
}

fn units(name: &str, dump: &QueueDump, paths: &[std::path::PathBuf]) {
    let mut found = Vec::new();
    let mut files = Vec::new();
    for path in paths {
        let bytes = fs::read(path).expect("a queue file");
        let file = path.file_name().and_then(|file| file.to_str()).expect("a name");
        files.push(format!("{file}:{}", bytes.len()));
        let first = file.parse::<u64>().expect("an offset") / 20;
        let units = bytes.chunks_exact(20).map_while(Unit::decode).zip(first..);
        found.extend(units.map(|(unit, at)| (at, unit.phy_offset, unit.size, unit.tags_code)));
    }
    assert_eq!((&files, &found), (&dump.files, &dump.units), "{name}");
    for (_, phy_offset, size, tags_code) in found {
        let bytes = Unit { phy_offset, size, tags_code }.encode();
        assert_eq!(Unit::decode(&bytes), Some(Unit { phy_offset, size, tags_code }), "{name}");
    }
}

fn index(store: &GoldenStore) {
    let geometry = IndexGeometry {
        slots: store.number("maxHashSlotNum") as u32,
        entries: store.number("maxIndexNum") as u32,
    };
    let paths = sorted(&store.root().join("index"));
    assert_eq!(paths.len(), store.expected.index.len(), "{}: index files", store.name);
    for (path, dump) in paths.iter().zip(&store.expected.index) {
        assert_eq!(path.file_name().and_then(|name| name.to_str()), Some(dump.file.as_str()));
        let file = IndexFile::open(&Env::os(), path, geometry).expect("an index file");
        index_file(&file, dump, geometry);
    }
    for lookup in &store.expected.java_open.index_lookups {
        assert_eq!(key_hash(&key_of(&lookup.topic, &lookup.key)), lookup.key_hash, "{}", lookup.key);
    }
}

fn index_file(file: &IndexFile, dump: &IndexDump, geometry: IndexGeometry) {
    let name = file.path().display();
    let header = file.header().expect("a header");
    assert_eq!(
        (header.begin_timestamp, header.end_timestamp),
        (dump.begin_timestamp, dump.end_timestamp),
        "{name}"
    );
    assert_eq!(
        (header.begin_phy_offset, header.end_phy_offset),
        (dump.begin_phy_offset, dump.end_phy_offset),
        "{name}"
    );
    assert_eq!(
        (header.hash_slot_count, header.index_count),
        (dump.hash_slot_count, dump.index_count),
        "{name}"
    );
    for slot in 0..geometry.slots {
        let expected = dump.slots.get(&slot.to_string()).copied().unwrap_or(0);
        assert_eq!(file.slot(slot).expect("a slot"), expected, "{name}: slot {slot}");
    }
    assert_eq!(dump.entries.len() as u32, header.index_count - 1, "{name}");
    for (number, key_hash, phy_offset, time_diff, previous) in &dump.entries {
        let entry = file.entry(*number).expect("an entry");
        let found = (entry.key_hash, entry.phy_offset, entry.time_diff, entry.previous);
        assert_eq!(found, (*key_hash, *phy_offset, *time_diff, *previous), "{name}: entry {number}");
    }
}

fn checkpoint(store: &GoldenStore) {
    let Expected { checkpoint: Some(expected), .. } = &store.expected else {
        assert!(!store.root().join("checkpoint").exists(), "{}: checkpoint", store.name);
        return;
    };
    let checkpoint =
        StoreCheckpoint::open(&Env::os(), &store.root().join("checkpoint")).expect("a checkpoint");
    let fields = checkpoint.fields().expect("fields");
    let found = BTreeMap::from([
        ("physicMsgTimestamp", fields.physic_msg_timestamp),
        ("logicsMsgTimestamp", fields.logics_msg_timestamp),
        ("indexMsgTimestamp", fields.index_msg_timestamp),
        ("masterFlushedOffset", fields.master_flushed_offset),
        ("confirmPhyOffset", fields.confirm_phy_offset),
        ("logicsPhysicalOffset", fields.logics_physical_offset),
    ]);
    for (name, value) in expected {
        assert_eq!(found.get(name.as_str()), Some(value), "{}: checkpoint {name}", store.name);
    }
}

/// As Java writes an address and its port.
fn java_host(host: SocketAddr) -> String {
    match host {
        SocketAddr::V4(host) => host.to_string(),
        SocketAddr::V6(host) => {
            let groups = host.ip().segments().map(|group| format!("{group:x}"));
            format!("{}:{}", groups.join(":"), host.port())
        }
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
