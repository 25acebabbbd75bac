//! Stops, kills, lost and damaged files, and what the next start makes of them.
#![allow(non_snake_case, reason = "tests carry the number of their case: field_F03_…")]

#[path = "support/copies.rs"]
mod copies;
#[path = "restart/damage.rs"]
mod damage;
#[path = "restart/kill.rs"]
mod kill;
#[path = "support/messages.rs"]
mod messages;
#[path = "restart/numbering.rs"]
mod numbering;
#[path = "restart/refusal.rs"]
mod refusal;
#[path = "support/roomy_disk.rs"]
mod roomy_disk;
#[path = "restart/stop.rs"]
mod stop;
#[path = "support/test_store.rs"]
mod test_store;

use std::path::Path;
use store_core::config::DamagedCommitLogPolicy;
use test_store::{TestStore, numbered, small_config};

/// Two topics, three queues, over several files of each kind; every message under the key `k`.
fn fill(store: &mut TestStore, from: u64, to: u64) {
    for number in from..to {
        store.put_with("A", &format!("a{number}"), "KEYS\u{1}k\u{2}");
        store.put("B", 0, &format!("b{number}"));
        store.put("B", 1, &format!("c{number}"));
    }
    store.settle();
}

/// Everything that [`fill`] put up to `to` is there, once, in order, and the next message follows.
fn check_filled(store: &mut TestStore, to: u64) {
    assert_eq!(store.read_all("A", 0), numbered("a", to));
    assert_eq!(store.read_all("B", 0), numbered("b", to));
    assert_eq!(store.read_all("B", 1), numbered("c", to));
    let mut keyed: Vec<String> = (0..to).map(|number| format!("a{number}")).collect();
    assert_eq!(store.query("A", "k"), keyed.split_off(keyed.len().saturating_sub(64)));
    for (topic, queue_id) in [("A", 0), ("B", 0), ("B", 1)] {
        assert_eq!(store.put(topic, queue_id, "behind").logics_offset, to);
    }
    store.settle();
}

/// Zeros in the log from `position` to the end of its file.
fn zero_log_from(root: &Path, position: u64) {
    let path = root.join(format!("commitlog/{:020}", position / 4096 * 4096));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[(position % 4096) as usize..].fill(0);
    std::fs::write(&path, bytes).unwrap();
}

/// A start that cuts the log where it is damaged.
fn open_truncating(root: &Path) -> TestStore {
    let mut config = small_config(root);
    config.commit_log.damaged_commit_log_policy = DamagedCommitLogPolicy::Truncate;
    TestStore::open(config).unwrap()
}
