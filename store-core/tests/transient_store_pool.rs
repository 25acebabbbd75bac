//! Write buffers with the store's threads running. The single steps are tested beside the services, crashes in the crash
//! simulation.
#![allow(non_snake_case, reason = "tests carry the number of their case: field_F03_…")]

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
use store_core::config::{FlushDiskType, MessageStoreConfig};
use store_core::{MessageStore, PutMessageStatus};
use test_store::{TestStore, numbered, offset_and_body, small_config};

fn pool_config(root: &Path, buffers: u32) -> MessageStoreConfig {
    let mut config = small_config(root);
    config.pool.transient_store_pool_enable = true;
    config.pool.transient_store_pool_size = buffers;
    // However slow the disk: a test waits as long as it takes.
    config.flush.sync_flush_timeout = 600_000;
    config
}

#[test]
fn what_is_put_is_read_and_survives_a_stop() {
    for buffers in [1, 5] {
        let dir = tempfile::tempdir().unwrap();
        let mut store = TestStore::open(pool_config(dir.path(), buffers)).unwrap();
        for number in 0..100 {
            store.put("T", 0, &format!("m{number}"));
        }
        store.settle();
        assert_eq!(store.read_all("T", 0), numbered("m", 100));
        store.put("T", 0, "m100");
        store.stop();
        // The pool is a matter of writing: with it or without, the store is the same.
        for again in [small_config(dir.path()), pool_config(dir.path(), buffers)] {
            let store = TestStore::open(again).unwrap();
            let report = store.store.recovery_report();
            assert_eq!((report.clean, report.units_rebuilt), (true, 0), "{report}");
            assert_eq!(store.read_all("T", 0), numbered("m", 101));
            store.stop();
        }
    }
}

#[test]
fn field_F69_a_record_is_there_for_who_was_told_its_position() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::open(pool_config(dir.path(), 2)).unwrap();
    for number in 0..50 {
        let put = store.put("T", 0, &format!("m{number}"));
        let record =
            store.store.message_at(put.wrote_offset).expect("committed by the question at the latest");
        assert_eq!(offset_and_body(&record), (number, format!("m{number}")));
        assert!(store.store.message_at(put.wrote_offset + 1).is_none());
    }
    let positions = store.store.log_positions();
    assert!(store.store.message_at(positions.end).is_none());
    store.stop();
}

#[test]
fn field_F70_many_producers_share_one_buffer_over_many_files() {
    let dir = tempfile::tempdir().unwrap();
    let store = TestStore::open(pool_config(dir.path(), 1)).unwrap();
    std::thread::scope(|scope| {
        for queue_id in 0..4 {
            let store = &store.store;
            scope.spawn(move || {
                for number in 0..100 {
                    let body = format!("m{number}");
                    let result = store.put(&message("T", queue_id, body.as_bytes())).wait();
                    assert_eq!(result.status, PutMessageStatus::PutOk, "{:?}", result.remark);
                }
            });
        }
    });
    store.arrivals.wait_for(400);
    for queue_id in 0..4 {
        assert_eq!(store.read_all("T", queue_id), numbered("m", 100));
    }
    store.stop();
}

#[test]
fn field_F71_sync_flush_with_a_pool_answers_what_is_durable() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = pool_config(dir.path(), 2);
    config.flush.flush_disk_type = FlushDiskType::SyncFlush;
    let mut store = TestStore::open(config.clone()).unwrap();
    for number in 0..40 {
        let result = store.store.put(&message("T", 0, format!("m{number}").as_bytes())).wait();
        assert_eq!(result.status, PutMessageStatus::PutOk);
        let put = result.appended.unwrap();
        assert!(store.store.log_positions().durable >= put.wrote_offset + put.wrote_bytes);
    }
    // A kill at this moment: what was answered is in the files.
    let copy = tempfile::tempdir().unwrap();
    copy_store(dir.path(), copy.path());
    config.store_path_root_dir = copy.path().to_owned();
    assert_eq!(TestStore::open(config).unwrap().read_all("T", 0), numbered("m", 40));
    store.put("T", 0, "m40");
    store.stop();
}
