use crate::roomy_disk;
use crate::test_store::{TestStore, small_config};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use store_core::{BoundaryType, Clock, DefaultMessageStore, MessageStore, QueryRequest, UnixMillis};

fn keys(keys: &str) -> String {
    format!("KEYS\u{1}{keys}\u{2}")
}

#[test]
fn keys_are_found_across_index_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    for number in 0..40 {
        let properties = format!("UNIQ_KEY\u{1}id{number}\u{2}{}", keys(&format!("all  k{}", number % 4)));
        store.put_with("T", &format!("b{number}"), &properties);
    }
    store.put_with("Other", "other", &keys("all"));
    store.settle();
    assert_eq!(store.query("T", "id7"), ["b7"]);
    assert_eq!(store.query("T", "k3"), ["b3", "b7", "b11", "b15", "b19", "b23", "b27", "b31", "b35", "b39"]);
    assert_eq!(store.query("T", "all").len(), 40);
    assert_eq!(store.query("Other", "all"), ["other"]);
    assert!(store.query("T", "none").is_empty() && store.query("Nowhere", "all").is_empty());
    let request = QueryRequest { topic: "T", key: "all", max_messages: 3, begin: 0, end: i64::MAX };
    let found = store.store.query(&request);
    assert_eq!(found.messages.len(), 3);
    assert!(found.index_last_update_phy_offset > 0 && found.index_last_update_timestamp > 0);
    let newest = store.store.queue_unit("T", 0, 39).unwrap().phy_offset;
    assert_eq!(found.messages[2].start_offset(), newest, "the newest ones, oldest first");
}

#[test]
fn field_F51_keys_of_equal_hash_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    for number in 0..70 {
        store.put_with("T", &format!("a{number}"), &keys("AaAa"));
    }
    store.put_with("T", "b", &keys("BBBB"));
    for number in 70..140 {
        store.put_with("T", &format!("a{number}"), &keys("AaAa AaAa"));
    }
    store.settle();
    assert_eq!(store.query("T", "BBBB"), ["b"], "behind more entries than a query returns");
    let found = store.query("T", "AaAa");
    assert_eq!((found.len(), found[0].as_str(), found[63].as_str()), (64, "a76", "a139"));
}

/// A clock the test moves.
#[derive(Clone)]
struct Hand(Arc<AtomicI64>);

impl Clock for Hand {
    fn now_millis(&self) -> UnixMillis {
        self.0.load(Ordering::SeqCst)
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

#[test]
fn offsets_and_keys_are_found_by_time() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Hand(Arc::new(AtomicI64::new(0)));
    let env = roomy_disk::env().with_clock(Arc::new(clock.clone()));
    let store = DefaultMessageStore::open(&env, small_config(dir.path())).unwrap();
    let base = 1_700_000_000_000;
    // Store times (seconds after the base): 0, 0, 10, 10, 20, 20 … then the clock goes back and time stands still.
    for number in 0..50_i64 {
        clock.0.store(base + number / 2 * 10_000, Ordering::SeqCst);
        let properties = keys("k");
        let message =
            store_core::Message { properties: &properties, ..crate::messages::message("T", 0, b"b") };
        assert!(store.put(&message).wait().is_stored());
    }
    clock.0.store(base, Ordering::SeqCst);
    let late = store.put(&crate::messages::message("T", 0, b"late")).wait().appended.unwrap();
    assert_eq!(late.store_timestamp, base + 240_000, "store times never go back");
    store.shutdown().unwrap();

    let at = |seconds: i64, boundary| store.offset_by_time("T", 0, base + seconds * 1000, boundary);
    let lower = |seconds| at(seconds, BoundaryType::Lower);
    let upper = |seconds| at(seconds, BoundaryType::Upper);
    assert_eq!((lower(-1), upper(-1)), (0, 0));
    assert_eq!((lower(10), upper(10)), (2, 3));
    assert_eq!((lower(15), upper(15)), (4, 3));
    assert_eq!((lower(240), upper(240)), (48, 50));
    assert_eq!((lower(1000), upper(1000)), (51, 50));
    assert_eq!(store.offset_by_time("Nowhere", 0, base, BoundaryType::Lower), 0);
    let count = |begin: i64, end: i64| {
        let (begin, end) = (base + begin * 1000, base + end * 1000);
        store.query(&QueryRequest { topic: "T", key: "k", max_messages: 64, begin, end }).messages.len()
    };
    assert_eq!((count(0, 1000), count(20, 40), count(21, 29), count(1000, 2000)), (50, 6, 0, 0));
}
