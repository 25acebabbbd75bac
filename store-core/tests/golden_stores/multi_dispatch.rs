//! Light message queues as Apache keeps them.

use crate::golden_store::GoldenStore;
use crate::opened::{self, read_all};
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;
use store_core::record_format::{Decoded, MessageView, decode};
use store_core::{DefaultMessageStore, Env, Message, MessageStore, properties};

const STORE: &str = "stores/multi-dispatch-lmq";

/// Longest wait for dispatch.
const PATIENCE: Duration = Duration::from_secs(30);

fn view(record: &[u8]) -> MessageView<'_> {
    let Ok(Decoded::Record(view)) = decode(record, true) else { panic!("no record") };
    view
}

/// Every record of the log, in order.
fn records(golden: &GoldenStore, store: &DefaultMessageStore) -> Vec<Vec<u8>> {
    let record = |phy| store.message_at(phy).expect("a record").to_vec();
    golden.expected.messages().map(|message| record(message.phy)).collect()
}

fn wait_for_dispatch(store: &DefaultMessageStore) {
    let env = Env::os();
    let began = env.clock().monotonic();
    while store.runtime_info()["dispatchBehindBytes"] != "0" {
        assert!(env.clock().monotonic() - began < PATIENCE, "dispatch stands still");
        std::thread::yield_now();
    }
}

/// Lost light queues come again from the records alone.
#[test]
fn light_queues_are_rebuilt_from_the_log() {
    for lost in [&["%LMQ%a"][..], &["%LMQ%a", "%LMQ%b", "%LMQ%c", "%LMQ%device_001"], &["%LMQ%b", "TopicLmq"]]
    {
        let golden = GoldenStore::unpack(STORE);
        for queue in lost {
            fs::remove_dir_all(golden.root().join("consumequeue").join(queue)).expect("a queue");
        }
        fs::write(golden.root().join("abort"), "").expect("an abort file");
        let store = golden.open().expect("opens");
        let units: usize = golden
            .expected
            .consumequeue
            .iter()
            .filter(|queue| lost.contains(&queue.topic.as_str()))
            .map(|queue| queue.units.len())
            .sum();
        assert_eq!(store.recovery_report().units_rebuilt, units as u64, "{lost:?}");
        opened::compare(&golden, &store);
    }
}

/// The same messages, put here, get the same offsets in the same places.
#[test]
fn the_same_messages_get_the_same_places() {
    let golden = GoldenStore::unpack(STORE);
    let theirs = golden.open().expect("opens");
    let records = records(&golden, &theirs);
    let mut ours = GoldenStore::unpack(STORE);
    for part in ["commitlog", "consumequeue", "index", "checkpoint"] {
        let path = ours.root().join(part);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.expect("a part");
    }
    ours.name = "put here".to_owned();
    let store = ours.open().expect("opens");
    for record in &records {
        let sent = view(record);
        let put = store.put(&Message {
            topic: sent.topic,
            queue_id: sent.queue_id,
            flag: sent.flag,
            sys_flag: sent.sys_flag,
            born_timestamp: sent.born_timestamp,
            born_host: sent.born_host,
            store_host: sent.store_host,
            reconsume_times: sent.reconsume_times,
            prepared_transaction_offset: sent.prepared_transaction_offset,
            body: sent.body,
            properties: sent.properties,
        });
        let put = put.wait().appended.expect("stored");
        assert_eq!((put.wrote_offset, put.wrote_bytes), (sent.physical_offset as u64, record.len() as u64));
        let stored = store.message_at(put.wrote_offset).expect("a record");
        let pairs = |text| properties::pairs(text).collect::<BTreeMap<_, _>>();
        assert_eq!(pairs(view(&stored).properties), pairs(sent.properties));
    }
    wait_for_dispatch(&store);
    for queue in &ours.expected.java_open.queues {
        let found = read_all(&store, &queue.topic, queue.queue_id);
        assert_eq!(found, queue.messages, "{}", queue.name());
    }
    for dump in &ours.expected.consumequeue {
        for (offset, phy_offset, size, tags_code) in &dump.units {
            let unit = store.queue_unit(&dump.topic, dump.queue_id, *offset).expect("a unit");
            assert_eq!((unit.phy_offset, unit.size, unit.tags_code), (*phy_offset, *size, *tags_code));
        }
    }
}
