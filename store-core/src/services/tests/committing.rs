//! Write buffers: what is appended, readable and durable, and who moves it on.

use super::HandStore;
use crate::config::{BrokerRole, FlushDiskType, MessageStoreConfig};
use crate::service::{Service, ServiceThread, Step, wakeup};
use crate::services::commit_real_time_service::CommitRealTimeService;
use crate::services::flush_real_time_service::FlushRealTimeService;
use crate::services::group_commit_service::GroupCommitService;
use crate::{PutMessageStatus, PutTicket};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Bytes of a log file here.
const LOG_FILE: u64 = 16 * 4096;

fn pooled(configure: impl FnOnce(&mut MessageStoreConfig)) -> HandStore {
    HandStore::open(|config| {
        config.commit_log.mapped_file_size_commit_log = LOG_FILE;
        config.pool.transient_store_pool_enable = true;
        config.pool.transient_store_pool_size = 2;
        configure(config);
    })
}

fn committer(store: &HandStore) -> CommitRealTimeService {
    let mut service = CommitRealTimeService::new(Arc::clone(store), wakeup().0);
    // The first one is thorough.
    service.step();
    service
}

fn positions(store: &HandStore) -> (u64, u64, u64) {
    (store.log.wrote_offset(), store.log.max_offset(), store.log.flushed_where())
}

#[test]
fn field_F69_what_is_not_committed_is_not_there_and_dispatch_stops_before_it() {
    let store = pooled(|_| {});
    let put = store.put("T");
    assert!(store.log.record_at(put.wrote_offset).is_none(), "no bytes, and no error");
    assert!(!store.dispatch_some().unwrap());
    assert_eq!((store.dispatched_offset(), store.max_offset("T")), (0, 0));
    let mut service = committer(&store);
    assert!(store.log.record_at(put.wrote_offset).is_some());
    while store.dispatch_some().unwrap() {}
    let next = store.put("T");
    while store.dispatch_some().unwrap() {}
    assert_eq!(store.dispatched_offset(), next.wrote_offset);
    assert_eq!(store.max_offset("T"), 1);

    // Whoever was told a position and asks for the record at once gets it: that commits first.
    store.commit_for(next.wrote_offset + next.wrote_bytes);
    assert!(store.log.record_at(next.wrote_offset).is_none(), "behind the last record");
    store.commit_for(next.wrote_offset);
    assert!(store.log.record_at(next.wrote_offset).is_some());
    service.finish();
    store.flush_log(0).unwrap();
    assert!(store.log.record_at(next.wrote_offset).is_some(), "durable now");
}

#[test]
fn field_F70_a_pool_of_one_buffer_refuses_nothing_and_the_buffer_comes_back() {
    for fails_fast in [false, true] {
        let store = pooled(|config| {
            config.pool.transient_store_pool_size = 1;
            config.pool.fast_fail_if_no_buffer_in_store_pool = fails_fast;
        });
        let mut service = committer(&store);
        let mut refused = 0;
        while store.log.files().file_count() < 4 {
            let ticket = store.send("T", "");
            if !ticket.provisional().is_some_and(|put| put.is_stored()) {
                let result = ticket.wait();
                assert_eq!(result.status, PutMessageStatus::CreateMappedFileFailed);
                assert!(result.remark.unwrap().contains("all write buffers are in use"));
                refused += 1;
                service.step();
            }
        }
        assert_eq!(refused, if fails_fast { 3 } else { 0 }, "once a roll, and then it goes on");
        store.commit_log(0).unwrap();
        while store.dispatch_some().unwrap() {}
        assert_eq!(store.dispatched_offset(), store.log.wrote_offset());
        assert_eq!(store.pool.as_ref().unwrap().available(), 0, "the file that is written has it");
    }
}

#[test]
fn field_F70_a_replica_uses_no_pool() {
    let store = pooled(|config| config.broker_role = BrokerRole::Slave);
    assert!(store.pool.is_none() && !store.log.files().last().unwrap().is_staged());
    let refused = store.send("T", "").wait();
    assert_eq!(refused.status, PutMessageStatus::ServiceNotAvailable);
    assert!(refused.remark.unwrap().contains("slave"), "and not busy");
}

#[test]
fn field_F71_sync_flush_with_a_pool_commits_and_syncs_before_the_answer() {
    let store = pooled(|config| config.flush.flush_disk_type = FlushDiskType::SyncFlush);
    let mut service = GroupCommitService::new(Arc::clone(&store));
    let ticket = store.send("T", "");
    let end = store.log.wrote_offset();
    assert_eq!(positions(&store), (end, 0, 0));
    assert!(!ticket.is_done());
    assert_eq!(service.step(), Step::Again);
    assert_eq!(positions(&store), (end, end, end));
    assert_eq!(ticket.wait().status, PutMessageStatus::PutOk);
    // Also what nobody waits for.
    assert!(store.send("T", "WAIT\u{1}false\u{2}").is_done());
    assert_eq!(service.step(), Step::Again);
    assert_eq!(store.log.files().dirty_bytes(), 0);
    assert!(matches!(service.step(), Step::Wait(_)));
}

#[test]
fn field_F71_the_last_bytes_below_the_page_limit_are_committed_in_time() {
    let store = pooled(|_| {});
    let mut service = committer(&store);
    let one = store.put("T").wrote_bytes;
    while store.log.wrote_offset() + one < 4096 {
        store.put("T");
    }
    assert!(store.log.wrote_offset() / 4096 == 0, "short of a page");
    service.step();
    assert_eq!(store.log.max_offset(), 0);
    store.world.pass(Duration::from_millis(200));
    service.step();
    let end = store.log.wrote_offset();
    assert_eq!(positions(&store), (end, end, 0));
    // And synced at the thorough interval of the flusher.
    store.world.pass(Duration::from_secs(10));
    FlushRealTimeService::new(Arc::clone(&store)).step();
    assert_eq!(positions(&store), (end, end, end));
}

#[test]
fn field_F72_a_put_that_went_to_the_next_file_is_durable_in_both() {
    for pool in [false, true] {
        let store = pooled(|config| {
            config.commit_log.mapped_file_size_commit_log = super::FILE;
            config.flush.flush_disk_type = FlushDiskType::SyncFlush;
            config.pool.transient_store_pool_enable = pool;
        });
        let mut service = GroupCommitService::new(Arc::clone(&store));
        let one = store.put("T").wrote_bytes;
        let earlier: Vec<PutTicket> =
            (1..super::FILE / one).map(|_| store.send("T", "KEYS\u{1}key\u{2}")).collect();
        assert_eq!(store.log.files().file_count(), 1);
        assert!(store.send("T", "WAIT\u{1}false\u{2}").is_done());
        let rolled = store.send("T", "");
        assert_eq!(store.log.files().file_count(), 2);
        assert_eq!(service.step(), Step::Again);
        for ticket in earlier.into_iter().chain([rolled]) {
            assert_eq!(ticket.wait().status, PutMessageStatus::PutOk, "one sync for all of them");
        }
        let files = store.log.files().files();
        assert_eq!(files[0].flushed_position(), super::FILE);
        assert_eq!(files[1].flushed_position(), files[1].wrote_position());
        assert!(matches!(service.step(), Step::Wait(_)), "nothing is left to sync");
    }
}

/// Tells of each of its steps.
struct Flusher(mpsc::Sender<()>);

impl Service for Flusher {
    fn name(&self) -> &'static str {
        "flusher"
    }

    fn step(&mut self) -> Step {
        let _ = self.0.send(());
        Step::Wait(Duration::from_secs(3600))
    }
}

#[test]
fn a_commit_wakes_a_flusher_that_does_not_keep_its_own_time() {
    let store = pooled(|config| config.flush.flush_commit_log_timed = false);
    let (stepped, steps) = mpsc::channel();
    let (flusher, sleeper) = wakeup();
    let mut service = CommitRealTimeService::new(Arc::clone(&store), flusher.clone());
    let thread = ServiceThread::spawn(Box::new(Flusher(stepped)), (flusher, sleeper), |_| {}).unwrap();
    steps.recv().expect("the first step");
    store.put("T");
    service.step();
    steps.recv().expect("woken by the commit");
    thread.stop();
}

#[test]
fn with_write_buffers_the_files_hold_the_same_bytes() {
    let bytes_with = |pool: bool| {
        let store = pooled(|config| {
            config.commit_log.mapped_file_size_commit_log = super::FILE;
            config.pool.transient_store_pool_enable = pool;
        });
        for number in 0..120_usize {
            drop(store.send("T", &"k".repeat(number * 7 % 50)));
            if number % 5 == 0 {
                store.commit_log(0).unwrap();
            }
        }
        store.flush_log(0).unwrap();
        let files = store.log.files().files();
        files.iter().map(|file| std::fs::read(file.path()).unwrap()).collect::<Vec<_>>()
    };
    let (with, without) = (bytes_with(true), bytes_with(false));
    assert!(with.len() > 4, "more files than buffers");
    assert!(with == without, "buffers that were used before bring nothing into the files");
}

#[test]
fn a_thorough_sync_commits_first_and_the_checkpoint_does_not_run_ahead() {
    let store = pooled(|_| {});
    let first = store.put("T");
    store.flush_log(4).unwrap();
    assert_eq!(store.checkpoint.fields().unwrap().physic_msg_timestamp, 0, "less than four pages");
    store.flush_log(0).unwrap();
    let end = store.log.wrote_offset();
    assert_eq!(positions(&store), (end, end, end));
    assert_eq!(store.checkpoint.fields().unwrap().physic_msg_timestamp, first.store_timestamp);
}

#[test]
fn a_topic_that_is_deleted_does_not_come_back_from_a_write_buffer() {
    let store = pooled(|_| {});
    store.put("T");
    store.commit_log(0).unwrap();
    while store.dispatch_some().unwrap() {}
    store.put("T");
    store.delete_topics(&["T"]).unwrap();
    store.commit_log(0).unwrap();
    while store.dispatch_some().unwrap() {}
    assert_eq!(store.max_offset("T"), 0);
    assert_eq!(store.put("T").logics_offset, 0);
}
