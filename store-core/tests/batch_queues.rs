//! Topics with batch queues (`queue.type=BatchCQ`): records that hold several messages.

#[path = "support/copies.rs"]
mod copies;
#[path = "support/messages.rs"]
mod messages;
#[path = "batch_queues/offsets.rs"]
mod offsets;
#[path = "batch_queues/refusals.rs"]
mod refusals;
#[path = "batch_queues/repairing.rs"]
mod repairing;
#[path = "batch_queues/restarts.rs"]
mod restarts;
#[path = "support/roomy_disk.rs"]
mod roomy_disk;
#[path = "support/test_store.rs"]
mod test_store;

use messages::message;
use std::path::Path;
use store_core::config::MessageStoreConfig;
use store_core::record_format::{Decoded, decode};
use store_core::{
    AppendResult, Message, MessageStore, QueueOffsets, QueueType, QueueTypes, properties, sys_flag,
};
use test_store::{TestStore, small_config};

/// Bits of an inner batch.
const INNER: i32 = sys_flag::INNER_BATCH | sys_flag::NEED_UNWRAP;

/// Topics whose names begin with `Batch` have batch queues of ten units a file.
fn config(root: &Path) -> MessageStoreConfig {
    let mut config = small_config(root);
    config.consume_queue.mapper_file_size_batch_consume_queue = 460;
    config.queue_types =
        QueueTypes::new(
            |topic| {
                if topic.starts_with("Batch") { QueueType::BatchCq } else { QueueType::SimpleCq }
            },
        );
    config
}

fn open(root: &Path) -> TestStore {
    TestStore::open(config(root)).expect("opens")
}

fn count_of(count: u64) -> String {
    format!("INNER_NUM\u{1}{count}\u{2}KEYS\u{1}k\u{2}")
}

fn inner<'a>(topic: &'a str, body: &'a str, properties: &'a str) -> Message<'a> {
    Message { sys_flag: INNER, properties, ..message(topic, 0, body.as_bytes()) }
}

fn put_inner(store: &mut TestStore, body: &str, count: u64) -> AppendResult {
    store.put_batch(&[inner("Batch", body, &count_of(count))])
}

/// Messages in record number `number`: a single one each fourth time, else inner batches of 2 to 4.
fn count_in(number: u64) -> u64 {
    number % 4 + 1
}

/// Puts records `from..to` into queue 0 of topic Batch and a message beside each into an ordinary queue; returns the
/// queue offset behind them.
fn fill(store: &mut TestStore, from: u64, to: u64) -> u64 {
    let mut end = store.store.offsets("Batch", 0).max;
    for number in from..to {
        let body = format!("r{number}");
        let appended = match count_in(number) {
            1 => store.put("Batch", 0, &body),
            count => put_inner(store, &body, count),
        };
        assert_eq!((appended.logics_offset, appended.message_count), (end, count_in(number)));
        end += count_in(number);
        store.put("Other", 0, &body);
    }
    store.settle();
    end
}

/// First queue offset, messages and body of every record of the queue from `min` on, as the records say it. No message is
/// missing.
fn records(store: &TestStore) -> Vec<(u64, u64, String)> {
    let found = records_left(store);
    let QueueOffsets { min, max } = store.store.offsets("Batch", 0);
    assert_eq!(found.iter().map(|record| record.1).sum::<u64>(), max - min, "{min}..{max}");
    found
}

/// The same where messages are missing.
fn records_left(store: &TestStore) -> Vec<(u64, u64, String)> {
    let offsets = store.store.offsets("Batch", 0);
    let mut next = offsets.min;
    let mut found = Vec::new();
    while next < offsets.max {
        let got = store.get("Batch", 0, next as i64, 8);
        assert!(got.next_begin_offset > next, "stuck at {next}: {:?}", got.status);
        assert!(got.next_begin_offset - next >= got.message_count, "{got:?}");
        next = got.next_begin_offset;
        for record in &got.messages {
            let Ok(Decoded::Record(view)) = decode(record, true) else { panic!("no record") };
            let number = |name| properties::get(view.properties, name).and_then(|text| text.parse().ok());
            let base = view.queue_offset as u64;
            let count = number(properties::names::INNER_NUM).unwrap_or(1);
            let says = number(properties::names::INNER_BASE);
            assert_eq!(says, (view.sys_flag & INNER == INNER).then_some(base), "INNER_BASE");
            found.push((base, count, String::from_utf8_lossy(view.body).into_owned()));
        }
    }
    found
}

/// What [`records`] should find of records `from..to` when the first of them is at `base`.
fn expected(from: u64, to: u64, mut base: u64) -> Vec<(u64, u64, String)> {
    let next = |number| {
        let record = (base, count_in(number), format!("r{number}"));
        base += count_in(number);
        record
    };
    (from..to).map(next).collect()
}
