use super::{FILE, HandStore};
use crate::service::{Service, Step};
use crate::services::flush_consume_queue_service::FlushConsumeQueueService;
use crate::services::flush_real_time_service::FlushRealTimeService;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn the_background_flush_waits_for_pages_or_time() {
    let store = HandStore::open(|config| config.commit_log.mapped_file_size_commit_log = 64 * FILE);
    let mut service = FlushRealTimeService::new(Arc::clone(&store));
    store.put("T");
    service.step();
    let durable = store.log.flushed_where();
    assert_eq!(durable, store.log.max_offset(), "the first flush is a thorough one");
    store.put("T");
    service.step();
    assert_eq!(store.log.flushed_where(), durable, "less than four pages");
    store.world.pass(Duration::from_secs(10));
    service.step();
    assert_eq!(store.log.flushed_where(), store.log.max_offset());
    while store.log.files().dirty_bytes() < 4 * 4096 {
        store.put("T");
    }
    service.step();
    assert_eq!(store.log.flushed_where(), store.log.max_offset());
    store.put("T");
    service.finish();
    assert_eq!(store.log.flushed_where(), store.log.max_offset());
}

#[test]
fn the_checkpoint_moves_with_a_thorough_flush_of_the_queues() {
    let store = HandStore::open(|_| {});
    let mut service = FlushConsumeQueueService::new(Arc::clone(&store));
    let put = store.put("T");
    store.dispatch_some().unwrap();
    service.step();
    let queue = &store.queues.get("T", 0).unwrap().queue;
    assert_eq!(
        (queue.files().dirty_bytes(), store.checkpoint.fields().unwrap().logics_msg_timestamp),
        (20, 0)
    );
    store.world.pass(Duration::from_secs(60));
    let undispatched = store.put("T");
    service.step();
    assert_eq!(queue.files().dirty_bytes(), 0);
    let fields = store.checkpoint.fields().unwrap();
    assert_eq!(fields.logics_msg_timestamp, put.store_timestamp);
    assert_eq!(fields.logics_physical_offset, put.wrote_offset as i64);
    assert!(fields.logics_msg_timestamp < undispatched.store_timestamp);
}

#[test]
fn a_full_index_file_is_made_durable_and_noted() {
    let mut store = HandStore::open(|_| {});
    let puts: Vec<_> = (0..11).map(|_| store.put("T")).collect();
    while store.dispatch_some().unwrap() {}
    let index = store.index.as_ref().unwrap();
    assert_eq!(index.files().len(), 2, "ten entries fit a file");
    assert_eq!(store.checkpoint.fields().unwrap().index_msg_timestamp, 0);
    let service = &mut store.recovered.early.index.0;
    assert_eq!(service.step(), Step::Again);
    assert!(matches!(service.step(), Step::Wait(_)));
    assert_eq!(store.checkpoint.fields().unwrap().index_msg_timestamp, puts[9].store_timestamp);
}
