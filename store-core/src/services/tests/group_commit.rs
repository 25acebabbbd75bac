use super::HandStore;
use crate::config::FlushDiskType;
use crate::service::{Service, Step};
use crate::services::group_commit_service::GroupCommitService;
use crate::{PutMessageStatus, PutTicket};
use std::sync::Arc;

fn sync_store() -> (HandStore, GroupCommitService) {
    let store = HandStore::open(|config| config.flush.flush_disk_type = FlushDiskType::SyncFlush);
    let service = GroupCommitService::new(Arc::clone(&store));
    (store, service)
}

fn is_again(step: Step) -> bool {
    step == Step::Again
}

#[test]
fn one_sync_answers_all_who_wait_and_none_before() {
    let (store, mut service) = sync_store();
    let tickets: Vec<PutTicket> = (0..50).map(|_| store.send("T", "")).collect();
    assert!(tickets.iter().all(|ticket| !ticket.is_done()));
    assert!(tickets.iter().all(|ticket| ticket.provisional().is_some_and(|put| put.is_stored())));
    assert_eq!(store.log.flushed_where(), 0);
    assert!(!store.dispatch_some().unwrap(), "what is not durable is not seen");
    assert_eq!(store.max_offset("T"), 0);

    assert!(is_again(service.step()));
    assert_eq!(store.log.flushed_where(), store.log.max_offset());
    assert!(tickets.iter().all(PutTicket::is_done));
    for (number, ticket) in tickets.into_iter().enumerate() {
        let result = ticket.wait();
        assert_eq!(result.status, PutMessageStatus::PutOk);
        assert_eq!(result.appended.unwrap().logics_offset, number as u64);
    }
    while store.dispatch_some().unwrap() {}
    assert_eq!(store.max_offset("T"), 50);
    assert!(!is_again(service.step()), "nothing left to do");
}

#[test]
fn who_reads_uncommitted_sees_what_is_not_durable() {
    let store = HandStore::open(|config| {
        config.flush.flush_disk_type = FlushDiskType::SyncFlush;
        config.flush.read_un_committed = true;
    });
    let ticket = store.send("T", "");
    assert!(!ticket.is_done() && store.log.flushed_where() == 0);
    while store.dispatch_some().unwrap() {}
    assert_eq!(store.max_offset("T"), 1);
}

#[test]
fn the_checkpoint_follows_the_sync() {
    let (store, mut service) = sync_store();
    let stored = store.put("T").store_timestamp;
    assert_eq!(store.checkpoint.fields().unwrap().physic_msg_timestamp, 0);
    service.step();
    assert_eq!(store.checkpoint.fields().unwrap().physic_msg_timestamp, stored);
}

#[test]
fn who_does_not_want_to_wait_does_not() {
    let (store, mut service) = sync_store();
    let ticket = store.send("T", "WAIT\u{1}false\u{2}");
    assert!(ticket.is_done());
    assert_eq!(ticket.wait().status, PutMessageStatus::PutOk);
    assert_eq!(store.log.flushed_where(), 0);
    assert!(is_again(service.step()), "synced all the same");
    assert_eq!(store.log.flushed_where(), store.log.max_offset());
}

#[test]
fn after_a_failed_sync_nothing_is_accepted_or_shown() {
    let (store, mut service) = sync_store();
    let waiting = store.send("T", "");
    store.flags.fail("cannot write back bytes 0..211 of a file: I/O error");
    service.step();
    let result = waiting.wait();
    assert_eq!(result.status, PutMessageStatus::ServiceNotAvailable);
    assert!(result.is_stored(), "in the log, and not known to be durable");
    assert!(result.remark.unwrap().contains("I/O error"));
    let refused = store.send("T", "").wait();
    assert_eq!((refused.status, refused.appended), (PutMessageStatus::ServiceNotAvailable, None));
    assert!(refused.remark.unwrap().contains("I/O error"));
    assert!(matches!(service.step(), Step::Wait(_)), "it rests, though the log has unsynced bytes for ever");
    service.finish();
    assert_eq!(store.log.flushed_where(), 0, "a sync is not tried again");
    assert!(!store.dispatch_some().unwrap());
}

#[test]
fn nobody_waits_for_a_service_that_has_gone() {
    let (store, mut service) = sync_store();
    let before = store.send("T", "");
    service.finish();
    assert_eq!(before.wait().status, PutMessageStatus::PutOk);
    let between = store.send("T", "");
    store.group_commit.close(store.flush_log(0));
    assert_eq!(between.wait().status, PutMessageStatus::PutOk);
    let after = store.send("T", "");
    assert!(after.is_done());
    assert_eq!(after.wait().status, PutMessageStatus::FlushDiskTimeout, "stored behind the last sync");
}
