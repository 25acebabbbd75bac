use super::format::key_hash;
use super::*;
use std::ops::ControlFlow;

const SMALL: IndexGeometry = IndexGeometry { slots: 100, entries: 400 };

fn open(dir: &Path) -> IndexFile {
    IndexFile::open(&Env::os(), &dir.join("20261130164748175"), SMALL).unwrap()
}

fn select(file: &IndexFile, key: &str) -> Vec<u64> {
    select_some(file, key, 0, i64::MAX, 64)
}

fn select_some(file: &IndexFile, key: &str, begin: i64, end: i64, max: usize) -> Vec<u64> {
    let mut found = Vec::new();
    let mut accept = |phy_offset| {
        found.push(phy_offset);
        if found.len() == max { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let _ = file.select(key, begin, end, &mut accept).unwrap();
    found
}

#[test]
fn sizes_are_apaches() {
    assert_eq!(IndexGeometry { slots: 5_000_000, entries: 20_000_000 }.file_size(), 420_000_040);
    assert_eq!(SMALL.file_size(), 8_440);
}

#[test]
fn bytes_are_javas() {
    let dir = tempfile::tempdir().unwrap();
    let file = open(dir.path());
    file.put("TopicA#k1", 0, 1_796_057_268_505).unwrap();
    file.put("TopicA#k2", 0, 1_796_057_268_505).unwrap();
    let bytes = std::fs::read(file.path()).unwrap();
    // Slots 49 and 48 of a store made by Apache's classes, and the hashes its entries begin with.
    assert_eq!(bytes[40 + 4 * 49..][..4], [0, 0, 0, 1]);
    assert_eq!(bytes[40 + 4 * 48..][..4], [0, 0, 0, 2]);
    assert_eq!(bytes[440 + 20..][..4], [0x71, 0x71, 0x25, 0xc9]);
    assert_eq!(bytes[440 + 40..][..4], [0x71, 0x71, 0x25, 0xc8]);
    assert_eq!(bytes[36..40], [0, 0, 0, 3]);
}

#[test]
fn chains_hold_all_of_a_hash() {
    let dir = tempfile::tempdir().unwrap();
    let file = open(dir.path());
    assert_eq!(key_hash("T#AaAa"), key_hash("T#BBBB"));
    for number in 0..10 {
        file.put("T#AaAa", number * 100, 1_000 * number as i64 + 1).unwrap();
        file.put("T#other", number * 100, 1_000 * number as i64 + 1).unwrap();
    }
    assert_eq!(select(&file, "T#BBBB"), [900, 800, 700, 600, 500, 400, 300, 200, 100, 0]);
    assert_eq!(select_some(&file, "T#AaAa", 3_001, 5_001, 64), [500, 400, 300]);
    assert_eq!(select_some(&file, "T#AaAa", 0, i64::MAX, 3), [900, 800, 700]);
}

#[test]
fn the_last_number_stays_unused() {
    let dir = tempfile::tempdir().unwrap();
    let file = open(dir.path());
    let mut put = 0;
    while file.put("T#k", put, 5).unwrap() {
        put += 1;
    }
    assert_eq!(put, 399);
    assert!(file.is_full().unwrap());
}

#[test]
fn a_record_that_names_a_key_twice_is_found_once() {
    let dir = tempfile::tempdir().unwrap();
    let file = open(dir.path());
    for phy_offset in [100, 100, 200] {
        file.put("T#k", phy_offset, 5_000).unwrap();
    }
    assert_eq!(select(&file, "T#k"), [200, 100]);
}

#[test]
fn recovery_keeps_what_can_be_right_and_rebuilds_slots() {
    let dir = tempfile::tempdir().unwrap();
    let file = open(dir.path());
    for number in 0..30_u64 {
        file.put(&format!("T#u{number}"), number * 100, 5_000).unwrap();
        file.put("T#k", number * 100, 5_000).unwrap();
    }
    // What a power cut can leave: a slot from the future, a lost slot, a lost entry.
    let slot = SMALL.slot_of(key_hash("T#k"));
    file.cells.store_u32(SMALL.slot_at(slot), 399).unwrap();
    file.cells.store_u32(SMALL.slot_at(SMALL.slot_of(key_hash("T#u3"))), 0).unwrap();
    for at in 0..5 {
        file.cells.store_u32(SMALL.entry_at(41) + 4 * at, 0).unwrap();
    }
    let count = file.plausible_count(0, 3_000).unwrap();
    assert_eq!(count, 41, "entry 41 is the first of record 20");
    file.rebuild(count).unwrap();
    assert_eq!(file.header().unwrap().end_phy_offset, 1_900);
    assert_eq!(select(&file, "T#k").len(), 20);
    assert_eq!(select(&file, "T#u3"), [300]);
    assert_eq!(file.entry(50).unwrap(), format::IndexEntry::default(), "what is dropped is cleared");
    assert_eq!(file.plausible_count(0, 1_000).unwrap(), 21, "the log is shorter");
    assert_eq!(file.plausible_count(1, 3_000).unwrap(), 1, "the file before ends later");
    assert_eq!(file.first_from(file.index_count().unwrap(), 1_000).unwrap(), 21);
    file.rebuild(21).unwrap();
    assert_eq!(select(&file, "T#k").len(), 10);
    file.rebuild(1).unwrap();
    assert_eq!(file.header().unwrap().index_count, 1);
    assert!(select(&file, "T#k").is_empty());
}
