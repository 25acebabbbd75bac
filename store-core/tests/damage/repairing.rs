//! The library behind `stratamq store truncate` and `repair`, and what a repaired store is like.

use crate::test_store::{TestStore, numbered, small_config};
use crate::{contents, flip, with_policy};
use std::path::Path;
use store_core::config::DamagedCommitLogPolicy;
use store_core::inspectors::{InspectOptions, StoreInspection};
use store_core::record_format::Checksum;
use store_core::repair::{RepairMode, StoreRepair};
use store_core::{Env, MessageStore};

/// Two queues of forty messages each; returns where those of the first stand.
fn stopped(root: &Path) -> Vec<u64> {
    let mut store = TestStore::small(root);
    let mut at = Vec::new();
    for number in 0..40 {
        at.push(store.put_with("A", &format!("a{number}"), &format!("KEYS\u{1}k{number}\u{2}")).wrote_offset);
        store.put("B", 0, &format!("b{number}"));
    }
    store.settle();
    store.stop();
    at
}

fn repair(root: &Path) -> StoreRepair {
    StoreRepair::open(&Env::os(), root, &InspectOptions::default()).unwrap()
}

fn errors(root: &Path) -> Vec<String> {
    let store = StoreInspection::open(&Env::os(), root, &InspectOptions::default()).unwrap();
    let mut errors = Vec::new();
    let summary = store.verify(&mut |_| {}, &mut |finding| errors.push(finding.to_string())).unwrap();
    if summary.errors > 0 { errors } else { Vec::new() }
}

#[test]
fn every_damaged_stretch_is_listed_and_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let at = stopped(dir.path());
    let damaged = [3, 20, 21, 39];
    for number in damaged {
        flip(dir.path(), at[number], 90);
    }
    let store = repair(dir.path());
    let found = store.damages(Checksum::Body).unwrap();
    assert_eq!(
        found.iter().map(|damage| damage.log_offset).collect::<Vec<_>>(),
        damaged.map(|number| at[number])
    );
    assert!(found.iter().all(|damage| damage.durable.is_some()));

    let before = contents(dir.path());
    for damage in &found {
        let planned = store.skip(damage, RepairMode::DryRun).unwrap();
        assert_eq!((planned.lost_places, planned.saved.files.len()), (1, 0));
        assert_eq!(planned.saved.cut_bytes, damage.damaged_bytes());
    }
    assert!(before == contents(dir.path()), "a dry run changed something");

    for damage in &found {
        let done = store.skip(damage, RepairMode::Do).unwrap();
        assert_eq!((done.lost_places, done.saved.saved_bytes), (1, damage.damaged_bytes()));
    }
    assert!(store.damages(Checksum::Body).unwrap().is_empty());
    drop(store);
    assert_eq!(errors(dir.path()), [""; 0]);

    let mut store = TestStore::small(dir.path());
    let report = store.store.recovery_report();
    assert_eq!((report.clean, report.lost_bytes, &report.cut), (true, 0, &None), "{report}");
    let left: Vec<_> =
        numbered("a", 40).into_iter().filter(|message| !damaged.contains(&(message.0 as usize))).collect();
    assert_eq!(store.read_all("A", 0), left);
    assert_eq!(store.read_all("B", 0), numbered("b", 40));
    assert_eq!(store.query("A", "k20"), [""; 0]);
    assert_eq!(store.query("A", "k19"), ["a19"]);
    // The last message of the queue was lost, and its place is not given again.
    assert_eq!(store.put("A", 0, "a40").logics_offset, 40);
    store.settle();
    store.stop();
    let store = TestStore::small(dir.path());
    assert_eq!(store.read_all("A", 0).last(), Some(&(40, "a40".to_owned())));
    assert_eq!(store.store.offsets("A", 0).max, 41);
}

#[test]
fn a_log_is_cut_where_a_record_begins_and_nowhere_else() {
    let dir = tempfile::tempdir().unwrap();
    let at = stopped(dir.path());
    let store = repair(dir.path());
    let before = contents(dir.path());
    let error = store.truncate(at[30] + 1, RepairMode::Do).unwrap_err().to_string();
    assert!(error.contains(&format!("such as {}", at[30])), "{error}");
    let planned = store.truncate(at[30], RepairMode::DryRun).unwrap();
    assert_eq!(planned.records, 20);
    assert!(before == contents(dir.path()), "changed");

    let done = store.truncate(at[30], RepairMode::Do).unwrap();
    assert_eq!((done.records, done.saved.cut_bytes), (20, planned.saved.cut_bytes));
    let saved: u64 = done.saved.files.iter().map(|path| std::fs::metadata(path).unwrap().len()).sum();
    assert_eq!(saved, planned.saved.cut_bytes);
    drop(store);

    let mut store = TestStore::small(dir.path());
    let report = store.store.recovery_report();
    assert_eq!((report.log_end, report.lost_bytes), (at[30], 0), "{report}");
    assert_eq!(store.read_all("A", 0), numbered("a", 30));
    assert_eq!(store.put("A", 0, "a30").logics_offset, 30);
    store.settle();
    store.stop();
    assert_eq!(errors(dir.path()), [""; 0]);
}

#[test]
fn the_key_skips_at_the_start_and_a_second_start_finds_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let at = stopped(dir.path());
    flip(dir.path(), at[39], 4);
    let mut store = TestStore::open(with_policy(dir.path(), DamagedCommitLogPolicy::Skip)).unwrap();
    let report = store.store.recovery_report();
    assert_eq!((report.skipped.len(), report.skipped[0].from), (1, at[39]), "{report}");
    assert!(report.to_string().contains("passed over"), "{report}");
    assert_eq!(store.read_all("A", 0), numbered("a", 39));
    assert_eq!(store.read_all("B", 0), numbered("b", 40));
    assert_eq!(store.put("A", 0, "a40").logics_offset, 40);
    store.settle();
    store.stop();
    let store = TestStore::open(small_config(dir.path())).unwrap();
    let report = store.store.recovery_report();
    assert_eq!((report.skipped.len(), report.units_rebuilt), (0, 0), "{report}");
    assert_eq!(store.read_all("A", 0).len(), 40);
}

#[test]
fn a_deleted_topic_takes_its_lost_places_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let at = stopped(dir.path());
    flip(dir.path(), at[39], 90);
    let store = repair(dir.path());
    for damage in store.damages(Checksum::Body).unwrap() {
        store.skip(&damage, RepairMode::Do).unwrap();
    }
    drop(store);
    let lost = dir.path().join("stratamq.lost");
    let mut store = TestStore::small(dir.path());
    assert!(lost.exists());
    store.store.delete_topics(&["A"]).unwrap();
    assert!(!lost.exists());
    assert_eq!(store.put("A", 0, "first").logics_offset, 0);
    store.settle();
    store.stop();
    assert_eq!(TestStore::small(dir.path()).read_all("A", 0), [(0, "first".to_owned())]);
}
