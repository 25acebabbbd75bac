//! A store in a directory of its own whose dispatch can be waited for.
#![allow(dead_code, reason = "every test program uses its own part")]

use crate::messages::message;
use crate::roomy_disk;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use store_core::config::MessageStoreConfig;
use store_core::record_format::{Decoded, decode};
use store_core::{
    AppendResult, Arrival, DefaultMessageStore, GetRequest, GetResult, Message, MessageArrivingListener,
    MessageStore, QueryRequest, StoreError,
};

/// Counts arrivals and lets a test wait for them.
#[derive(Default)]
pub struct Arrivals {
    count: Mutex<u64>,
    more: Condvar,
    queues: Mutex<Vec<(String, u64)>>,
}

impl MessageArrivingListener for Arrivals {
    fn arriving(&self, arrival: &Arrival<'_>) {
        self.queues.lock().expect("a list").push((arrival.topic.to_owned(), arrival.next_offset));
        *self.count.lock().expect("a count") += 1;
        self.more.notify_all();
    }
}

impl Arrivals {
    /// Topic of each arrival and the offset behind it, in order.
    pub fn queues(&self) -> Vec<(String, u64)> {
        self.queues.lock().expect("a list").clone()
    }

    /// Waits until so many messages can be read.
    pub fn wait_for(&self, count: u64) {
        let arrived = self.count.lock().expect("a count");
        drop(self.more.wait_while(arrived, |arrived| *arrived < count).expect("a count"));
    }
}

/// A running store and what was put into it since it was opened.
pub struct TestStore {
    pub store: Arc<DefaultMessageStore>,
    pub arrivals: Arc<Arrivals>,
    put: u64,
}

/// Small files, so that little data makes many: 4 KiB of log, ten queue units, ten index entries.
pub fn small_config(root: &Path) -> MessageStoreConfig {
    let mut config = MessageStoreConfig::new(root);
    config.commit_log.mapped_file_size_commit_log = 4096;
    config.consume_queue.mapped_file_size_consume_queue = 200;
    config.index.max_hash_slot_num = 10;
    config.index.max_index_num = 11;
    config
}

impl TestStore {
    /// Opens with small files.
    pub fn small(root: &Path) -> Self {
        Self::open(small_config(root)).expect("opens")
    }

    pub fn open(config: MessageStoreConfig) -> Result<Self, StoreError> {
        let store = Arc::new(DefaultMessageStore::open(&roomy_disk::env(), config)?);
        let arrivals = Arc::new(Arrivals::default());
        store.set_arriving_listener(Arc::clone(&arrivals) as Arc<dyn MessageArrivingListener>);
        Ok(Self { store, arrivals, put: 0 })
    }

    /// Puts messages that must be accepted.
    pub fn put_batch(&mut self, messages: &[Message<'_>]) -> AppendResult {
        let put = self.store.put_batch(messages).wait();
        self.put += messages.len() as u64;
        put.appended.unwrap_or_else(|| panic!("{:?}: {:?}", put.status, put.remark))
    }

    pub fn put(&mut self, topic: &str, queue_id: i32, body: &str) -> AppendResult {
        self.put_batch(&[message(topic, queue_id, body.as_bytes())])
    }

    pub fn put_with(&mut self, topic: &str, body: &str, properties: &str) -> AppendResult {
        self.put_batch(&[Message { properties, ..message(topic, 0, body.as_bytes()) }])
    }

    /// Waits until everything that was put can be read.
    pub fn settle(&self) {
        self.arrivals.wait_for(self.put);
    }

    pub fn get(&self, topic: &str, queue_id: i32, offset: i64, max_messages: u32) -> GetResult {
        self.store.get(&GetRequest { topic, queue_id, offset, max_messages, filter: None })
    }

    /// Queue offset and body of every message of a queue.
    pub fn read_all(&self, topic: &str, queue_id: i32) -> Vec<(u64, String)> {
        let offsets = self.store.offsets(topic, queue_id);
        let mut next = offsets.min;
        let mut messages = Vec::new();
        while next < offsets.max {
            let got = self.get(topic, queue_id, next as i64, 32);
            assert!(got.next_begin_offset > next, "{topic}:{queue_id} stuck at {next}: {:?}", got.status);
            next = got.next_begin_offset;
            messages.extend(got.messages.iter().map(|record| offset_and_body(record)));
        }
        messages
    }

    /// Bodies of the messages found under a key.
    pub fn query(&self, topic: &str, key: &str) -> Vec<String> {
        let request = QueryRequest { topic, key, max_messages: 64, begin: 0, end: i64::MAX };
        let found = self.store.query(&request).messages;
        found.iter().map(|record| offset_and_body(record).1).collect()
    }

    pub fn stop(self) {
        self.store.shutdown().expect("an orderly stop");
    }
}

/// Queue offset and body of a record.
pub fn offset_and_body(record: &[u8]) -> (u64, String) {
    let Ok(Decoded::Record(view)) = decode(record, true) else { panic!("no record") };
    (view.queue_offset as u64, String::from_utf8_lossy(view.body).into_owned())
}

/// `(0, "b0"), (1, "b1"), …`
pub fn numbered(prefix: &str, count: u64) -> Vec<(u64, String)> {
    (0..count).map(|number| (number, format!("{prefix}{number}"))).collect()
}
