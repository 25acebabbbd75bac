//! Faults met in the field, in small.
#![allow(non_snake_case, reason = "tests of field cases carry the case's number")]

use super::format::{key_hash, key_of};
use super::*;
use std::ops::ControlFlow;

const SMALL: IndexGeometry = IndexGeometry { slots: 100, entries: 400 };

fn open(dir: &Path) -> IndexFile {
    IndexFile::open(&Env::os(), &dir.join("20261130164748175"), SMALL).unwrap()
}

/// Positions found in a range of seconds, newest first.
fn select(file: &IndexFile, key: &str, begin: i64, end: i64) -> Vec<u64> {
    let mut found = Vec::new();
    let mut accept = |phy_offset| {
        found.push(phy_offset);
        ControlFlow::Continue(())
    };
    let _ = file.select(key, begin * 1000, end * 1000, &mut accept).unwrap();
    found
}

#[test]
fn field_F50_the_smallest_hash_has_a_slot() {
    let dir = tempfile::tempdir().unwrap();
    let file = open(dir.path());
    for (number, key) in [key_of("TopicTest", "aXA4ptp"), "polygenelubricants".to_owned()].iter().enumerate()
    {
        let phy_offset = number as u64 * 100 + 100;
        assert_eq!(crate::message::tags_code::java_string_hash(key), i32::MIN);
        assert_eq!((key_hash(key), SMALL.slot_of(key_hash(key))), (0, 0));
        assert!(file.put(key, phy_offset, 5_000).unwrap());
        assert_eq!(file.slot(0).unwrap(), number as u32 + 1);
        assert_eq!(select(&file, key, 0, 10)[0], phy_offset);
    }
}

/// Hashes that are equal share a chain and are found together: what tells them apart is the record. Hashes that share a
/// slot alone are not.
#[test]
fn field_F51_a_shared_slot_is_no_shared_hash() {
    let dir = tempfile::tempdir().unwrap();
    let file = open(dir.path());
    let first = "T#k0".to_owned();
    let slot = |key: &str| SMALL.slot_of(key_hash(key));
    let neighbour = (1..).map(|number| format!("T#k{number}"));
    let neighbour = neighbour.into_iter().find(|key| slot(key) == slot(&first)).unwrap();
    assert_ne!(key_hash(&first), key_hash(&neighbour));
    file.put(&first, 100, 5_000).unwrap();
    file.put(&neighbour, 200, 5_000).unwrap();
    file.put(&first, 300, 5_000).unwrap();
    assert_eq!((select(&file, &first, 0, 10), select(&file, &neighbour, 0, 10)), (vec![300, 100], vec![200]));
    assert_eq!(file.header().unwrap().hash_slot_count, 1);
}

#[test]
fn field_F52_the_header_counts_slots_once() {
    let dir = tempfile::tempdir().unwrap();
    let file = open(dir.path());
    for number in 1..=5 {
        file.put("T#same", number * 100, 1_000 * number as i64).unwrap();
    }
    file.put("T#other", 600, 6_000).unwrap();
    let expected = IndexHeader {
        begin_timestamp: 1_000,
        end_timestamp: 6_000,
        begin_phy_offset: 100,
        end_phy_offset: 600,
        hash_slot_count: 2,
        index_count: 7,
    };
    assert_eq!(file.header().unwrap(), expected);
    let bytes = std::fs::read(file.path()).unwrap();
    assert_eq!(bytes[32..40], [0, 0, 0, 2, 0, 0, 0, 7]);
    assert_eq!(bytes[440..460], [0; 20], "entry 0 is never used");

    // Older releases of Apache's count entries there: the count is a statistic, nothing depends on it.
    drop(file);
    let path = dir.path().join("20261130164748175");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[35] = 6;
    std::fs::write(&path, bytes).unwrap();
    let file = open(dir.path());
    assert_eq!(select(&file, "T#same", 0, 10).len(), 5);
    assert!(file.put("T#same", 700, 7_000).unwrap());
}

#[test]
fn field_F54_a_clock_that_went_back_hides_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let file = open(dir.path());
    for (phy_offset, seconds) in [(100, 1_000), (200, 2_000), (300, 500), (400, 2_100)] {
        file.put("T#k", phy_offset, seconds * 1000).unwrap();
    }
    assert_eq!(select(&file, "T#k", 1_900, 2_200), [400, 200]);
    assert_eq!(select(&file, "T#k", 0, 3_000), [400, 300, 200, 100]);
    // It may also stand behind the first entry: then the entry itself says that it is older.
    file.put("T#k", 500, 1_500_000).unwrap();
    assert_eq!(select(&file, "T#k", 1_900, 2_200), [400, 200]);
    assert_eq!(select(&file, "T#k", 1_400, 1_600), [500]);
}

#[test]
fn field_F54_a_file_that_ends_before_it_begins_is_searched() {
    let dir = tempfile::tempdir().unwrap();
    let file = open(dir.path());
    file.put("T#k", 100, 2_000_000).unwrap();
    file.put("T#k", 200, 500_000).unwrap();
    assert!(file.overlaps(1_900_000, 2_200_000).unwrap());
    assert_eq!(select(&file, "T#k", 1_900, 2_200), [200, 100], "an earlier time counts as the first");
}
