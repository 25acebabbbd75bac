//! Several writers, readers and the services at once.
#![allow(non_snake_case, reason = "tests carry the number of their case: field_F03_…")]

#[path = "support/messages.rs"]
mod messages;
#[path = "support/roomy_disk.rs"]
mod roomy_disk;
#[path = "support/test_store.rs"]
mod test_store;

use messages::message;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store_core::config::{FlushDiskType, MessageStoreConfig};
use store_core::{DefaultMessageStore, GetMessageStatus, GetRequest, MessageStore, PutMessageStatus};
use test_store::{TestStore, offset_and_body, small_config};

const WRITERS: u64 = 4;
const PUTS: u64 = 400;
const QUEUES: i32 = 3;

/// Puts its share over all queues; returns (queue, offset, body) of each.
fn write(store: &DefaultMessageStore, writer: u64) -> Vec<(i32, u64, String)> {
    let mut put = Vec::new();
    for number in 0..PUTS {
        let queue_id = ((number + writer) % QUEUES as u64) as i32;
        let body = format!("writer {writer} message {number}");
        if number % 10 == 0 {
            let batch = [message("T", queue_id, body.as_bytes()), message("T", queue_id, b"second")];
            let result = store.put_batch(&batch).wait();
            assert_eq!(result.status, PutMessageStatus::PutOk, "{:?}", result.remark);
            let offset = result.appended.expect("stored").logics_offset;
            put.extend([(queue_id, offset, body), (queue_id, offset + 1, "second".to_owned())]);
        } else {
            let result = store.put(&message("T", queue_id, body.as_bytes())).wait();
            assert_eq!(result.status, PutMessageStatus::PutOk, "{:?}", result.remark);
            put.push((queue_id, result.appended.expect("stored").logics_offset, body));
        }
    }
    put
}

/// Reads a queue from its beginning while it grows; every offset must come once, in order.
fn read(store: &DefaultMessageStore, queue_id: i32, written: &AtomicBool) -> Vec<String> {
    let mut bodies = Vec::new();
    loop {
        let all_written = written.load(Ordering::Acquire);
        let offset = bodies.len() as i64;
        let got = store.get(&GetRequest { topic: "T", queue_id, offset, max_messages: 32, filter: None });
        match got.status {
            GetMessageStatus::Found => {}
            GetMessageStatus::OffsetOverflowOne | GetMessageStatus::NoMessageInQueue if all_written => {
                return bodies;
            }
            GetMessageStatus::OffsetOverflowOne | GetMessageStatus::NoMessageInQueue => {
                std::thread::yield_now()
            }
            other => panic!("{other:?} at {offset} of queue {queue_id}"),
        }
        for record in &got.messages {
            let (found, body) = offset_and_body(record);
            assert_eq!(found, bodies.len() as u64, "no hole, no repetition");
            bodies.push(body);
        }
        assert_eq!(got.next_begin_offset, bodies.len() as u64);
    }
}

fn run(config: MessageStoreConfig) {
    let store = TestStore::open(config.clone()).expect("opens");
    let written = AtomicBool::new(false);
    let (put, read) = std::thread::scope(|scope| {
        let engine = &*store.store;
        let readers: Vec<_> = (0..QUEUES)
            .map(|queue_id| {
                scope.spawn({
                    let written = &written;
                    move || read(engine, queue_id, written)
                })
            })
            .collect();
        let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(move || write(engine, writer))).collect();
        let put: Vec<_> = writers.into_iter().flat_map(|writer| writer.join().expect("a writer")).collect();
        store.arrivals.wait_for(put.len() as u64);
        written.store(true, Ordering::Release);
        let read: Vec<_> = readers.into_iter().map(|reader| reader.join().expect("a reader")).collect();
        (put, read)
    });
    let places: HashSet<(i32, u64)> = put.iter().map(|(queue_id, offset, _)| (*queue_id, *offset)).collect();
    assert_eq!(places.len(), put.len(), "no offset was given twice");
    assert_eq!(read.iter().map(Vec::len).sum::<usize>(), put.len());
    for (queue_id, offset, body) in &put {
        assert_eq!(&read[*queue_id as usize][*offset as usize], body);
    }
    store.stop();
    let again = TestStore::open(config).expect("opens");
    assert_eq!(again.store.recovery_report().units_rebuilt, 0);
    for (queue_id, bodies) in read.iter().enumerate() {
        let found: Vec<String> =
            again.read_all("T", queue_id as i32).into_iter().map(|(_, body)| body).collect();
        assert_eq!(&found, bodies);
    }
}

#[test]
fn writers_and_readers_with_background_flush() {
    let dir = tempfile::tempdir().unwrap();
    run(small_config(dir.path()));
}

#[test]
fn writers_and_readers_with_sync_flush() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = small_config(dir.path());
    config.commit_log.mapped_file_size_commit_log = 16 << 10;
    config.flush.flush_disk_type = FlushDiskType::SyncFlush;
    config.flush.sync_flush_timeout = 600_000;
    run(config);
}

#[test]
fn without_files_made_ahead() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = small_config(dir.path());
    config.commit_log.preallocate = false;
    run(config);
}

/// Topics come and go while others are written.
#[test]
fn field_F41_deleting_while_writing() {
    let dir = tempfile::tempdir().unwrap();
    let store = TestStore::small(dir.path());
    let engine = Arc::clone(&store.store);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..300 {
                let topic = ["Coming", "Going"][number % 2];
                assert!(engine.put(&message(topic, 0, b"x")).wait().is_stored());
            }
        });
        scope.spawn(|| {
            for _ in 0..20 {
                engine.delete_topics(&["Going"]).expect("deleted");
            }
        });
    });
    assert!(store.store.put(&message("Coming", 0, b"last")).wait().is_stored());
    store.store.shutdown().expect("stopped");
    assert_eq!(store.read_all("Coming", 0).len(), 151);
    let going = store.read_all("Going", 0);
    let offsets: Vec<u64> = going.iter().map(|message| message.0).collect();
    assert_eq!(
        offsets,
        (0..going.len() as u64).collect::<Vec<_>>(),
        "one life of the topic, from its beginning"
    );
}
