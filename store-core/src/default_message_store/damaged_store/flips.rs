//! One bit.

use super::small_store::{SYNCED, SmallStore, UNSYNCED, body, contents, log_file, open, place, read_all};
use crate::config::DamagedCommitLogPolicy;
use crate::default_message_store::Shared;
use crate::error::StoreError;
use std::ops::Range;
use store_logic::commit_log::format::{Decoded, decode};

const ALL: u64 = SYNCED + UNSYNCED;
const EVERY_BIT: [u8; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// Fields of the small store's records whose damage the format does not notice: what stands in them is served. The
/// transaction bits among the sysFlag may make a record invisible once its queue is built again.
const UNNOTICED: [Range<usize>; 7] = [12..16, 16..20, 20..28, 36..40, 40..48, 48..56, 56..88];

/// Bodies that are served must stand where they were put; `lost` may be missing.
fn check_bodies(shared: &Shared, expected: Range<u64>, lost: &[u64], what: &str) {
    let found = read_all(shared);
    for (place_found, body_found) in &found {
        let known =
            expected.clone().any(|number| place(number) == *place_found && body(number) == *body_found);
        assert!(known, "{what}: a body at {place_found:?} that was not put there");
    }
    let missing: Vec<u64> = expected
        .filter(|number| !found.iter().any(|(place_found, _)| *place_found == place(*number)))
        .collect();
    assert!(missing.iter().all(|number| lost.contains(number)), "{what}: {missing:?} are missing");
}

fn is_noticed(record: &[u8], at: u64) -> bool {
    match decode(record, true) {
        Ok(Decoded::Record(view)) => u64::try_from(view.physical_offset) != Ok(at),
        _ => true,
    }
}

/// Flips every bit of a record and checks what a start makes of it.
fn flip_record(
    store: &SmallStore,
    number: u64,
    bits: &[u8],
    check: impl Fn(&store_logic::sim::SimWorld, bool, &str),
) {
    let (at, bytes) = &store.records[number as usize];
    // Of the body a few bytes stand for all.
    let body_at = 88..88 + body(number).len();
    for byte in (0..bytes.len()).filter(|byte| !body_at.contains(byte) || (byte - body_at.start) % 40 == 0) {
        for bit in bits {
            let mut flipped = bytes.clone();
            flipped[byte] ^= 1 << bit;
            let noticed = is_noticed(&flipped, *at);
            let in_text = byte >= body_at.end;
            let may_pass = in_text || UNNOTICED.iter().any(|range| range.contains(&byte));
            assert!(noticed || may_pass, "byte {byte}, bit {bit} of a record passes its checks");
            let world =
                store.with_bit_flipped(&log_file(*at), at % super::small_store::LOG_FILE + byte as u64, *bit);
            check(&world, noticed, &format!("record {number}, byte {byte}, bit {bit}"));
        }
    }
}

#[test]
fn a_flip_in_a_synced_record_stops_the_start_and_changes_nothing() {
    let store = SmallStore::killed();
    // Every bit of one record, and some of the first and the last one.
    for (number, bits) in [(0, &[7][..]), (9, &EVERY_BIT), (SYNCED - 1, &[2])] {
        flip_record(&store, number, bits, |world, noticed, what| {
            let before = contents(&world.env());
            match open(world, DamagedCommitLogPolicy::Stop) {
                Err(StoreError::Damaged(damage)) => {
                    assert!(noticed, "{what}: {damage}");
                    assert_eq!(damage.log_offset, store.records[number as usize].0, "{what}: {damage}");
                    assert!(damage.good_records_behind >= ALL - 1 - number, "{what}: {damage}");
                    assert!(before == contents(&world.env()), "{what}: the refused start changed something");
                }
                Err(other) => panic!("{what}: {other}"),
                Ok(opened) => {
                    assert!(!noticed, "{what}: opened");
                    check_bodies(&opened.shared, 0..ALL, &[], what);
                }
            }
        });
    }
}

#[test]
fn a_flip_in_a_record_that_was_never_synced_ends_the_log_there() {
    let store = SmallStore::killed();
    for (number, bits) in [(SYNCED, &[5][..]), (ALL - 1, &EVERY_BIT)] {
        flip_record(&store, number, bits, |world, noticed, what| {
            let opened =
                open(world, DamagedCommitLogPolicy::Stop).unwrap_or_else(|error| panic!("{what}: {error}"));
            let end = opened.shared.log.max_offset();
            if noticed {
                assert_eq!(end, store.records[number as usize].0, "{what}");
                check_bodies(&opened.shared, 0..number, &[], what);
            } else {
                // Where nothing else holds it, a record whose queue or queue offset is damaged may be elsewhere.
                assert_eq!(end, store.end(), "{what}");
                let elsewhere = |found: &Vec<u8>| *found == body(number);
                let found = read_all(&opened.shared).into_iter().filter(|(_, found)| !elsewhere(found));
                let all: Vec<_> = (0..ALL).filter(|other| *other != number).collect();
                assert_eq!(found.count(), all.len(), "{what}");
            }
        });
    }
}

#[test]
fn a_flip_in_a_synced_record_can_be_skipped_and_stays_skipped() {
    let store = SmallStore::killed();
    for (number, byte) in [(0, 4), (3, 0), (9, 100), (SYNCED - 1, 8)] {
        let (at, _) = store.records[number as usize];
        let world = store.with_bit_flipped(&log_file(at), at % super::small_store::LOG_FILE + byte, 3);
        let what = format!("record {number}, byte {byte}");
        let opened =
            open(&world, DamagedCommitLogPolicy::Skip).unwrap_or_else(|error| panic!("{what}: {error}"));
        check_bodies(&opened.shared, 0..ALL, &[number], &what);
        assert_eq!(opened.shared.log.max_offset(), store.end(), "{what}");
        drop(opened);
        let again = world.restart_after_kill();
        let before = contents(&again.env());
        let opened =
            open(&again, DamagedCommitLogPolicy::Stop).unwrap_or_else(|error| panic!("{what}: {error}"));
        check_bodies(&opened.shared, 0..ALL, &[number], &what);
        drop(opened);
        let same = |path: &&std::path::PathBuf| {
            path.starts_with("/store/commitlog") || path.starts_with("/store/consumequeue")
        };
        let after = contents(&again.env());
        for path in before.keys().filter(same) {
            assert!(before[path] == after[path], "{what}: the second start changed {}", path.display());
        }
    }
}

#[test]
fn a_flip_in_a_unit_leads_to_no_other_bytes() {
    for (store, how) in [(SmallStore::killed(), "killed"), (SmallStore::stopped(), "stopped")] {
        for unit in [0, 3, 7] {
            for byte in 0..20 {
                for bit in 0..8 {
                    let world = store.with_bit_flipped(
                        "/store/consumequeue/T/0/00000000000000000000",
                        unit * 20 + byte,
                        bit,
                    );
                    let what = format!("{how}, unit {unit}, byte {byte}, bit {bit}");
                    let opened = open(&world, DamagedCommitLogPolicy::Stop)
                        .unwrap_or_else(|error| panic!("{what}: {error}"));
                    // A unit whose place in the log is another may be passed over.
                    check_bodies(&opened.shared, 0..ALL, &[unit * 2], &what);
                }
            }
        }
    }
}

#[test]
fn a_flip_in_the_head_of_the_index_is_survived() {
    for (store, how) in [(SmallStore::killed(), "killed"), (SmallStore::stopped(), "stopped")] {
        let index = contents(&store.world.env());
        let index = index.keys().find(|path| path.starts_with("/store/index")).expect("an index file");
        for byte in 0..40 {
            for bit in 0..8 {
                let world = store.with_bit_flipped(index.to_str().expect("text"), byte, bit);
                let what = format!("{how}, byte {byte}, bit {bit}");
                let opened = open(&world, DamagedCommitLogPolicy::Stop)
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
                check_bodies(&opened.shared, 0..ALL, &[], &what);
            }
        }
    }
}

#[test]
fn a_flip_in_checkpoint_mark_or_notes_is_survived() {
    for (store, how) in [(SmallStore::killed(), "killed"), (SmallStore::stopped(), "stopped")] {
        let lengths = contents(&store.world.env());
        for (path, most, bits) in [
            ("/store/checkpoint", 48, &EVERY_BIT[..]),
            ("/store/stratamq.flushed", 24, &EVERY_BIT),
            ("/store/stratamq.snapshot", 200, &[4]),
        ] {
            let len = lengths[std::path::Path::new(path)].len().min(most) as u64;
            for byte in 0..len {
                for bit in bits {
                    let world = store.with_bit_flipped(path, byte, *bit);
                    let what = format!("{how}, {path}, byte {byte}, bit {bit}");
                    let opened = open(&world, DamagedCommitLogPolicy::Stop)
                        .unwrap_or_else(|error| panic!("{what}: {error}"));
                    assert_eq!(opened.shared.log.max_offset(), store.end(), "{what}");
                    check_bodies(&opened.shared, 0..ALL, &[], &what);
                }
            }
        }
    }
}
