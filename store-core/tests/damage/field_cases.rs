//! What went wrong for people who run a store of this kind.

use crate::copies::{copy_store, files};
use crate::test_store::{TestStore, numbered, small_config};
use crate::{contents, flip, log_file, with_policy};
use std::path::Path;
use store_core::config::DamagedCommitLogPolicy;
use store_core::{GetMessageStatus, MessageStore, StoreError};

/// A store with `count` messages in one queue, stopped; returns where they stand.
fn stopped(root: &Path, count: u64) -> Vec<u64> {
    let mut store = TestStore::small(root);
    let mut at = Vec::new();
    for number in 0..count {
        at.push(store.put_with("T", &format!("m{number}"), &format!("KEYS\u{1}k{number}\u{2}")).wrote_offset);
    }
    store.settle();
    store.stop();
    at
}

fn crashed(root: &Path) {
    std::fs::write(root.join("abort"), b"").unwrap();
}

fn refusal(root: &Path) -> StoreError {
    let before = contents(root);
    let error = TestStore::open(small_config(root)).err().expect("a refusal");
    assert!(before == contents(root), "a refused start changes nothing");
    error
}

#[test]
fn field_F03_a_damaged_message_in_the_last_file() {
    let dir = tempfile::tempdir().unwrap();
    let at = stopped(dir.path(), 100);
    crashed(dir.path());
    flip(dir.path(), at[50], 88);
    let StoreError::Damaged(damage) = refusal(dir.path()) else { panic!("another refusal") };
    assert_eq!((damage.log_offset, damage.good_records_behind), (at[50], 49), "{damage}");

    let mut store = TestStore::open(with_policy(dir.path(), DamagedCommitLogPolicy::Truncate)).unwrap();
    let report = store.store.recovery_report();
    assert_eq!((report.log_end, report.dropped_records), (at[50], 49), "{report}");
    assert_eq!(report.set_aside.cut_bytes, report.set_aside.saved_bytes, "{report}");
    assert_eq!(store.store.offsets("T", 0).max, 50);
    for number in 50..60 {
        assert_eq!(store.put("T", 0, &format!("m{number}")).logics_offset, number);
    }
    store.settle();
    assert_eq!(store.read_all("T", 0), numbered("m", 60));
}

#[test]
fn field_F05_a_crash_right_after_the_roll_to_a_new_file() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    let mut count = 0;
    loop {
        let put = store.put("T", 0, &format!("m{count}"));
        count += 1;
        if put.wrote_offset >= 4096 {
            break;
        }
    }
    store.settle();
    store.stop();
    crashed(dir.path());
    // The last three units of the first log file, and the one of the second.
    let units = files(&dir.path().join("consumequeue/T/0"));
    let mut left = 4 * 20;
    for path in units.iter().rev() {
        let mut bytes = std::fs::read(path).unwrap();
        let used = bytes.chunks(20).filter(|unit| unit.iter().any(|byte| *byte != 0)).count() * 20;
        let cut = used.min(left);
        bytes[used - cut..].fill(0);
        std::fs::write(path, bytes).unwrap();
        left -= cut;
    }
    assert_eq!(left, 0);
    std::fs::write(dir.path().join("checkpoint"), [0; 4096]).unwrap();
    let store = TestStore::small(dir.path());
    assert_eq!(store.store.recovery_report().units_rebuilt, 4);
    assert_eq!(store.read_all("T", 0), numbered("m", count));
}

#[test]
fn field_F10_nothing_is_wiped_for_the_very_first_message() {
    let dir = tempfile::tempdir().unwrap();
    let at = stopped(dir.path(), 60);
    crashed(dir.path());
    let store = TestStore::small(dir.path());
    assert_eq!(store.read_all("T", 0), numbered("m", 60));
    store.stop();

    // Everything is walked, and the first message is damaged.
    crashed(dir.path());
    std::fs::write(dir.path().join("checkpoint"), [0; 4096]).unwrap();
    flip(dir.path(), at[0], 88);
    let StoreError::Damaged(damage) = refusal(dir.path()) else { panic!("another refusal") };
    assert_eq!((damage.log_offset, damage.good_records_behind), (0, 59), "{damage}");

    // Nothing is known to have been durable: it makes no difference.
    std::fs::remove_file(dir.path().join("stratamq.snapshot")).unwrap();
    std::fs::remove_file(dir.path().join("stratamq.flushed")).unwrap();
    let StoreError::Damaged(damage) = refusal(dir.path()) else { panic!("another refusal") };
    assert!(damage.to_string().contains("it is the first record of the log"), "{damage}");
    let store = TestStore::open(with_policy(dir.path(), DamagedCommitLogPolicy::Skip)).unwrap();
    assert_eq!(store.read_all("T", 0), numbered("m", 60)[1..]);
}

#[test]
fn field_F13_a_stop_with_dispatch_behind_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    for number in 0..100 {
        store.put("T", 0, &format!("m{number}"));
    }
    // Not settled: wherever dispatch is, the stop waits for it.
    store.stop();
    assert!(!dir.path().join("abort").exists());
    let store = TestStore::small(dir.path());
    assert_eq!(store.read_all("T", 0), numbered("m", 100));
}

#[test]
fn field_F14_what_is_cut_from_the_log_is_cut_from_queues_and_index() {
    let dir = tempfile::tempdir().unwrap();
    let at = stopped(dir.path(), 60);
    flip(dir.path(), at[50], 5);
    let StoreError::Damaged(damage) = refusal(dir.path()) else { panic!("another refusal") };
    assert!(damage.durable.as_deref().unwrap().contains("the last stop in order"), "{damage}");
    assert!(!dir.path().join("abort").exists());

    let store = TestStore::open(with_policy(dir.path(), DamagedCommitLogPolicy::Truncate)).unwrap();
    assert_eq!(store.read_all("T", 0), numbered("m", 50));
    assert_eq!(store.query("T", "k49"), ["m49"]);
    for number in 50..60 {
        assert_eq!(store.query("T", &format!("k{number}")), [""; 0], "{number}");
    }
    store.stop();
    let mut store = TestStore::small(dir.path());
    assert_eq!(store.put("T", 0, "next").logics_offset, 50);
}

#[test]
fn field_F20_queues_that_end_before_the_log_begins() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    for number in 0..5 {
        store.put("Old", 0, &format!("o{number}"));
    }
    while store.put("T", 0, "filling").wrote_offset < 3 * 4096 {}
    store.settle();
    store.stop();
    crashed(dir.path());
    for file in &files(&dir.path().join("commitlog"))[..2] {
        std::fs::remove_file(file).unwrap();
    }
    let mut store = TestStore::small(dir.path());
    assert_eq!(store.store.recovery_report().log_min, 8192);
    let offsets = store.store.offsets("Old", 0);
    assert_eq!((offsets.min, offsets.max), (5, 5), "the number is kept");
    assert_eq!(store.put("Old", 0, "o5").logics_offset, 5);
    store.settle();
    assert_eq!(store.read_all("Old", 0), [(5, "o5".to_owned())]);
}

#[test]
fn field_F22_a_log_that_was_emptied_by_hand() {
    let dir = tempfile::tempdir().unwrap();
    stopped(dir.path(), 60);
    for file in files(&dir.path().join("commitlog")) {
        std::fs::remove_file(file).unwrap();
    }
    let error = refusal(dir.path());
    assert!(matches!(error, StoreError::LogMissing { queues: 1, .. }), "{error}");
    assert!(error.to_string().contains("move consumequeue and index away"), "{error}");
    std::fs::remove_dir_all(dir.path().join("consumequeue")).unwrap();
    std::fs::remove_dir_all(dir.path().join("index")).unwrap();
    std::fs::remove_file(dir.path().join("stratamq.snapshot")).unwrap();
    let mut store = TestStore::small(dir.path());
    let got = store.get("T", 0, 500, 32);
    assert_eq!((got.status, got.next_begin_offset), (GetMessageStatus::NoMessageInQueue, 0));
    assert_eq!(store.put("T", 0, "first").logics_offset, 0);
    store.settle();
    let got = store.get("T", 0, 500, 32);
    assert_eq!((got.status, got.next_begin_offset), (GetMessageStatus::OffsetOverflowBadly, 1));
    assert_eq!(store.query("T", "k7"), [""; 0], "the old index is gone");
}

#[test]
fn field_F27_the_last_file_of_a_queue_holds_no_unit() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    let mut at = Vec::new();
    for number in 0..12 {
        at.push(store.put("T", 0, &format!("m{number}")).wrote_offset);
    }
    store.settle();
    let copy = tempfile::tempdir().unwrap();
    copy_store(dir.path(), copy.path());
    let log = log_file(copy.path(), at[10]);
    let mut bytes = std::fs::read(&log).unwrap();
    bytes[at[10] as usize..].fill(0);
    std::fs::write(log, bytes).unwrap();
    std::fs::write(&files(&copy.path().join("consumequeue/T/0"))[1], vec![0; 200]).unwrap();
    let mut store = TestStore::small(copy.path());
    let offsets = store.store.offsets("T", 0);
    assert_eq!((offsets.min, offsets.max), (0, 10));
    assert_eq!(store.put("T", 0, "m10").logics_offset, 10);
}
