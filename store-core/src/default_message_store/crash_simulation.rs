//! The store on the simulated disk: its services are stepped in a seeded order on one thread, the power is cut at every
//! operation of the run (and faults planned at every operation), and what comes up again is held against what was
//! acknowledged.
//!
//! A failure names seed and operation; `STORE_CRASH_SEED` replays one seed, `STORE_CRASH_SEEDS` runs so many instead of
//! the few of an ordinary test run.

mod oracle;
mod stepped_store;
mod workload;

use super::DefaultMessageStore;
use crate::config::FlushDiskType;
use crate::message_store::{MessageStore, QueryRequest};
use oracle::Oracle;
use stepped_store::SteppedStore;
use store_logic::sim::{Fault, SimWorld};
use workload::{Workload, config};

const NOW: i64 = 1_700_000_000_000;
/// Power cuts apart from the operation they happen at: each leaves other pages behind.
const CUTS_PER_OPERATION: u64 = 2;

fn seeds(ordinary: u64) -> Vec<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    match (number("STORE_CRASH_SEED"), number("STORE_CRASH_SEEDS")) {
        (Some(seed), _) => vec![seed],
        (None, count) => (0..count.unwrap_or(ordinary)).collect(),
    }
}

/// Runs the workload on a new world prepared by `prepare`; errors of the store end it, as they would a broker's puts.
fn run(world: &SimWorld, seed: u64, flush: FlushDiskType) -> Oracle {
    let mut oracle = Oracle::default();
    let mut workload = Workload::new(seed);
    if let Ok(mut store) = SteppedStore::open(world, config(flush)) {
        workload.run(world, &mut store, &mut oracle);
    }
    oracle
}

fn operations_of(seed: u64, flush: FlushDiskType) -> u64 {
    let world = SimWorld::new(seed, NOW);
    let oracle = run(&world, seed, flush);
    assert!(oracle.acknowledged() > 10, "seed {seed}: a run that tests nothing");
    world.operations()
}

fn cut_everywhere(flush: FlushDiskType, ordinary_seeds: u64) -> u64 {
    let mut states = 0;
    for seed in seeds(ordinary_seeds) {
        for cut in 1..=operations_of(seed, flush) + 1 {
            for variant in 0..CUTS_PER_OPERATION {
                let world = SimWorld::new(seed ^ (variant << 32), NOW);
                world.cut_power_at(cut);
                let oracle = run(&world, seed, flush);
                let what = format!("seed {seed}, {flush:?}, power cut at operation {cut}, variant {variant}");
                oracle.check_after(&world.restart_after_power_cut(), flush, &what);
                states += 1;
            }
        }
    }
    states
}

#[test]
fn sync_flush_keeps_what_it_acknowledged_through_every_power_cut() {
    let states = cut_everywhere(FlushDiskType::SyncFlush, 2);
    println!("{states} crash states");
}

#[test]
fn async_flush_invents_nothing_at_any_power_cut() {
    let states = cut_everywhere(FlushDiskType::AsyncFlush, 1);
    println!("{states} crash states");
}

#[test]
fn a_kill_at_any_point_loses_nothing_that_was_put() {
    for seed in seeds(3) {
        for flush in [FlushDiskType::SyncFlush, FlushDiskType::AsyncFlush] {
            let world = SimWorld::new(seed, NOW);
            let mut oracle = Oracle::default();
            let mut store = SteppedStore::open(&world, config(flush)).expect("an empty disk");
            let mut workload = Workload::new(seed);
            for step in 0..workload::STEPS {
                workload.step(&world, &mut store, &mut oracle);
                let killed = world.restart_after_kill();
                oracle.all_in_the_log().check_after(
                    &killed,
                    flush,
                    &format!("seed {seed}, {flush:?}, killed at {step}"),
                );
            }
        }
    }
}

#[test]
fn nothing_is_acknowledged_after_a_failed_sync() {
    for seed in seeds(1) {
        for operation in 1..=operations_of(seed, FlushDiskType::SyncFlush) {
            for fault in [Fault::SyncError, Fault::NoSpace, Fault::WriteError, Fault::NameError] {
                let world = SimWorld::new(seed, NOW);
                world.plan_fault(operation, fault);
                let oracle = run(&world, seed, FlushDiskType::SyncFlush);
                let what = format!("seed {seed}, {fault:?} at operation {operation}");
                oracle.check_after(&world.restart_after_power_cut(), FlushDiskType::SyncFlush, &what);
            }
        }
    }
}

/// The newest index file is not full and was never handed to its flusher: the stop itself has to make it durable.
#[test]
fn field_F56_a_clean_stop_makes_the_index_durable() {
    for seed in seeds(8) {
        let world = SimWorld::new(seed, NOW);
        let store =
            DefaultMessageStore::open(&world.env(), config(FlushDiskType::AsyncFlush)).expect("opens");
        let message = workload::message(0, b"b", "KEYS\u{1}k\u{2}");
        for _ in 0..10 {
            assert!(store.put(&message).wait().is_stored());
        }
        store.shutdown().expect("a clean stop");
        drop(store);
        let world = world.restart_after_power_cut();
        let store =
            DefaultMessageStore::open(&world.env(), config(FlushDiskType::AsyncFlush)).expect("opens");
        assert!(store.recovery_report().clean, "seed {seed}");
        assert_eq!(store.recovery_report().units_rebuilt, 0, "seed {seed}");
        let query = QueryRequest { topic: "T", key: "k", max_messages: 64, begin: 0, end: i64::MAX };
        assert_eq!(store.query(&query).messages.len(), 10, "seed {seed}");
    }
}
