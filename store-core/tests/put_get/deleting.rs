use crate::copies::copy_store;
use crate::test_store::{TestStore, numbered, small_config};
use store_core::{MessageStore, QueueOffsets};

fn fill(store: &mut TestStore, topic: &str, prefix: &str, count: u64) {
    for number in 0..count {
        store.put_with(topic, &format!("{prefix}{number}"), "KEYS\u{1}k\u{2}");
    }
    store.settle();
}

#[test]
fn field_F43_a_deleted_topic_is_gone_and_may_begin_anew() {
    let dir = tempfile::tempdir().unwrap();
    // A store that had extensions once.
    std::fs::create_dir(dir.path().join("consumequeue_ext")).unwrap();
    let mut store = TestStore::small(dir.path());
    fill(&mut store, "T", "old", 15);
    fill(&mut store, "Stays", "s", 15);
    store.put("T", 3, "other queue");
    store.settle();
    for topic in ["T", "Stays"] {
        let extension = dir.path().join("consumequeue_ext").join(topic).join("0");
        std::fs::create_dir_all(&extension).unwrap();
        std::fs::write(extension.join("00000000000000000000"), b"x").unwrap();
    }
    assert_eq!(store.store.delete_topics(&["T", "Unknown", "../consumequeue_ext"]).unwrap(), 2);
    assert!(!dir.path().join("consumequeue_ext/T").exists());
    assert!(dir.path().join("consumequeue_ext/Stays/0/00000000000000000000").exists());
    assert_eq!(store.store.offsets("T", 0), QueueOffsets::default());
    assert!(!dir.path().join("consumequeue/T").exists());
    assert_eq!(store.query("T", "k").len(), 15, "the records stay in the log");
    fill(&mut store, "T", "new", 5);
    assert_eq!(store.read_all("T", 0), numbered("new", 5));
    assert_eq!(store.read_all("Stays", 0), numbered("s", 15));
    store.stop();
    let store = TestStore::small(dir.path());
    assert_eq!(store.read_all("T", 0), numbered("new", 5));
    assert_eq!(store.store.offsets("T", 3), QueueOffsets::default());
}

#[test]
fn it_stays_deleted_after_a_crash() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    fill(&mut store, "Gone", "g", 30);
    fill(&mut store, "Anew", "old", 30);
    store.store.delete_topics(&["Gone", "Anew"]).unwrap();
    fill(&mut store, "Anew", "new", 12);
    let copy = tempfile::tempdir().unwrap();
    copy_store(dir.path(), copy.path());

    let crashed = TestStore::small(copy.path());
    assert!(!crashed.store.recovery_report().clean);
    assert_eq!(crashed.store.offsets("Gone", 0), QueueOffsets::default());
    assert!(!copy.path().join("consumequeue/Gone").exists());
    assert_eq!(crashed.read_all("Anew", 0), numbered("new", 12));
    crashed.stop();

    // Even when the queues have to be built from nothing.
    std::fs::remove_dir_all(copy.path().join("consumequeue")).unwrap();
    let rebuilt = TestStore::small(copy.path());
    assert_eq!(rebuilt.store.offsets("Gone", 0), QueueOffsets::default());
    assert_eq!(rebuilt.read_all("Anew", 0), numbered("new", 12));
}

/// A store of Apache's has no note of the deletion: the later queue of the name wins, the topic that did not come back
/// does.
#[test]
fn without_a_note_the_later_queue_wins() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    fill(&mut store, "Gone", "g", 30);
    fill(&mut store, "Anew", "old", 30);
    store.store.delete_topics(&["Gone", "Anew"]).unwrap();
    fill(&mut store, "Anew", "new", 12);
    store.stop();
    std::fs::remove_file(dir.path().join("stratamq.snapshot")).unwrap();
    std::fs::write(dir.path().join("abort"), b"").unwrap();
    let store = TestStore::open(small_config(dir.path())).unwrap();
    assert_eq!(store.read_all("Anew", 0), numbered("new", 12));
    std::fs::remove_file(dir.path().join("stratamq.snapshot")).unwrap();
    drop(store);
    std::fs::remove_dir_all(dir.path().join("consumequeue")).unwrap();
    let store = TestStore::small(dir.path());
    assert_eq!(store.read_all("Anew", 0), numbered("new", 12));
    assert_eq!(store.read_all("Gone", 0), numbered("g", 30));
}
