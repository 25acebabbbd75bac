//! Queues and index are derived: whatever happens to them, the log brings them back.

use crate::copies::files;
use crate::test_store::TestStore;
use crate::{check_filled, fill};
use std::path::Path;
use store_core::MessageStore;

/// Damages a stopped and a killed store of forty messages a queue; both must come up whole.
fn comes_back(damage: impl Fn(&Path)) {
    for killed in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let mut store = TestStore::small(dir.path());
        fill(&mut store, 0, 40);
        store.stop();
        if killed {
            std::fs::write(dir.path().join("abort"), b"").unwrap();
        }
        damage(dir.path());
        let mut store = TestStore::small(dir.path());
        assert_eq!(store.store.recovery_report().clean, !killed);
        check_filled(&mut store, 40);
        store.stop();
        let store = TestStore::small(dir.path());
        assert_eq!(store.store.recovery_report().units_rebuilt, 0, "the second start has nothing to do");
        assert_eq!(store.store.offsets("A", 0).max, 41);
    }
}

fn remove(path: &Path) {
    std::fs::remove_dir_all(path).unwrap();
}

fn zero(path: &Path, from: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[from..].fill(0);
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn all_queues_lost() {
    comes_back(|root| remove(&root.join("consumequeue")));
}

#[test]
fn one_queue_lost() {
    comes_back(|root| remove(&root.join("consumequeue/B/1")));
}

#[test]
fn a_queue_that_was_quiet_at_the_end_lost() {
    for killed in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let mut store = TestStore::small(dir.path());
        for number in 0..15 {
            store.put("Quiet", 0, &format!("q{number}"));
        }
        fill(&mut store, 0, 40);
        store.stop();
        if killed {
            std::fs::write(dir.path().join("abort"), b"").unwrap();
        }
        remove(&dir.path().join("consumequeue/Quiet"));
        let mut store = TestStore::small(dir.path());
        assert_eq!(store.read_all("Quiet", 0), crate::test_store::numbered("q", 15));
        assert_eq!(store.put("Quiet", 0, "next").logics_offset, 15, "its places are not given away again");
    }
}

#[test]
fn the_last_file_of_a_queue_lost() {
    comes_back(|root| std::fs::remove_file(files(&root.join("consumequeue/A/0")).last().unwrap()).unwrap());
}

#[test]
fn the_end_of_every_queue_zeroed() {
    comes_back(|root| {
        for queue in ["A/0", "B/0", "B/1"] {
            let last = files(&root.join("consumequeue").join(queue)).pop().unwrap();
            zero(&last, 60);
        }
    });
}

#[test]
fn every_queue_zeroed() {
    comes_back(|root| {
        for queue in ["A/0", "B/0", "B/1"] {
            files(&root.join("consumequeue").join(queue)).iter().for_each(|file| zero(file, 0));
        }
    });
}

#[test]
fn a_queue_that_names_records_of_others() {
    comes_back(|root| {
        let last = files(&root.join("consumequeue/B/0")).pop().unwrap();
        let other = std::fs::read(files(&root.join("consumequeue/B/1")).pop().unwrap()).unwrap();
        let mut bytes = std::fs::read(&last).unwrap();
        bytes[180..].copy_from_slice(&other[180..]);
        std::fs::write(&last, bytes).unwrap();
    });
}

#[test]
fn the_index_lost() {
    comes_back(|root| remove(&root.join("index")));
}

#[test]
fn the_last_index_file_lost_or_cut() {
    comes_back(|root| std::fs::remove_file(files(&root.join("index")).last().unwrap()).unwrap());
    comes_back(|root| std::fs::write(files(&root.join("index")).last().unwrap(), b"short").unwrap());
}

#[test]
fn checkpoint_and_notes_lost_or_damaged() {
    comes_back(|root| {
        std::fs::remove_file(root.join("checkpoint")).unwrap();
        std::fs::remove_file(root.join("stratamq.snapshot")).unwrap();
    });
    comes_back(|root| std::fs::write(root.join("stratamq.snapshot"), b"STRATAMQ and nonsense").unwrap());
}

#[test]
fn everything_derived_lost() {
    comes_back(|root| {
        remove(&root.join("consumequeue"));
        remove(&root.join("index"));
        std::fs::remove_file(root.join("checkpoint")).unwrap();
        std::fs::remove_file(root.join("stratamq.snapshot")).unwrap();
    });
}
