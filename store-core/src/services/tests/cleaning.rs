use super::{FILE, HandStore};
use crate::config::CleanConfig;
use crate::service::{Service, Step};
use crate::services::clean_commit_log_service::CleanCommitLogService;
use crate::services::clean_consume_queue_service::CleanConsumeQueueService;
use crate::services::disk_check_service::DiskCheckService;
use crate::{GetRequest, PutMessageStatus};
use std::sync::{Arc, Barrier};
use std::time::Duration;
use store_logic::local_hour;

const HOUR: i64 = 3_600_000;
/// The rest between two files of a round.
const PAUSE: Step = Step::Wait(Duration::from_millis(100));
/// The rest between two rounds.
const REST: Step = Step::Wait(Duration::from_secs(10));

/// A store of so many log files, the last of which is not full.
fn store_of(files: usize, dispatched: bool) -> (HandStore, CleanCommitLogService) {
    store_with(files, dispatched, |_| {})
}

fn store_with(
    files: usize,
    dispatched: bool,
    configure: impl FnOnce(&mut CleanConfig),
) -> (HandStore, CleanCommitLogService) {
    let store = HandStore::open(|config| configure(&mut config.clean));
    while store.log.files().file_count() < files {
        store.put("Old");
        store.put("Both");
    }
    store.put("Both");
    while dispatched && store.dispatch_some().unwrap() {}
    assert_eq!(store.log.files().file_count(), files);
    let service = CleanCommitLogService::new(Arc::clone(&store));
    (store, service)
}

/// The next time it is `hour` o'clock, after `from`.
fn next_hour(from: i64, hour: u8) -> i64 {
    (1..=24).map(|hours| from + hours * HOUR).find(|at| local_hour(*at) == hour).unwrap()
}

/// Steps until the round is over; returns how many files went.
fn round(service: &mut dyn Service) -> usize {
    let mut pauses = 0;
    loop {
        match service.step() {
            PAUSE => pauses += 1,
            REST => return pauses,
            other => panic!("{other:?}"),
        }
    }
}

fn files(store: &HandStore) -> usize {
    store.log.files().file_count()
}

#[test]
fn expired_files_go_at_their_hour() {
    let (store, mut service) = store_of(4, true);
    let expired = store.world.now() + 72 * HOUR;
    store.world.set_now(next_hour(expired, 5));
    round(&mut service);
    assert_eq!(store.log.min_offset(), 0, "not at five");
    store.world.set_now(next_hour(expired, 4));
    assert_eq!(round(&mut service), 3);
    assert_eq!(store.log.min_offset(), 3 * FILE, "all but the last");
    store.put("Both");
}

#[test]
fn young_and_undispatched_files_stay() {
    let (store, mut service) = store_of(4, true);
    store.world.set_now(next_hour(store.world.now(), 4));
    round(&mut service);
    assert_eq!(store.log.min_offset(), 0, "younger than 72 hours");
    let (store, mut service) = store_of(4, false);
    store.world.set_now(next_hour(store.world.now() + 72 * HOUR, 4));
    round(&mut service);
    assert_eq!(store.log.min_offset(), 0, "not dispatched yet");
}

/// Six full files of these ages in hours and the one being written, at an hour at which nothing is due.
fn aged(configure: impl FnOnce(&mut CleanConfig)) -> (HandStore, CleanCommitLogService) {
    let (store, service) = store_with(7, true, configure);
    store.world.set_now(next_hour(store.world.now() + 100 * HOUR, 12));
    for (file, age) in store.log.files().files().iter().zip([80, 79, 10, 9, 8, 7, 0]) {
        store.world.disk.set_modified(file.path(), store.world.now() - age * HOUR);
    }
    (store, service)
}

#[test]
fn field_F61_level_and_hour_decide_what_goes() {
    let (store, mut service) = aged(|_| {});
    assert_eq!((round(&mut service), files(&store)), (0, 7), "half full, not the hour");
    store.world.disk.set_used_percent(75);
    assert_eq!((round(&mut service), files(&store)), (0, 7), "not above the limit");
    store.world.disk.set_used_percent(76);
    assert_eq!((round(&mut service), files(&store)), (2, 5), "the expired ones, at any hour");
    assert_eq!((round(&mut service), files(&store)), (0, 5));
    assert!(store.send("T", "").wait().is_stored());
    store.world.disk.set_used_percent(86);
    service.step();
    assert_eq!(files(&store), 4, "the oldest one goes though it is young");
    assert!(store.send("T", "").wait().is_stored());
    store.world.disk.set_used_percent(91);
    assert_eq!(round(&mut service), 3);
    assert_eq!(files(&store), 1, "the file being written stays");
    assert_eq!(round(&mut service), 0);
    assert_eq!(store.send("T", "").wait().status, PutMessageStatus::ServiceNotAvailable);

    let (store, mut service) = aged(|clean| clean.delete_when = vec![4, 12]);
    assert_eq!((round(&mut service), files(&store)), (2, 5), "half full, at the hour");

    let (store, mut service) = aged(|clean| clean.clean_file_forcibly_enable = false);
    store.world.disk.set_used_percent(91);
    assert_eq!((round(&mut service), files(&store)), (2, 5), "young files are not to be deleted");
}

#[test]
fn field_F40_deletion_stops_at_the_first_file_that_stays() {
    let (store, mut service) = aged(|_| {});
    for (file, age) in store.log.files().files().iter().zip([80, 10, 80, 80, 80, 80, 80]) {
        store.world.disk.set_modified(file.path(), store.world.now() - age * HOUR);
    }
    store.clean_by_hand();
    assert_eq!((round(&mut service), store.log.min_offset()), (1, FILE), "the second file is fresh");
    let second = store.log.files().files().remove(0);
    store.world.disk.set_modified(second.path(), store.world.now() - 80 * HOUR);
    assert_eq!((round(&mut service), files(&store)), (5, 1), "however old, the last file stays");
}

#[test]
fn a_full_disk_refuses_writes_until_there_is_room() {
    let (store, mut service) = store_of(4, true);
    store.world.disk.set_used_percent(91);
    service.step();
    let refused = store.send("T", "").wait();
    assert_eq!(refused.status, PutMessageStatus::ServiceNotAvailable);
    let remark = refused.remark.unwrap();
    assert!(remark.contains("91 %") && remark.contains("diskSpaceWarningLevelRatio=90"), "{remark}");
    assert_eq!(store.log.min_offset(), FILE, "young files go, one at a time");
    store.world.disk.set_used_percent(86);
    service.step();
    assert_eq!(store.log.min_offset(), 2 * FILE, "still too full to keep young files");
    assert!(store.send("T", "").wait().is_stored());
    store.world.disk.set_used_percent(50);
    round(&mut service);
    assert_eq!(store.log.min_offset(), 2 * FILE);
}

#[test]
fn field_F60_the_disk_is_watched_while_a_slow_deletion_runs() {
    let (store, mut service) = store_of(4, true);
    store.world.set_now(next_hour(store.world.now() + 72 * HOUR, 4));
    store.world.disk.set_used_percent(80);
    let (begun, end) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let (at_begin, at_end) = (Arc::clone(&begun), Arc::clone(&end));
    store.world.disk.before_remove(move |_| {
        at_begin.wait();
        at_end.wait();
    });
    let mut watch = DiskCheckService::new(Arc::clone(&store));
    std::thread::scope(|scope| {
        let deletion = scope.spawn(|| service.step());
        begun.wait();
        store.world.disk.set_used_percent(93);
        watch.step();
        let refused = store.send("T", "").wait();
        assert!(refused.remark.unwrap().contains("93 %"));
        let request = GetRequest { topic: "Old", queue_id: 0, offset: 0, max_messages: 1, filter: None };
        assert_eq!(store.get(&request).messages.len(), 1, "reads go on");
        store.world.disk.set_used_percent(80);
        watch.step();
        assert!(store.send("T", "").wait().is_stored(), "and writes when there is room");
        assert!(!deletion.is_finished());
        end.wait();
    });
    assert_eq!(store.log.min_offset(), FILE);
}

#[test]
fn field_F62_cleaning_by_hand_ends_by_itself() {
    let (store, mut service) = aged(|_| {});
    store.clean_by_hand();
    assert_eq!((round(&mut service), files(&store)), (2, 5), "expired files, at any hour, without traffic");
    let rounds_left = |store: &HandStore| {
        let mut left = 0;
        while store.take_round_by_hand() {
            left += 1;
        }
        left
    };
    assert_eq!(rounds_left(&store), 19);
    for file in store.log.files().files() {
        store.world.disk.set_modified(file.path(), store.world.now() - 80 * HOUR);
    }
    assert_eq!((round(&mut service), files(&store)), (0, 5), "no round was left");
    store.clean_by_hand();
    store.clean_by_hand();
    assert_eq!(rounds_left(&store), 20, "asked twice, the count begins anew");
}

#[test]
fn field_F63_a_round_deletes_a_batch_with_pauses() {
    let (store, mut service) = store_of(32, true);
    store.world.set_now(next_hour(store.world.now() + 72 * HOUR, 4));
    for deleted in [10, 20, 30] {
        // The last file of a batch is followed by the rest between rounds.
        for _ in 0..9 {
            assert_eq!(service.step(), PAUSE);
            assert!(store.send("T", "").wait().is_stored());
        }
        assert_eq!((service.step(), store.log.min_offset()), (REST, deleted * FILE));
    }
}

#[test]
fn queues_and_index_follow_the_log() {
    let (store, mut service) = store_of(4, true);
    let mut follower = CleanConsumeQueueService::new(Arc::clone(&store));
    let index = store.index.as_ref().unwrap();
    let (units, index_files) = (store.max_offset("Old"), index.files().len());
    round(&mut follower);
    assert_eq!(index.files().len(), index_files, "the log is whole");
    store.world.disk.set_used_percent(91);
    round(&mut service);
    assert!(round(&mut follower) > 0, "a pause behind each queue that lost files");
    assert_eq!(store.log.min_offset(), 3 * FILE);
    let old = &store.queues.get("Old", 0).unwrap().queue;
    assert!(index.files().len() < index_files);
    assert_eq!(old.max_offset(), units, "positions stay");
    let first = old.units_from(old.min_offset()).and_then(|mut units| units.next());
    assert!(first.is_none_or(|first| first.unit.phy_offset >= 3 * FILE));
    let both = &store.queues.get("Both", 0).unwrap().queue;
    let min = both.min_offset();
    assert!(min > 0 && both.unit_at(min).unwrap().unit.phy_offset >= 3 * FILE);
    assert!(both.unit_at(min - 1).is_none_or(|before| before.unit.phy_offset < 3 * FILE));
}

/// What consumers see follows at once, for every queue, before files go.
#[test]
fn smallest_offsets_follow_before_files() {
    let (store, mut service) = store_of(4, true);
    let mut follower = CleanConsumeQueueService::new(Arc::clone(&store));
    store.world.disk.set_used_percent(91);
    round(&mut service);
    assert_eq!(follower.step(), PAUSE, "not done with all queues");
    for topic in ["Old", "Both"] {
        let queue = &store.queues.get(topic, 0).unwrap().queue;
        let (min, max) = (queue.min_offset(), queue.max_offset());
        assert!(min > 0, "{topic}");
        assert!(
            queue.unit_at(min).is_none_or(|first| first.unit.phy_offset >= 3 * FILE) || min == max,
            "{topic}"
        );
    }
    round(&mut follower);
}
