//! SYNC_FLUSH: a put is answered when its bytes are durable, and not seen before. The single steps are tested beside
//! the services; here the threads run.

#[path = "support/copies.rs"]
mod copies;
#[path = "support/messages.rs"]
mod messages;
#[path = "support/roomy_disk.rs"]
mod roomy_disk;
#[path = "support/test_store.rs"]
mod test_store;

use copies::copy_store;
use messages::message;
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use store_core::config::{FlushDiskType, MessageStoreConfig};
use store_core::{Message, MessageStore, PutMessageStatus, PutTicket};
use test_store::{TestStore, numbered, small_config};

fn sync_config(root: &Path) -> MessageStoreConfig {
    let mut config = small_config(root);
    config.flush.flush_disk_type = FlushDiskType::SyncFlush;
    // However slow the disk: a test waits as long as it takes.
    config.flush.sync_flush_timeout = 600_000;
    config
}

fn flushed_where(store: &TestStore) -> u64 {
    store.store.runtime_info()["commitLogFlushedWhere"].parse().expect("a position")
}

#[test]
fn an_answered_put_is_durable() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::open(sync_config(dir.path())).unwrap();
    for number in 0..60 {
        let put = store.put("T", 0, &format!("m{number}"));
        assert!(flushed_where(&store) >= put.wrote_offset + put.wrote_bytes);
    }
    let batch: Vec<Message<'_>> = (0..3).map(|_| message("Batch", 0, b"b")).collect();
    let put = store.put_batch(&batch);
    assert!(flushed_where(&store) >= put.wrote_offset + put.wrote_bytes);
    store.settle();
    assert_eq!(store.read_all("T", 0), numbered("m", 60));
    let copy = tempfile::tempdir().unwrap();
    copy_store(dir.path(), copy.path());
    let killed = TestStore::open(sync_config(copy.path())).unwrap();
    assert_eq!(killed.read_all("T", 0), numbered("m", 60));
    assert_eq!(flushed_where(&killed), killed.store.recovery_report().log_end);
    store.stop();
}

#[test]
fn many_wait_for_few_syncs() {
    let dir = tempfile::tempdir().unwrap();
    let store = TestStore::open(sync_config(dir.path())).unwrap();
    let tickets: Vec<PutTicket> = (0..500).map(|_| store.store.put(&message("T", 0, b"m"))).collect();
    for (number, ticket) in tickets.into_iter().enumerate() {
        let result = ticket.wait();
        assert_eq!(result.status, PutMessageStatus::PutOk);
        let put = result.appended.unwrap();
        assert_eq!(put.logics_offset, number as u64);
        assert!(flushed_where(&store) >= put.wrote_offset + put.wrote_bytes);
    }
    store.arrivals.wait_for(500);
    assert_eq!(store.read_all("T", 0).len(), 500);
    store.stop();
}

struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread.
fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[test]
fn a_ticket_can_be_awaited() {
    let dir = tempfile::tempdir().unwrap();
    let store = TestStore::open(sync_config(dir.path())).unwrap();
    let put = block_on(async {
        let (first, second) =
            (store.store.put(&message("T", 0, b"1")), store.store.put(&message("T", 0, b"2")));
        assert_eq!(second.await.status, PutMessageStatus::PutOk);
        first.await
    });
    assert_eq!((put.status, put.appended.unwrap().logics_offset), (PutMessageStatus::PutOk, 0));
}

/// Puts until the store stops; returns how many messages it accepted.
fn put_until_refused(store: &TestStore) -> u64 {
    let mut accepted = 0;
    loop {
        let result = store.store.put(&message("T", 0, b"m")).wait();
        match result.status {
            PutMessageStatus::PutOk => accepted += 1,
            PutMessageStatus::ServiceNotAvailable => return accepted,
            other => panic!("{other:?}: {:?}", result.remark),
        }
        assert!(result.is_stored());
    }
}

#[test]
fn a_stop_answers_everyone() {
    for _ in 0..20 {
        let dir = tempfile::tempdir().unwrap();
        let store = TestStore::open(sync_config(dir.path())).unwrap();
        let accepted = std::thread::scope(|scope| {
            let putter = scope.spawn(|| put_until_refused(&store));
            store.arrivals.wait_for(5);
            store.store.shutdown().unwrap();
            putter.join().unwrap()
        });
        drop(store);
        let again = TestStore::open(sync_config(dir.path())).unwrap();
        let report = again.store.recovery_report();
        assert_eq!((report.clean, report.units_rebuilt), (true, 0), "{report}");
        assert_eq!(again.store.offsets("T", 0).max, accepted);
    }
}
