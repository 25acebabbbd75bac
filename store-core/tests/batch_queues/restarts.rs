//! Stops, kills, lost files, and what the next start makes of them.

use crate::{config, copies, expected, fill, open, records};
use std::fs;
use store_core::{MessageStore, QueueOffsets, QueueTypes};

#[test]
fn a_stop_and_a_start_change_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path());
    let end = fill(&mut store, 0, 30);
    store.stop();
    // Queues on disk decide: nobody has to say what kind they are.
    let mut unasked = config(dir.path());
    unasked.queue_types = QueueTypes::default();
    let mut store = crate::TestStore::open(unasked).unwrap();
    let report = store.store.recovery_report();
    assert_eq!((report.clean, report.units_rebuilt), (true, 0), "{report}");
    assert_eq!(records(&store), expected(0, 30, 0));
    assert_eq!(fill(&mut store, 30, 33), end + 3 + 4 + 1);
    store.stop();
}

#[test]
fn a_kill_loses_nothing_whatever_becomes_of_the_queue_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path());
    let end = fill(&mut store, 0, 30);
    let killed = tempfile::tempdir().unwrap();
    let queue = killed.path().join("batchconsumequeue/Batch/0");
    let damages: [(&str, &dyn Fn()); 4] = [
        ("whole", &|| {}),
        ("lost", &|| fs::remove_dir_all(killed.path().join("batchconsumequeue")).unwrap()),
        ("last file lost", &|| fs::remove_file(queue.join("00000000000000000920")).unwrap()),
        ("last file zeros", &|| fs::write(queue.join("00000000000000000920"), [0; 460]).unwrap()),
    ];
    for (what, damage) in damages {
        copies::copy_store(dir.path(), killed.path());
        damage();
        let mut again = open(killed.path());
        assert!(!again.store.recovery_report().clean, "{what}");
        assert_eq!(records(&again), expected(0, 30, 0), "{what}");
        assert_eq!(again.put("Batch", 0, "next").logics_offset, end, "{what}");
        again.settle();
        again.stop();
        fs::remove_dir_all(killed.path()).unwrap();
    }
    store.stop();
}

#[test]
fn the_smallest_offset_follows_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path());
    let end = fill(&mut store, 0, 40);
    store.stop();
    let log = dir.path().join("commitlog");
    fs::remove_file(log.join("00000000000000000000")).unwrap();
    let store = open(dir.path());
    let QueueOffsets { min, max } = store.store.offsets("Batch", 0);
    assert!(min > 0 && max == end, "{min}..{max}");
    let found = records(&store);
    let first: u64 = found[0].2[1..].parse().unwrap();
    assert_eq!((found[0].0, found), (min, expected(first, 40, min)));
    let behind = store.get("Batch", 0, min as i64 - 1, 32);
    assert_eq!((behind.messages.len(), behind.next_begin_offset), (0, min));
    store.stop();

    fs::remove_dir_all(dir.path().join("batchconsumequeue")).unwrap();
    let store = open(dir.path());
    assert_eq!(store.store.offsets("Batch", 0), QueueOffsets { min, max: end }, "from the log alone");
    assert_eq!(records(&store), expected(first, 40, min));
    store.stop();
}

#[test]
fn a_torn_unit_is_put_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path());
    fill(&mut store, 0, 15);
    let killed = tempfile::tempdir().unwrap();
    // Byte by byte of one unit: its end is lost, its beginning too, one byte is wrong.
    for byte in 0..42 {
        copies::copy_store(dir.path(), killed.path());
        let path = killed.path().join("batchconsumequeue/Batch/0/00000000000000000460");
        let mut content = fs::read(&path).unwrap();
        match byte % 3 {
            0 => content[2 * 46 + byte..3 * 46].fill(0),
            1 => content[2 * 46..2 * 46 + byte].fill(0),
            _ => content[2 * 46 + byte] ^= 1,
        }
        fs::write(&path, content).unwrap();
        let again = open(killed.path());
        assert_eq!(records(&again), expected(0, 15, 0), "byte {byte}");
        again.stop();
        fs::remove_dir_all(killed.path()).unwrap();
    }
    store.stop();
}
