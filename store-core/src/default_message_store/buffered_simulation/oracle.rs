//! What was put and acknowledged, and what must hold of a store that comes up afterwards.

use super::stepped_store::SteppedStore;
use super::workload::{QUEUES, Setup, TOPIC, config, message, properties_of};
use crate::message_store::{GetRequest, QueryRequest};
use crate::put_result::PutMessageStatus;
use crate::put_ticket::PutTicket;
use store_logic::commit_log::format::{Decoded, decode};
use store_logic::sim::SimWorld;

/// Messages in the order of their puts, queue by queue.
#[derive(Default)]
pub(super) struct Oracle {
    queues: [Vec<Put>; QUEUES as usize],
    /// Set once a sync has failed: whatever is acknowledged from then on is a lie.
    refused: bool,
}

struct Put {
    body: Vec<u8>,
    key: String,
    /// Position behind its record.
    end: u64,
    acknowledged: bool,
    ticket: Option<PutTicket>,
}

impl Oracle {
    /// Notes a put that the store has taken; one that it has refused never gets a place.
    pub(super) fn note_put(&mut self, queue_id: i32, body: Vec<u8>, key: String, ticket: PutTicket) {
        let stored = ticket.provisional().and_then(|result| result.appended.as_ref());
        if let Some(end) = stored.map(|at| at.wrote_offset + at.wrote_bytes) {
            let put = Put { body, key, end, acknowledged: false, ticket: Some(ticket) };
            self.queues[queue_id as usize].push(put);
        }
    }

    /// Takes the answers that have come. An answer after the power went off reaches nobody.
    pub(super) fn look_at_answers(&mut self, world: &SimWorld) {
        if world.is_off() {
            return;
        }
        for put in self.queues.iter_mut().flatten() {
            if put.ticket.as_ref().is_some_and(PutTicket::is_done) {
                let status = put.ticket.take().map(|ticket| ticket.wait().status);
                put.acknowledged = status == Some(PutMessageStatus::PutOk);
                self.refused |= status == Some(PutMessageStatus::ServiceNotAvailable);
                assert!(!(self.refused && put.acknowledged), "acknowledged after a failed sync");
            }
        }
    }

    pub(super) fn acknowledged(&self) -> usize {
        self.queues.iter().flatten().filter(|put| put.acknowledged).count()
    }

    /// The same with those acknowledged that can be read from `store`, or were synced: what a kill must not lose with
    /// write buffers.
    pub(super) fn acknowledged_or_readable(&self, store: &SteppedStore) -> Self {
        let durable = store.shared.log.flushed_where();
        let readable: Vec<usize> =
            (0..QUEUES).map(|queue_id| read_all(store, queue_id, "before the kill").len()).collect();
        self.promising(|queue_id, place, put| place < readable[queue_id] || put.end <= durable)
    }

    fn promising(&self, promised: impl Fn(usize, usize, &Put) -> bool) -> Self {
        let mut queues: [Vec<Put>; QUEUES as usize] = Default::default();
        for (queue_id, puts) in self.queues.iter().enumerate() {
            let keep = |(place, put): (usize, &Put)| Put {
                body: put.body.clone(),
                key: put.key.clone(),
                end: put.end,
                acknowledged: promised(queue_id, place, put),
                ticket: None,
            };
            queues[queue_id] = puts.iter().enumerate().map(keep).collect();
        }
        Self { queues, refused: false }
    }

    /// Opens what is left and checks it; then opens it again, which must change nothing, and puts one more. Returns how
    /// many messages each queue holds.
    pub(super) fn check_after(&self, world: &SimWorld, setup: Setup, what: &str) -> [u64; QUEUES as usize] {
        let mut store = open(world, setup, what);
        let found = self.check(&store, setup, what);
        let log_end = store.shared.log.max_offset();
        drop(store);
        let again = world.restart_after_kill();
        store = open(&again, setup, what);
        assert_eq!(
            store.shared.log.max_offset(),
            log_end,
            "{what}: the second recovery moved the end of the log"
        );
        assert_eq!(self.check(&store, setup, what), found, "{what}: the second recovery changed the queues");
        put_one_more(&mut store, found, what);
        found
    }

    /// Returns how many messages each queue holds.
    fn check(&self, store: &SteppedStore, setup: Setup, what: &str) -> [u64; QUEUES as usize] {
        let mut found = [0; QUEUES as usize];
        for (queue_id, puts) in self.queues.iter().enumerate() {
            let messages = read_all(store, queue_id as i32, what);
            found[queue_id] = messages.len() as u64;
            assert!(messages.len() <= puts.len(), "{what}: queue {queue_id} holds what was never put");
            for (offset, (message, put)) in messages.iter().zip(puts).enumerate() {
                assert!(
                    message.body == put.body,
                    "{what}: queue {queue_id}, offset {offset}: another message"
                );
                // The format checks the body only: a record that nobody was promised may have torn properties.
                let whole = message.properties == properties_of(&put.key);
                assert!(
                    whole || !put.acknowledged,
                    "{what}: queue {queue_id}, offset {offset}: torn properties"
                );
                if whole {
                    self.check_key(store, &put.key, what);
                }
            }
            let promised = puts.iter().rposition(|put| put.acknowledged).map_or(0, |last| last + 1);
            let kept = !setup.promises_all || messages.len() >= promised;
            assert!(
                kept,
                "{what}: queue {queue_id} holds {} messages, {promised} were acknowledged",
                messages.len()
            );
        }
        found
    }

    fn check_key(&self, store: &SteppedStore, key: &str, what: &str) {
        let request = QueryRequest { topic: TOPIC, key, max_messages: 8, begin: 0, end: i64::MAX };
        let found = store.shared.query(&request).messages.len();
        assert_eq!(found, 1, "{what}: {key}");
    }
}

fn open(world: &SimWorld, setup: Setup, what: &str) -> SteppedStore {
    SteppedStore::open(world, config(setup)).unwrap_or_else(|error| panic!("{what}: does not open: {error}"))
}

/// A message as it was found.
struct Found {
    body: Vec<u8>,
    properties: Vec<u8>,
}

fn read_all(store: &SteppedStore, queue_id: i32, what: &str) -> Vec<Found> {
    let mut messages: Vec<Found> = Vec::new();
    loop {
        let request = GetRequest {
            topic: TOPIC,
            queue_id,
            offset: messages.len() as i64,
            max_messages: 32,
            filter: None,
        };
        let found = store.shared.get(&request);
        if found.messages.is_empty() {
            assert_eq!(found.max_offset, messages.len() as u64, "{what}: queue {queue_id} stops early");
            return messages;
        }
        for record in found.messages {
            let Ok(Decoded::Record(view)) = decode(&record, true) else { panic!("{what}: not a record") };
            assert_eq!(view.queue_offset, messages.len() as i64, "{what}: queue {queue_id}");
            let properties = view.properties_bytes.to_vec();
            messages.push(Found { body: view.body.to_vec(), properties });
        }
    }
}

/// The store goes on: the next message gets the next place and can be read.
fn put_one_more(store: &mut SteppedStore, found: [u64; QUEUES as usize], what: &str) {
    let ticket = store.shared.put(&[message(0, b"one more", "")]);
    let place = ticket.provisional().and_then(|result| result.appended.as_ref()).map(|at| at.logics_offset);
    assert_eq!(place, Some(found[0]), "{what}: the next place");
    store.settle();
    assert!(ticket.is_done(), "{what}: a put that is never answered");
    assert_eq!(read_all(store, 0, what).len() as u64, found[0] + 1, "{what}: the next message");
}
