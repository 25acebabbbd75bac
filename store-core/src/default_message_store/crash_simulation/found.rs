//! What a store holds, as its readers see it.

use super::scenario::{id_of, inner_properties_of, key_of, properties_of};
use super::stepped_store::SteppedStore;
use crate::config::DelayLevels;
use crate::message_store::{GetRequest, QueryRequest};
use std::collections::BTreeMap;
use store_logic::commit_log::format::{Decoded, decode};
use store_logic::dispatch::DispatchRequest;

/// Topic and queue.
pub(super) type QueueName = (String, i32);

/// Everything a store holds.
#[derive(Debug, PartialEq, Eq, Default)]
pub(super) struct Found {
    pub(super) queues: BTreeMap<QueueName, FoundQueue>,
    pub(super) log_min: u64,
    pub(super) log_end: u64,
}

#[derive(Debug, PartialEq, Eq, Default)]
pub(super) struct FoundQueue {
    /// Queue offset of the first message.
    pub(super) min: u64,
    /// Queue offset behind the last one.
    pub(super) max: u64,
    pub(super) messages: Vec<FoundMessage>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FoundMessage {
    pub(super) id: u64,
    /// Its properties are as they were put. The format checks the body only: a record that nobody was promised may have
    /// torn properties.
    pub(super) whole: bool,
}

impl Found {
    /// Reads every queue and asks for every key.
    pub(super) fn read(store: &SteppedStore) -> Self {
        let shared = store.shared();
        let mut queues = BTreeMap::new();
        for handle in shared.queues.all() {
            let name = (handle.queue.topic().to_owned(), handle.queue.queue_id());
            let queue = read_queue(store, &name, handle.queue.min_offset(), handle.queue.max_offset());
            assert_eq!(handle.next_offset(), queue.max, "{name:?}: the place of the next message");
            if queue.max > 0 {
                queues.insert(name, queue);
            }
        }
        Self { queues, log_min: shared.log.min_offset(), log_end: shared.log.max_offset() }
    }
}

fn read_queue(store: &SteppedStore, (topic, queue_id): &QueueName, min: u64, max: u64) -> FoundQueue {
    let mut messages = Vec::new();
    while min + (messages.len() as u64) < max {
        let at = min + messages.len() as u64;
        let request =
            GetRequest { topic, queue_id: *queue_id, offset: at as i64, max_messages: 32, filter: None };
        let found = store.shared().get(&request);
        assert!(!found.messages.is_empty(), "{topic} {queue_id}: nothing at offset {at} of {min}..{max}");
        for record in found.messages {
            let at = min + messages.len() as u64;
            let Ok(Decoded::Record(view)) = decode(&record, true) else {
                panic!("{topic} {queue_id}, offset {at}: not a record")
            };
            assert_eq!(view.queue_offset, at as i64, "{topic} {queue_id}: the record's own offset");
            let place = DispatchRequest::new(0, &view, &DelayLevels::default()).own_place();
            assert_eq!(place.queue_offset, at, "{topic} {queue_id}: where the record's first message is");
            let Some(id) = id_of(view.body) else {
                panic!("{topic} {queue_id}, offset {at}: a body that nobody put")
            };
            let put = match place.count {
                1 => properties_of(id),
                count => {
                    format!("{}INNER_BASE\u{1}{at}\u{2}", inner_properties_of(id, usize::from(count)))
                }
            };
            let whole = view.properties_bytes == put.as_bytes();
            if whole {
                let request =
                    QueryRequest { topic, key: &key_of(id), max_messages: 8, begin: 0, end: i64::MAX };
                let found = store.shared().query(&request).messages.len();
                assert_eq!(found, 1, "{topic} {queue_id}, offset {at}: messages found by its key");
            }
            messages.extend((0..place.count).map(|_| FoundMessage { id, whole }));
        }
    }
    FoundQueue { min, max, messages }
}
