//! The store on the simulated disk, its services stepped in a seeded order on one thread.
//!
//! A run is played once. At each of its operations the power is cut and the process killed, in every way the simulated
//! disk knows, and what comes up again is held against what was put and promised, against the cross-check behind
//! `stratamq store verify`, and against itself after a second recovery and a clean restart.
//!
//! A failure names seed, scenario, operation and image. `STORE_CRASH_SEED` replays one seed, `STORE_CRASH_SEEDS` runs so
//! many instead of the few of an ordinary test run, from `STORE_CRASH_FROM` on; `STORE_CRASH_FLUSH` (`sync` or `async`)
//! leaves the scenarios of the other kind out. `cargo xtask sim` sets them.

mod checker;
mod found;
mod oracle;
mod quiet_queue;
mod run;
mod scenario;
mod stepped_store;

use super::DefaultMessageStore;
use crate::config::FlushDiskType;
use crate::message_store::{MessageStore, QueryRequest};
use checker::{Checker, Counts};
use run::Run;
use scenario::Scenario;
use std::ops::Range;
use std::time::Duration;
use stepped_store::SteppedStore;
use store_logic::sim::{Fault, SimWorld};

fn seeds(ordinary: u64) -> Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let from = number("STORE_CRASH_FROM").unwrap_or(0);
    match number("STORE_CRASH_SEED") {
        Some(seed) => seed..seed + 1,
        None => from..from + number("STORE_CRASH_SEEDS").unwrap_or(ordinary),
    }
}

/// Plays the scenario with each seed and cuts it at every operation.
fn cut_everywhere(scenario: &Scenario, ordinary_seeds: u64) {
    each_seed(scenario, ordinary_seeds, Checker::cut_everywhere);
}

fn each_seed(scenario: &Scenario, ordinary_seeds: u64, check: impl Fn(&mut Checker)) {
    let is_sync = scenario.flush == FlushDiskType::SyncFlush;
    if std::env::var("STORE_CRASH_FLUSH").is_ok_and(|only| (only == "sync") != is_sync) {
        return;
    }
    for seed in seeds(ordinary_seeds) {
        let mut checker = Checker::new(scenario, seed);
        check(&mut checker);
        report(scenario, seed, &checker.counts);
    }
}

/// One line for `cargo xtask sim`, which adds them up.
fn report(scenario: &Scenario, seed: u64, counts: &Counts) {
    println!("sim: {} {:?}, seed {seed}: {counts}", scenario.name, scenario.flush);
}

#[test]
fn rolls_survive_every_power_cut() {
    cut_everywhere(&Scenario::rolls(), 1);
}

#[test]
fn batches_survive_every_power_cut() {
    cut_everywhere(&Scenario::batches(), 1);
}

#[test]
fn inner_batches_survive_every_power_cut() {
    cut_everywhere(&Scenario::inner_batches(), 1);
}

#[test]
fn background_flush_invents_nothing_at_any_power_cut() {
    cut_everywhere(&Scenario::background_flush(), 1);
}

#[test]
fn expiry_survives_every_power_cut() {
    cut_everywhere(&Scenario::expiry(), 1);
}

#[test]
fn deleted_topics_stay_deleted_through_every_power_cut() {
    cut_everywhere(&Scenario::topic_deletion(), 1);
}

#[test]
fn restarts_in_the_middle_survive_every_power_cut() {
    cut_everywhere(&Scenario::restarts(), 1);
}

#[test]
fn everything_together_survives_every_power_cut() {
    cut_everywhere(&Scenario::everything(), 1);
}

#[test]
fn write_buffers_survive_every_power_cut() {
    cut_everywhere(&Scenario::write_buffers(FlushDiskType::SyncFlush), 1);
    cut_everywhere(&Scenario::write_buffers(FlushDiskType::AsyncFlush), 1);
}

#[test]
fn a_fault_at_any_operation_loses_nothing_that_was_acknowledged() {
    for flush in [FlushDiskType::SyncFlush, FlushDiskType::AsyncFlush] {
        let scenario = Scenario::short(flush);
        each_seed(&scenario, 1, |checker| fail_everywhere(&scenario, checker));
    }
}

#[test]
fn a_fault_at_any_operation_loses_nothing_that_was_acknowledged_with_write_buffers() {
    let scenario = Scenario::short(FlushDiskType::SyncFlush).with_buffers();
    each_seed(&scenario, 1, |checker| fail_everywhere(&scenario, checker));
}

/// Acknowledged by ASYNC_FLUSH, and in memory of the process alone.
#[test]
fn a_kill_loses_what_was_only_in_a_write_buffer() {
    let config = || Scenario::write_buffers(FlushDiskType::AsyncFlush).config();
    let world = SimWorld::new(1, run::NOW);
    let mut store = SteppedStore::open(&world, config()).expect("opens");
    let message = scenario::message("T", 0, b"b", "");
    let count = |world: &SimWorld| {
        let store = SteppedStore::open(&world.restart_after_kill(), config()).expect("opens");
        store.shared().queues.get("T", 0).map_or(0, |handle| handle.queue.max_offset())
    };
    for _ in 0..3 {
        assert!(store.shared().put(std::slice::from_ref(&message)).wait().is_stored());
    }
    assert_eq!(count(&world), 0, "before the commit");
    world.clock().pass(Duration::from_millis(100));
    store.step(stepped_store::service::COMMIT);
    assert_eq!(count(&world), 3, "after it");
}

fn fail_everywhere(scenario: &Scenario, checker: &mut Checker) {
    let operations = Run::play(scenario, checker.seed(), None).now();
    for operation in 1..=operations {
        for fault in Fault::ALL {
            checker.fail(operation, fault);
        }
    }
}

/// Nothing was synced, and no mark says so (Apache leaves none): the whole of what a start reads may stand in the page
/// cache alone.
#[test]
fn a_start_without_a_flushed_mark_makes_all_that_it_found_durable() {
    let config = || Scenario::short(FlushDiskType::AsyncFlush).config();
    let world = SimWorld::new(1, run::NOW);
    let store = SteppedStore::open(&world, config()).expect("opens");
    for id in 0..30 {
        let (body, properties) = (scenario::body_of(id), scenario::properties_of(id));
        assert!(store.shared().put(&[scenario::message("T", 0, &body, &properties)]).wait().is_stored());
    }
    assert!(store.shared().log.files().file_count() > 2 && store.shared().log.flushed_where() == 0);
    let log_end = store.shared().log.max_offset();
    world.env().disk().remove_file(&store.shared().paths.flushed_mark()).expect("a mark");
    drop(store);
    let world = world.restart_after_kill();
    drop(SteppedStore::open(&world, config()).expect("opens"));
    let world = world.crash_point().least().boot(1, world.clock());
    let store = SteppedStore::open(&world, config()).expect("opens");
    assert_eq!(store.shared().log.max_offset(), log_end);
}

/// The newest index file is not full and was never handed to its flusher: the stop itself has to make it durable.
#[test]
fn field_F56_a_clean_stop_makes_the_index_durable() {
    for seed in seeds(8) {
        let world = SimWorld::new(seed, run::NOW);
        let store =
            DefaultMessageStore::open(&world.env(), Scenario::background_flush().config()).expect("opens");
        let message = scenario::message("T", 0, b"b", "KEYS\u{1}k\u{2}");
        for _ in 0..10 {
            assert!(store.put(&message).wait().is_stored());
        }
        store.shutdown().expect("a clean stop");
        drop(store);
        let world = world.restart_after_power_cut();
        let store =
            DefaultMessageStore::open(&world.env(), Scenario::background_flush().config()).expect("opens");
        assert!(store.recovery_report().clean, "seed {seed}");
        assert_eq!(store.recovery_report().units_rebuilt, 0, "seed {seed}");
        let query = QueryRequest { topic: "T", key: "k", max_messages: 64, begin: 0, end: i64::MAX };
        assert_eq!(store.query(&query).messages.len(), 10, "seed {seed}");
    }
}
