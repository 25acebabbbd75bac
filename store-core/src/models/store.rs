//! A whole store on a simulated disk, with the services that a put wakes on threads of their own.

use crate::config::{FlushDiskType, MessageStoreConfig};
use crate::default_message_store::Shared;
use crate::default_message_store::open::{open_recovered, services};
use crate::message_arrival::{Arrival, MessageArrivingListener};
use crate::put_result::{PutMessageStatus, PutResult};
use crate::put_ticket::{Outcome, Pending, PutTicket};
use crate::service::ServiceThread;
use crate::sync::Arc;
use std::time::Duration;
use store_logic::message::Message;
use store_logic::model_sync::explore;
use store_logic::sim::SimWorld;

/// Epoch milliseconds at which the simulated world begins.
const NOW: i64 = 1_700_000_000_000;

fn config(flush: FlushDiskType) -> MessageStoreConfig {
    let mut config = MessageStoreConfig::new("/store");
    config.commit_log.mapped_file_size_commit_log = 4096;
    config.commit_log.preallocate = false;
    config.consume_queue.mapped_file_size_consume_queue = 200;
    config.index.message_index_enable = false;
    config.flush.flush_disk_type = flush;
    config
}

fn message() -> Message<'static> {
    Message {
        topic: "T",
        queue_id: 0,
        flag: 0,
        sys_flag: 0,
        born_timestamp: NOW,
        born_host: "127.0.0.1:40000".parse().unwrap(),
        store_host: "127.0.0.1:10911".parse().unwrap(),
        reconsume_times: 0,
        prepared_transaction_offset: 0,
        body: b"body",
        properties: "",
    }
}

/// Answers a ticket when a message arrives.
struct Answering(Arc<Pending>);

impl MessageArrivingListener for Answering {
    fn arriving(&self, _: &Arrival<'_>) {
        self.0.complete(Outcome { status: PutMessageStatus::PutOk, remark: None });
    }
}

/// Puts one message with these services on threads, waits until it is answered and dispatched (if a dispatcher is among
/// them), and stops the services in order; returns the store.
fn put_and_stop(flush: FlushDiskType, names: &[&str]) -> Arc<Shared> {
    loom::stop_exploring();
    let world = SimWorld::new(1, NOW);
    let recovered = open_recovered(&world.env(), config(flush)).unwrap();
    let shared = recovered.shared;
    shared.queues.get_or_create("T", 0).unwrap();
    let result = PutResult { status: PutMessageStatus::PutOk, appended: None, remark: None };
    let (arrived, pending) = PutTicket::waiting(result, Duration::from_secs(3600), Duration::ZERO);
    assert!(shared.listen(Arc::new(Answering(pending))));
    loom::explore();
    let threads: Vec<_> = services(&shared, recovered.early)
        .into_iter()
        .filter(|(service, _)| names.contains(&service.name()))
        .map(|(service, wakeup)| {
            ServiceThread::spawn(service, wakeup, |name| panic!("{name} panicked")).unwrap()
        })
        .collect();
    assert_eq!(threads.len(), names.len());
    let result = shared.put(&[message()]).wait();
    assert_eq!(result.status, PutMessageStatus::PutOk);
    if names.contains(&"ReputMessage") {
        assert_eq!(arrived.wait().status, PutMessageStatus::PutOk);
    }
    for thread in threads.into_iter().rev() {
        thread.stop();
    }
    shared
}

/// A put that waits for the disk is answered once it is durable, and not before. Broken by: a wake-up before the put is in
/// the list, a list that is taken after the sync.
#[test]
fn a_waiting_put_is_answered() {
    explore("a_waiting_put_is_answered", Some(3), || {
        let shared = put_and_stop(FlushDiskType::SyncFlush, &["GroupCommit"]);
        assert_eq!(shared.log.flushed_where(), shared.log.max_offset());
    });
}

/// What was put is dispatched and told, without anybody waiting for the next look. Broken by: a put that does not wake the
/// dispatcher, or wakes it before the mark moves.
#[test]
fn a_put_is_dispatched() {
    explore("a_put_is_dispatched", Some(3), || {
        let shared = put_and_stop(FlushDiskType::AsyncFlush, &["ReputMessage"]);
        assert_eq!(shared.dispatch_behind_bytes(), 0);
        assert_eq!(shared.queues.get("T", 0).unwrap().queue.max_offset(), 1);
    });
}

/// With SYNC_FLUSH a message is seen once it is durable: the sync wakes the dispatcher. Broken by: a commit that does not
/// wake it, or wakes it before the sync.
#[test]
fn a_durable_put_is_dispatched() {
    explore("a_durable_put_is_dispatched", Some(2), || {
        let shared = put_and_stop(FlushDiskType::SyncFlush, &["GroupCommit", "ReputMessage"]);
        assert_eq!(shared.queues.get("T", 0).unwrap().queue.max_offset(), 1);
    });
}
