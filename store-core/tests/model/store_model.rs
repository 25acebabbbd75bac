//! What a store should hold, in memory.

use crate::test_store::TestStore;
use std::collections::BTreeMap;
use store_core::record_format::{Decoded, decode};
use store_core::{MessageStore, QueueOffsets, properties};

/// A message and where it went.
#[derive(Debug, Clone)]
pub struct ModelMessage {
    pub topic: String,
    pub queue_id: i32,
    pub body: String,
    pub properties: String,
    pub phy: u64,
    /// Position behind its record.
    pub end: u64,
}

/// All messages in log order, and the queues of those whose topic was not deleted since.
#[derive(Debug, Default)]
pub struct StoreModel {
    log: Vec<ModelMessage>,
    queues: BTreeMap<(String, i32), Vec<ModelMessage>>,
}

impl StoreModel {
    /// Adds a message; returns its queue offset.
    pub fn put(&mut self, message: ModelMessage) -> u64 {
        assert!(message.phy >= self.log_end(), "records do not overlap");
        let queue = self.queues.entry((message.topic.clone(), message.queue_id)).or_default();
        queue.push(message.clone());
        self.log.push(message);
        queue.len() as u64 - 1
    }

    pub fn delete_topic(&mut self, topic: &str) {
        self.queues.retain(|(of, _), _| of != topic);
    }

    /// Position behind the last message.
    pub fn log_end(&self) -> u64 {
        self.log.last().map_or(0, |last| last.end)
    }

    /// Loses what lies at or behind `log_end`.
    pub fn cut(&mut self, log_end: u64) {
        self.log.retain(|message| message.end <= log_end);
        for queue in self.queues.values_mut() {
            queue.retain(|message| message.end <= log_end);
        }
    }

    /// Takes over the property string of the last record when its end was lost: no sum of Apache's covers it.
    pub fn accept_torn_properties(&mut self, store: &TestStore) {
        let Some(last) = self.log.last_mut() else { return };
        let record = store.store.message_at(last.phy).expect("the last record");
        let Ok(Decoded::Record(view)) = decode(&record, true) else { panic!("no record") };
        let kept = view.properties.trim_end_matches('\0');
        assert!(last.properties.starts_with(kept), "{:?} of {:?}", view.properties, last.properties);
        view.properties.clone_into(&mut last.properties);
    }

    pub fn check_queue(&self, store: &TestStore, topic: &str, queue_id: i32) {
        let empty = Vec::new();
        let queue = self.queues.get(&(topic.to_owned(), queue_id)).unwrap_or(&empty);
        let expected: Vec<(u64, String)> =
            (0..).zip(queue.iter().map(|message| message.body.clone())).collect();
        let offsets = QueueOffsets { min: 0, max: expected.len() as u64 };
        assert_eq!(store.store.offsets(topic, queue_id), offsets, "{topic}:{queue_id}");
        assert_eq!(store.read_all(topic, queue_id), expected, "{topic}:{queue_id}");
    }

    /// The newest 64 records that carry the key, also those of deleted topics: they are in the log.
    pub fn check_key(&self, store: &TestStore, topic: &str, key: &str) {
        let carries = |message: &&ModelMessage| {
            let keys = properties::get(&message.properties, properties::names::KEYS).unwrap_or("");
            message.topic == topic && keys.split(' ').any(|of| of == key)
        };
        let mut expected: Vec<&str> =
            self.log.iter().filter(carries).map(|message| message.body.as_str()).collect();
        let expected = expected.split_off(expected.len().saturating_sub(64));
        assert_eq!(store.query(topic, key), expected, "{topic}: key {key}");
    }
}
