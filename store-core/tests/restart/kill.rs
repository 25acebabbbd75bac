use crate::copies::{copy_store, files};
use crate::test_store::{TestStore, numbered, small_config};
use crate::{check_filled, fill, open_truncating, zero_log_from};
use store_core::MessageStore;

#[test]
fn a_killed_store_has_every_message() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    for step in 0..12 {
        // Not settled: dispatch may be anywhere.
        for number in step * 5..step * 5 + 5 {
            store.put("T", 0, &format!("m{number}"));
        }
        let copy = tempfile::tempdir().unwrap();
        copy_store(dir.path(), copy.path());
        let killed = TestStore::small(copy.path());
        let report = killed.store.recovery_report();
        assert_eq!((report.clean, &report.cut), (false, &None), "{report}");
        assert_eq!(killed.read_all("T", 0), numbered("m", step * 5 + 5), "{report}");
        killed.stop();
        let mut again = TestStore::small(copy.path());
        assert!(again.store.recovery_report().clean);
        assert_eq!(again.put("T", 0, "next").logics_offset, step * 5 + 5);
    }
}

#[test]
fn files_made_ahead_of_need_are_no_content() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    fill(&mut store, 0, 30);
    let copy = tempfile::tempdir().unwrap();
    copy_store(dir.path(), copy.path());
    // As many as a kill between two of them could leave.
    let last: u64 = files(&copy.path().join("commitlog")).len() as u64;
    for number in last..last + 2 {
        std::fs::write(copy.path().join(format!("commitlog/{:020}", number * 4096)), vec![0; 4096]).unwrap();
    }
    let mut killed = TestStore::small(copy.path());
    let end = killed.store.recovery_report().log_end;
    assert_eq!(end, store.store.runtime_info()["commitLogMaxOffset"].parse::<u64>().unwrap());
    check_filled(&mut killed, 30);
}

#[test]
fn a_kill_during_recovery_is_one_more_kill() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    fill(&mut store, 0, 30);
    store.stop();
    std::fs::remove_dir_all(dir.path().join("consumequeue/B")).unwrap();
    let copy = tempfile::tempdir().unwrap();
    let mut half = TestStore::small(dir.path());
    copy_store(dir.path(), copy.path());
    assert!(copy.path().join("abort").exists());
    // The copy has a queue that was not finished.
    let queue = copy.path().join("consumequeue/B/1/00000000000000000200");
    let mut units = std::fs::read(&queue).unwrap();
    units[100..].fill(0);
    std::fs::write(&queue, units).unwrap();
    check_filled(&mut TestStore::small(copy.path()), 30);
    check_filled(&mut half, 30);
}

#[test]
fn a_torn_record_goes_and_its_place_is_used_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    fill(&mut store, 0, 10);
    let torn = store.put("A", 0, "torn");
    store.settle();
    let copy = tempfile::tempdir().unwrap();
    copy_store(dir.path(), copy.path());
    let path = copy.path().join(format!("commitlog/{:020}", torn.wrote_offset / 4096 * 4096));
    let mut bytes = std::fs::read(&path).unwrap();
    let at = (torn.wrote_offset % 4096 + torn.wrote_bytes / 2) as usize;
    bytes[at..at + 40].fill(0);
    std::fs::write(&path, bytes).unwrap();
    let mut killed = TestStore::open(small_config(copy.path())).unwrap();
    let report = killed.store.recovery_report();
    assert_eq!((report.log_end, report.dropped_records), (torn.wrote_offset, 0), "{report}");
    assert!(report.cut.is_some(), "{report}");
    check_filled(&mut killed, 10);
}

#[test]
fn lost_durable_bytes_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    fill(&mut store, 0, 10);
    let last = store.put("A", 0, "last");
    store.settle();
    store.stop();
    zero_log_from(dir.path(), last.wrote_offset);
    let error = TestStore::open(small_config(dir.path())).err().unwrap().to_string();
    assert!(error.contains("the last stop in order left a log that ends at"), "{error}");
    assert!(error.contains("expected a record, found zeros"), "{error}");
    let mut store = open_truncating(dir.path());
    let report = store.store.recovery_report().clone();
    assert_eq!((report.lost_bytes, report.log_end), (last.wrote_bytes, last.wrote_offset), "{report}");
    assert!(report.to_string().contains("durable at the last clean stop"), "{report}");
    check_filled(&mut store, 10);
    store.stop();
    assert_eq!(TestStore::small(dir.path()).store.recovery_report().lost_bytes, 0, "told once");
}
