//! Part 2: the store opened, compared with what Java's store answered.

use crate::expected::{IndexLookup, MessageDump, OpenQueue};
use crate::golden_store::GoldenStore;
use crate::later_release;
use std::collections::BTreeSet;
use store_core::record_format::{Decoded, decode};
use store_core::{BoundaryType, DefaultMessageStore, GetRequest, GetResult, MessageStore, QueryRequest};
use store_core::{properties, sys_flag};

/// Compares every answer Java gave; panics at the first difference.
pub fn compare(golden: &GoldenStore, store: &DefaultMessageStore) {
    let java = &golden.expected.java_open;
    let info = store.runtime_info();
    let number = |key: &str| info[key].parse::<u64>().ok();
    assert_eq!(number("commitLogMinOffset"), java.min_phy_offset, "{}: log begin", golden.name);
    assert_eq!(number("commitLogMaxOffset"), java.max_phy_offset, "{}: log end", golden.name);
    assert_eq!(number("commitLogFlushedWhere"), java.flushed_where, "{}: durable end", golden.name);
    assert_eq!(number("dispatchBehindBytes"), Some(0), "{}: dispatch", golden.name);
    for queue in &java.queues {
        compare_queue(&golden.name, store, queue);
    }
    let indexed = Indexed::read(golden, store);
    for message in golden.expected.messages() {
        lookup_record(golden, store, message);
    }
    indexed.compare(&golden.name, store);
    for lookup in &java.index_lookups {
        compare_lookup(golden, store, &indexed, lookup);
    }
    for (topic, queue_id, time, lower, upper) in &java.offset_by_time {
        let at = |boundary| store.offset_by_time(topic, *queue_id, *time, boundary);
        let found = (at(BoundaryType::Lower), at(BoundaryType::Upper));
        assert_eq!(found, (*lower, *upper), "{}: {topic}:{queue_id} at {time}", golden.name);
    }
}

fn compare_queue(name: &str, store: &DefaultMessageStore, queue: &OpenQueue) {
    let place = format!("{name}: {}", queue.name());
    let offsets = store.offsets(&queue.topic, queue.queue_id);
    assert_eq!((offsets.min, offsets.max), (queue.min, queue.max), "{place}");
    if later_release::messages_left(name, &queue.name()) {
        return;
    }
    assert_eq!(read_all(store, &queue.topic, queue.queue_id), queue.messages, "{place}");
    for (offset, expected) in &queue.get_status_next {
        let got = get(store, &queue.topic, queue.queue_id, offset.parse().expect("an offset"), 1);
        let found = format!("{}:{}", got.status.name(), got.next_begin_offset);
        assert_eq!(&found, expected, "{place}: get at {offset}");
        assert_eq!((got.min_offset, got.max_offset), (queue.min, queue.max), "{place}: get at {offset}");
    }
}

fn get(store: &DefaultMessageStore, topic: &str, queue_id: i32, offset: i64, max_messages: u32) -> GetResult {
    store.get(&GetRequest { topic, queue_id, offset, max_messages, filter: None })
}

/// Queue offset, position and size of every message of a queue, page by page.
pub fn read_all(store: &DefaultMessageStore, topic: &str, queue_id: i32) -> Vec<(i64, u64, u32)> {
    let offsets = store.offsets(topic, queue_id);
    let mut next = offsets.min;
    let mut messages = Vec::new();
    while next < offsets.max {
        let got = get(store, topic, queue_id, next as i64, 32);
        assert!(got.next_begin_offset > next, "{topic}:{queue_id}: stuck at {next}: {:?}", got.status);
        next = got.next_begin_offset;
        for record in &got.messages {
            let Ok(Decoded::Record(view)) = decode(record, true) else { panic!("{topic}: no record") };
            if !topic.starts_with("%LMQ%") {
                assert_eq!((view.topic, view.queue_id), (topic, queue_id));
            }
            messages.push((view.queue_offset, record.start_offset(), view.total_size));
        }
    }
    messages
}

/// Which record carries which keys, from the records themselves.
pub struct Indexed {
    /// Position, topic, keys.
    records: Vec<(u64, String, Vec<String>)>,
}

impl Indexed {
    pub fn read(golden: &GoldenStore, store: &DefaultMessageStore) -> Self {
        let keys_of = |message: &MessageDump| {
            let record = store.message_at(message.phy);
            let record = record.unwrap_or_else(|| panic!("{}: no record at {}", golden.name, message.phy));
            let Ok(Decoded::Record(view)) = decode(&record, true) else { panic!("no record") };
            let rolled_back = sys_flag::transaction(view.sys_flag) == sys_flag::TRANSACTION_ROLLBACK;
            let get = |name| properties::get(view.properties, name).filter(|_| !rolled_back);
            let unique = get(properties::names::UNIQ_CLIENT_MESSAGE_ID_KEYIDX).map(str::to_owned);
            let keys = get(properties::names::KEYS).unwrap_or("").split(' ').filter(|key| !key.is_empty());
            unique.into_iter().chain(keys.map(str::to_owned)).collect()
        };
        let end = store.recovery_report().log_end;
        let messages = golden.expected.messages().filter(|message| message.phy < end);
        Self {
            records: messages.map(|message| (message.phy, message.topic.clone(), keys_of(message))).collect(),
        }
    }

    fn carriers(&self, topic: &str, key: &str) -> BTreeSet<u64> {
        let carries =
            |record: &&(u64, String, Vec<String>)| record.1 == topic && record.2.iter().any(|of| of == key);
        self.records.iter().filter(carries).map(|record| record.0).collect()
    }

    /// Every record is found under each of its keys; returns the number of keys.
    pub fn compare(&self, name: &str, store: &DefaultMessageStore) -> usize {
        for (phy, topic, keys) in &self.records {
            for key in keys {
                assert_eq!(
                    query(store, topic, key),
                    self.carriers(topic, key),
                    "{name}: record {phy}: key {key}"
                );
            }
        }
        self.records.iter().map(|record| record.2.len()).sum()
    }
}

/// Every record can be had by its position.
fn lookup_record(golden: &GoldenStore, store: &DefaultMessageStore, message: &MessageDump) {
    let place = format!("{}: record at {}", golden.name, message.phy);
    let record = store.message_at(message.phy).unwrap_or_else(|| panic!("{place}: not found"));
    assert_eq!(record.len(), message.size as usize, "{place}");
    assert!(store.message_at(message.phy + 1).is_none(), "{place}: no record begins inside of it");
}

/// Java compares hashes only: of what it found, the records that carry the key. After a crash it has lost keys that are
/// all here.
fn compare_lookup(
    golden: &GoldenStore,
    store: &DefaultMessageStore,
    indexed: &Indexed,
    lookup: &IndexLookup,
) {
    let found = query(store, &lookup.topic, &lookup.key);
    let carriers = indexed.carriers(&lookup.topic, &lookup.key);
    assert_eq!(found, carriers, "{}: key {}", golden.name, lookup.key);
    let java: BTreeSet<u64> = lookup.phy.iter().copied().filter(|phy| carriers.contains(phy)).collect();
    if golden.expected.abort {
        assert!(java.is_subset(&found), "{}: key {}: Java found {java:?}", golden.name, lookup.key);
    } else {
        assert_eq!(found, java, "{}: key {}: Java", golden.name, lookup.key);
    }
}

pub fn query(store: &DefaultMessageStore, topic: &str, key: &str) -> BTreeSet<u64> {
    let request = QueryRequest { topic, key, max_messages: 64, begin: 0, end: i64::MAX };
    let found: Vec<u64> = store.query(&request).messages.iter().map(|record| record.start_offset()).collect();
    assert!(found.is_sorted(), "oldest first: {found:?}");
    let set: BTreeSet<u64> = found.iter().copied().collect();
    assert_eq!(set.len(), found.len(), "each once: {found:?}");
    set
}
