//! Light message queues: one record that stands in several queues.
#![allow(non_snake_case, reason = "tests of field cases carry the case's number")]

#[path = "support/messages.rs"]
mod messages;
#[path = "multi_dispatch/names.rs"]
mod names;
#[path = "multi_dispatch/offsets.rs"]
mod offsets;
#[path = "support/roomy_disk.rs"]
mod roomy_disk;
#[path = "support/test_store.rs"]
mod test_store;

use std::path::Path;
use std::time::Duration;
use store_core::config::MessageStoreConfig;
use store_core::record_format::{Decoded, decode};
use store_core::{Env, Message, MessageStore, properties};
use test_store::{TestStore, small_config};

/// Longest wait for dispatch.
const PATIENCE: Duration = Duration::from_secs(30);

fn config(root: &Path) -> MessageStoreConfig {
    let mut config = small_config(root);
    config.multi_dispatch.enable_lmq = true;
    config.multi_dispatch.enable_multi_dispatch = true;
    config
}

fn open(root: &Path) -> TestStore {
    TestStore::open(config(root)).expect("opens")
}

/// The property that names light queues.
fn to(names: &str) -> String {
    format!("INNER_MULTI_DISPATCH\u{1}{names}\u{2}")
}

/// Waits until everything that is in the log can be read.
fn settle(store: &TestStore) {
    let env = Env::os();
    let began = env.clock().monotonic();
    while store.store.runtime_info()["dispatchBehindBytes"] != "0" {
        assert!(env.clock().monotonic() - began < PATIENCE, "dispatch stands still");
        std::thread::yield_now();
    }
}

/// Bodies of a queue, each at the offset that its record names for this queue.
fn bodies(store: &TestStore, topic: &str) -> Vec<String> {
    let offsets = store.store.offsets(topic, 0);
    let mut bodies = Vec::new();
    for queue_offset in offsets.min..offsets.max {
        let unit = store.store.queue_unit(topic, 0, queue_offset).expect("no hole");
        let record = store.store.message_at(unit.phy_offset).expect("a record");
        let Ok(Decoded::Record(view)) = decode(&record, true) else { panic!("no record") };
        if view.topic != topic {
            assert_eq!(offset_in(view.properties, topic), Some(queue_offset), "{topic}");
        }
        bodies.push(String::from_utf8_lossy(view.body).into_owned());
    }
    bodies
}

/// Offset in a light queue, as a record says it.
fn offset_in(text: &str, name: &str) -> Option<u64> {
    let names = properties::get(text, properties::names::INNER_MULTI_DISPATCH)?.split(',');
    let offsets = properties::get(text, properties::names::INNER_MULTI_QUEUE_OFFSET)?.split(',');
    names.zip(offsets).find(|(of, _)| *of == name)?.1.parse().ok()
}

fn with<'a>(message: Message<'a>, properties: &'a str) -> Message<'a> {
    Message { properties, ..message }
}
