use crate::copies::files;
use crate::test_store::{TestStore, small_config};
use crate::{check_filled, fill};
use std::path::Path;
use store_core::{LogPositions, MessageStore};

fn contents(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for path in files(root) {
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            found.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
    found
}

#[test]
fn a_stopped_store_is_found_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    assert!(dir.path().join("abort").exists());
    fill(&mut store, 0, 40);
    store.stop();
    assert!(!dir.path().join("abort").exists());
    let log = contents(&dir.path().join("commitlog"));
    let last = log.last().unwrap();
    assert!(last.1.iter().any(|byte| *byte != 0), "the file made ahead of need is gone: {}", last.0);

    let (log, queues) = (log, contents(&dir.path().join("consumequeue")));
    let store = TestStore::small(dir.path());
    let report = store.store.recovery_report().clone();
    assert_eq!((report.clean, report.units_rebuilt, &report.cut), (true, 0, &None), "{report}");
    assert_eq!((report.log_min, report.lost_bytes, report.dropped_records), (0, 0, 0), "{report}");
    assert!(report.scanned_from > 0, "not the whole log: {report}");
    store.stop();
    assert_eq!(
        (contents(&dir.path().join("commitlog")), contents(&dir.path().join("consumequeue"))),
        (log, queues)
    );
    check_filled(&mut TestStore::small(dir.path()), 40);
}

#[test]
fn what_counts_on_the_log_is_saved_before_the_store_is_given_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    fill(&mut store, 0, 5);
    let mut called = 0;
    let save = |positions: LogPositions| {
        called += 1;
        assert_eq!(positions.durable, positions.end);
        // It goes last, before the lock is given back.
        assert!(dir.path().join("abort").exists(), "a crash here is still one");
    };
    store.store.shutdown_with(save).unwrap();
    store.store.shutdown_with(|_| panic!("stopped before")).unwrap();
    assert_eq!(called, 1);
    assert!(TestStore::small(dir.path()).store.recovery_report().clean);
}

/// Only the root is told: all else lies below it, and is made with all directories above it.
#[test]
fn field_F18_paths_follow_the_root_and_are_made() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("not/there/yet");
    let mut store = TestStore::open(small_config(&root)).unwrap();
    fill(&mut store, 0, 5);
    store.stop();
    for part in ["commitlog", "consumequeue/A/0", "index", "checkpoint", "lock"] {
        assert!(root.join(part).exists(), "{part}");
    }
    let (root, log) = (dir.path().join("root"), dir.path().join("a/log"));
    let mut config = small_config(&root);
    config.store_path_commit_log = vec![log.clone()];
    let mut store = TestStore::open(config.clone()).unwrap();
    fill(&mut store, 0, 5);
    assert_eq!(store.store.paths().commit_log(), log.as_path());
    store.stop();
    assert!(!root.join("commitlog").exists());
    check_filled(&mut TestStore::open(config).unwrap(), 5);
}

#[test]
fn an_empty_store_stops_and_starts() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..3 {
        let store = TestStore::small(dir.path());
        assert!(store.store.recovery_report().clean);
        assert_eq!(store.store.recovery_report().log_end, 0);
        store.stop();
    }
    let mut store = TestStore::small(dir.path());
    assert_eq!(store.put("T", 0, "first").wrote_offset, 0);
}

#[test]
fn messages_without_keys_do_not_make_a_start_long() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    for number in 0..200 {
        store.put("T", 0, &format!("{number}"));
    }
    store.settle();
    store.stop();
    let store = TestStore::small(dir.path());
    let report = store.store.recovery_report();
    assert!(report.scanned_from > report.log_end - 4096, "{report}");
}

#[test]
fn the_index_can_be_switched_on_later() {
    let dir = tempfile::tempdir().unwrap();
    let mut without = small_config(dir.path());
    without.index.message_index_enable = false;
    let mut store = TestStore::open(without).unwrap();
    fill(&mut store, 0, 20);
    assert!(store.query("A", "k").is_empty());
    store.stop();
    assert!(!dir.path().join("index").exists());
    check_filled(&mut TestStore::small(dir.path()), 20);
}

#[test]
fn a_dropped_store_has_lost_nothing_but_counts_as_crashed() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    fill(&mut store, 0, 20);
    drop(store);
    let mut store = TestStore::small(dir.path());
    assert!(!store.store.recovery_report().clean);
    check_filled(&mut store, 20);
}

#[test]
fn a_log_may_lie_elsewhere() {
    let (root, log) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut config = small_config(root.path());
    config.store_path_commit_log = vec![log.path().join("deep/commitlog")];
    let mut store = TestStore::open(config.clone()).unwrap();
    fill(&mut store, 0, 5);
    store.stop();
    assert!(!files(&log.path().join("deep/commitlog")).is_empty());
    check_filled(&mut TestStore::open(config).unwrap(), 5);
}

#[test]
fn field_F68_a_log_over_several_directories_survives_stop_and_kill() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("disk1/commitlog"), dir.path().join("disk2/commitlog"));
    let mut config = small_config(&dir.path().join("root"));
    config.store_path_commit_log = vec![a.clone(), b.clone()];
    let mut store = TestStore::open(config.clone()).unwrap();
    fill(&mut store, 0, 80);
    store.stop();
    assert!(files(&a).len() > 1 && files(&b).len() > 1, "the files are spread");
    assert!(!config.store_path_root_dir.join("commitlog").exists());
    let mut store = TestStore::open(config.clone()).unwrap();
    check_filled(&mut store, 80);
    drop(store);
    // A directory that takes no new files any more is still read.
    config.store_path_commit_log = vec![b.clone()];
    config.read_only_commit_log_store_paths = vec![a.clone()];
    let before = files(&a).len();
    let mut store = TestStore::open(config).unwrap();
    fill(&mut store, 81, 100);
    assert!(files(&a).len() <= before);
    assert_eq!(store.read_all("A", 0).len(), 100);
}

#[test]
fn settled_ranges_survive_the_loss_of_the_oldest_log_file() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    fill(&mut store, 0, 40);
    store.stop();
    let log = files(&dir.path().join("commitlog"));
    std::fs::remove_file(&log[0]).unwrap();
    std::fs::remove_file(&log[1]).unwrap();
    let mut store = TestStore::small(dir.path());
    assert_eq!(store.store.recovery_report().log_min, 8192);
    let offsets = store.store.offsets("A", 0);
    assert!(offsets.min > 0 && offsets.max == 40, "{offsets:?}");
    let found = store.read_all("A", 0);
    assert_eq!(found.first().map(|message| message.0), Some(offsets.min));
    assert_eq!(found.len() as u64, 40 - offsets.min);
    assert_eq!(store.query("A", "k").len(), found.len());
    assert_eq!(store.put("A", 0, "next").logics_offset, 40);
}
