use super::{FILE, HandStore};
use crate::PutMessageStatus;
use crate::service::{Service, Step};
use crate::services::clean_commit_log_service::CleanCommitLogService;
use crate::services::clean_consume_queue_service::CleanConsumeQueueService;
use std::sync::Arc;
use std::time::Duration;
use store_logic::local_hour;

const HOUR: i64 = 3_600_000;

/// A store of four log files.
fn four_files(dispatched: bool) -> (HandStore, CleanCommitLogService) {
    let store = HandStore::open(|_| {});
    while store.log.max_offset() < 3 * FILE {
        store.put("Old");
        store.put("Both");
    }
    store.put("Both");
    while dispatched && store.dispatch_some().unwrap() {}
    assert_eq!(store.log.files().file_count(), 4);
    let service = CleanCommitLogService::new(Arc::clone(&store));
    (store, service)
}

/// The next time it is `hour` o'clock, after `from`.
fn next_hour(from: i64, hour: u8) -> i64 {
    (1..=24).map(|hours| from + hours * HOUR).find(|at| local_hour(*at) == hour).unwrap()
}

/// Steps until the service rests.
fn round(service: &mut CleanCommitLogService) -> u32 {
    let mut steps = 0;
    while service.step() == Step::Wait(Duration::from_millis(100)) {
        steps += 1;
    }
    steps
}

#[test]
fn expired_files_go_at_their_hour() {
    let (store, mut service) = four_files(true);
    let expired = store.world.now() + 72 * HOUR;
    store.world.set_now(next_hour(expired, 5));
    round(&mut service);
    assert_eq!(store.log.min_offset(), 0, "not at five");
    store.world.set_now(next_hour(expired, 4));
    round(&mut service);
    assert_eq!(store.log.min_offset(), 3 * FILE, "all but the last");
    store.put("Both");
}

#[test]
fn young_and_undispatched_files_stay() {
    let (store, mut service) = four_files(true);
    store.world.set_now(next_hour(store.world.now(), 4));
    round(&mut service);
    assert_eq!(store.log.min_offset(), 0, "younger than 72 hours");
    let (store, mut service) = four_files(false);
    store.world.set_now(next_hour(store.world.now() + 72 * HOUR, 4));
    round(&mut service);
    assert_eq!(store.log.min_offset(), 0, "not dispatched yet");
}

#[test]
fn a_full_disk_refuses_writes_until_there_is_room() {
    let (store, mut service) = four_files(true);
    store.world.set_used_percent(80);
    round(&mut service);
    assert_eq!(store.log.min_offset(), 0, "nothing has expired");
    store.world.set_used_percent(91);
    service.step();
    let refused = store.send("T", "").wait();
    assert_eq!(refused.status, PutMessageStatus::ServiceNotAvailable);
    assert!(refused.remark.unwrap().contains("91 %"));
    assert_eq!(store.log.min_offset(), FILE, "young files go, one at a time");
    store.world.set_used_percent(86);
    service.step();
    assert_eq!(store.log.min_offset(), 2 * FILE, "still too full to keep young files");
    assert!(store.send("T", "").wait().is_stored());
    store.world.set_used_percent(50);
    round(&mut service);
    assert_eq!(store.log.min_offset(), 2 * FILE);
}

#[test]
fn queues_and_index_follow_the_log() {
    let (store, mut service) = four_files(true);
    let mut follower = CleanConsumeQueueService::new(Arc::clone(&store));
    let index = store.index.as_ref().unwrap();
    let (units, index_files) = (store.max_offset("Old"), index.files().len());
    follower.step();
    assert_eq!(index.files().len(), index_files, "the log is whole");
    store.world.set_used_percent(91);
    round(&mut service);
    follower.step();
    assert_eq!(store.log.min_offset(), 3 * FILE);
    let old = &store.queues.get("Old", 0).unwrap().queue;
    assert!(index.files().len() < index_files);
    assert_eq!(old.max_offset(), units, "positions stay");
    let first = old.message_from(old.min_offset());
    assert!(first.is_none_or(|(_, unit)| unit.phy_offset >= 3 * FILE));
    let both = &store.queues.get("Both", 0).unwrap().queue;
    let min = both.min_offset();
    assert!(min > 0 && both.unit(min).unwrap().phy_offset >= 3 * FILE);
    assert!(both.unit(min - 1).is_none_or(|unit| unit.phy_offset < 3 * FILE));
}
