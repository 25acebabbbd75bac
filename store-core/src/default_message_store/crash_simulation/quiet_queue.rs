//! A queue that gets one message and no more, while others go on for many log files. Recovery reads the log from a late
//! file on and trusts the older units of every queue: by then they must be on the disk, whatever happened before.

use super::found::Found;
use super::run::NOW;
use super::scenario::{Scenario, TOPICS, body_of, message, properties_of};
use super::stepped_store::{SteppedStore, service};
use crate::put_result::PutMessageStatus;
use crate::service::Step;
use std::path::Path;
use std::time::Duration;
use store_logic::sim::{Fault, SimWorld};

const QUIET: i32 = 1;
const BUSY: i32 = 0;
/// Messages of the busy queue: several log files of them.
const BUSY_MESSAGES: u64 = 30;
/// Between two of them: longer than what recovery reads again to be safe.
const PAUSE: Duration = Duration::from_secs(4);
/// Images by chance, besides the whole ones.
const TORN: usize = 32;

fn open(world: &SimWorld) -> SteppedStore {
    SteppedStore::open(world, Scenario::rolls().config()).expect("opens")
}

/// Puts one message, and makes it durable and readable.
fn put(store: &mut SteppedStore, queue_id: i32, id: u64) {
    let (body, properties) = (body_of(id), properties_of(id));
    let ticket = store.shared().put(&[message(TOPICS[0], queue_id, &body, &properties)]);
    for service in [service::FLUSH, service::REPUT] {
        while store.step(service) == Step::Again {}
    }
    assert_eq!(ticket.wait().status, PutMessageStatus::PutOk);
}

fn max(found: &Found, queue_id: i32) -> u64 {
    found.queues.get(&(TOPICS[0].to_owned(), queue_id)).map_or(0, |queue| queue.max)
}

/// Puts messages to the busy queue alone, lets the flushers of queues and index work after each, and cuts the power in
/// every way there is. True when a start began to read behind what was there before: else nothing was tested.
fn go_on_and_cut(world: &SimWorld, mut store: SteppedStore) -> bool {
    let (before, log_end) = (Found::read(&store), store.shared().log.max_offset());
    for id in 2..2 + BUSY_MESSAGES {
        put(&mut store, BUSY, id);
        world.clock().pass(PAUSE);
        store.step(service::FLUSH_QUEUES);
        store.step(service::INDEX);
    }
    put(&mut store, BUSY, 2 + BUSY_MESSAGES);
    let expected = [max(&before, QUIET), max(&before, BUSY) + BUSY_MESSAGES + 1];
    let mut behind = false;
    for (number, image) in world.crash_point().images(1, TORN).enumerate() {
        let store = open(&image.boot(1, world.clock()));
        behind |= store.report().scanned_from >= log_end;
        let found = Found::read(&store);
        assert_eq!([max(&found, QUIET), max(&found, BUSY)], expected, "image {number}");
    }
    behind
}

#[test]
fn a_quiet_queue_keeps_its_messages_through_every_power_cut() {
    let world = SimWorld::new(1, NOW);
    let mut store = open(&world);
    put(&mut store, QUIET, 1);
    assert!(go_on_and_cut(&world, store));
}

/// The kernel takes the pages of a failed sync for clean. The next process finds the unit in them, and must not take it
/// for durable because a sync reports success.
#[test]
fn a_quiet_queue_keeps_its_messages_though_their_sync_had_failed() {
    let world = SimWorld::new(1, NOW);
    let mut store = open(&world);
    put(&mut store, QUIET, 1);
    world.clock().pass(PAUSE);
    world.plan_fault(world.operations(), Fault::SyncError);
    store.step(service::FLUSH_QUEUES);
    assert!(world.faults_hit() == 1 && store.shared().flags.failure().is_some());
    drop(store);
    let world = world.restart_after_kill();
    let store = open(&world);
    assert!(go_on_and_cut(&world, store));
}

/// A name is made and then made durable; the process may die in between. Who finds it must not take it for durable.
#[test]
fn a_quiet_queue_keeps_its_messages_wherever_the_process_had_died() {
    let world = SimWorld::new(1, NOW);
    // The root's own name is its maker's affair.
    world.env().disk().create_dir_all(Path::new("/store")).expect("a directory");
    world.record();
    let mut store = open(&world);
    let files = |store: &SteppedStore| store.shared().log.files().file_count();
    // The first file of everything, and the next one of the log and of the quiet queue.
    let quiet = (1000..).take_while(|id| {
        put(&mut store, QUIET, *id);
        files(&store) < 2 || *id < 1010
    });
    assert!(quiet.count() < 30);
    drop(store);
    let points = world.take_recorded();
    let points: Vec<_> = points.iter().filter(|point| point.unsynced_names() > 0).collect();
    for point in &points {
        let operation = point.operation();
        let world = SimWorld::killed_at(point, 1, world.clock());
        let mut store = open(&world);
        put(&mut store, QUIET, 999);
        assert!(go_on_and_cut(&world, store), "killed at operation {operation}");
    }
    assert!(points.len() > 10, "files and directories are made");
}

/// A log file is made, its name cannot be made durable, and the put is refused. After a stop in order the next start must
/// not find the file and take its name for durable.
#[test]
fn a_log_file_whose_name_could_not_be_made_durable_is_made_again() {
    let world = SimWorld::new(1, NOW);
    let mut store = open(&world);
    put(&mut store, BUSY, 0);
    world.plan_fault(world.operations(), Fault::NameError);
    let is_stored = |id: &u64| {
        let (body, properties) = (body_of(*id), properties_of(*id));
        let ticket = store.shared().put(&[message(TOPICS[0], BUSY, &body, &properties)]);
        ticket.provisional().is_some_and(|put| put.is_stored())
    };
    let stored = (1..100).take_while(is_stored).count() as u64;
    assert_eq!((world.faults_hit(), store.shared().flags.failure()), (1, None), "{stored} stored");
    store.stop().expect("a stop in order");
    let mut store = open(&world);
    assert!(store.report().clean);
    put(&mut store, BUSY, 100);
    let least = world.crash_point().least().boot(1, world.clock());
    assert_eq!(max(&Found::read(&open(&least)), BUSY), stored + 2);
}
