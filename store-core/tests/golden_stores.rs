//! Stores left by Apache RocketMQ: read plainly, opened, stopped and opened again, and whatever a crash may leave.

#[path = "golden_stores/expected.rs"]
mod expected;
#[path = "golden_stores/golden_store.rs"]
mod golden_store;
#[path = "golden_stores/later_release.rs"]
mod later_release;
#[path = "support/messages.rs"]
mod messages;
#[path = "golden_stores/multi_dispatch.rs"]
mod multi_dispatch;
#[path = "golden_stores/opened.rs"]
mod opened;
#[path = "golden_stores/other_queues.rs"]
mod other_queues;
#[path = "golden_stores/plain_reading.rs"]
mod plain_reading;
#[path = "golden_stores/record_crc.rs"]
mod record_crc;
#[path = "support/roomy_disk.rs"]
mod roomy_disk;
#[path = "golden_stores/torn_tail.rs"]
mod torn_tail;

use golden_store::GoldenStore;
use messages::message;
use std::collections::{BTreeMap, BTreeSet};
use store_core::MessageStore;

/// A test for each store, and the list of them.
macro_rules! golden_stores {
    ($($test:ident: $store:literal,)*) => {
        const STORES: &[&str] = &[$($store),*];
        $(#[test]
        fn $test() {
            check($store);
        })*
    };
}

golden_stores! {
    s1: "java-classes/s1",
    s2: "java-classes/s2",
    s3: "java-classes/s3",
    batch: "stores/batch",
    cleaned: "stores/cleaned",
    compaction: "stores/compaction",
    compressed: "stores/compressed",
    config_only: "stores/config-only",
    crc32_append: "stores/crc32-append",
    delay_levels: "stores/delay-levels",
    ext_cq: "stores/ext-cq",
    force_verify: "stores/force-verify",
    ipv6: "stores/ipv6",
    key_collisions: "stores/key-collisions",
    multi_dispatch_lmq: "stores/multi-dispatch-lmq",
    plain_abort: "stores/plain-abort",
    plain_abort_early: "stores/plain-abort-early",
    plain_clean: "stores/plain-clean",
    pop: "stores/pop",
    retry_dlq: "stores/retry-dlq",
    sync_flush: "stores/sync-flush",
    timer: "stores/timer",
    transaction: "stores/transaction",
    transient_pool: "stores/transient-pool",
    v2_long_topic: "stores/v2-long-topic",
}

/// Files that must come through a start and a stop unchanged.
const KEPT: &[&str] =
    &["commitlog", "consumequeue", "batchconsumequeue", "consumequeue_ext", "compaction", "config"];

fn check(name: &str) {
    let golden = GoldenStore::unpack(name);
    later_release::tell(&golden);
    plain_reading::compare(&golden);
    let before = golden.contents(KEPT);
    let index_before = golden.contents(&["index"]);

    let store = golden.open().unwrap_or_else(|error| panic!("{name}: {error}"));
    let report = store.recovery_report().clone();
    assert_eq!((report.clean, report.cut.as_deref()), (!golden.expected.abort, None), "{name}: {report}");
    assert_eq!(report.units_rebuilt, 0, "{name}: the queues are whole: {report}");
    opened::compare(&golden, &store);
    store.shutdown().unwrap_or_else(|error| panic!("{name}: {error}"));
    drop(store);
    let after = golden.contents(KEPT);
    assert_eq!(without_zero_files(&before), without_zero_files(&after), "{name}: files changed");
    if !golden.expected.abort {
        assert_eq!(index_before, golden.contents(&["index"]), "{name}: the index changed");
    }

    let store = golden.open().unwrap_or_else(|error| panic!("{name}, second time: {error}"));
    let again = store.recovery_report();
    assert_eq!((again.clean, again.units_rebuilt, &again.cut), (true, 0, &None), "{name}: {again}");
    assert_eq!((again.log_end, again.lost_bytes), (report.log_end, 0), "{name}: {again}");
    opened::compare(&golden, &store);
    store.shutdown().unwrap_or_else(|error| panic!("{name}, second time: {error}"));
    drop(store);
    assert_eq!(after, golden.contents(KEPT), "{name}: the second start changed files");
    go_on(&golden);
}

/// Files that hold something: those made ahead of need come and go.
fn without_zero_files(contents: &BTreeMap<String, Vec<u8>>) -> BTreeMap<&str, &[u8]> {
    let used = contents.iter().filter(|(_, bytes)| bytes.iter().any(|byte| *byte != 0));
    used.map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect()
}

/// New messages follow the old ones, in every queue.
fn go_on(golden: &GoldenStore) {
    let name = &golden.name;
    let store = golden.open().unwrap_or_else(|error| panic!("{name}, third time: {error}"));
    for queue in &golden.expected.java_open.queues {
        let put = store.put(&message(&queue.topic, queue.queue_id, b"and another one")).wait();
        let appended = put.appended.unwrap_or_else(|| panic!("{name}: {:?}", put.remark));
        assert_eq!(appended.logics_offset, queue.max, "{name}: {}", queue.name());
    }
    store.shutdown().unwrap_or_else(|error| panic!("{name}, third time: {error}"));
    for queue in &golden.expected.java_open.queues {
        let max = store.offsets(&queue.topic, queue.queue_id).max;
        assert_eq!(max, queue.max + 1, "{name}: {}", queue.name());
    }
}

#[test]
fn every_store_of_the_archive_is_in_the_list() {
    let archive = golden_store::unpack("");
    let mut found = BTreeSet::new();
    for folder in ["java-classes", "stores"] {
        for path in golden_store::sorted(&archive.path().join(folder)) {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            found.insert(format!("{folder}/{name}"));
        }
    }
    assert!(found.remove("stores/torn-tail"));
    assert_eq!(found, STORES.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>());
}
