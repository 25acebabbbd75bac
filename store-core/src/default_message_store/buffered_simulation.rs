//! The store with write buffers in front of its log files (`transientStorePoolEnable`) on the simulated disk, as
//! `crash_simulation.rs` has it without: what a kill may lose differs there. The power is cut at every operation of the
//! run (and faults planned at every operation), and what comes up again is held against what was acknowledged.

mod oracle;
mod stepped_store;
mod workload;

use oracle::Oracle;
use stepped_store::SteppedStore;
use store_logic::sim::{Fault, SimWorld};
use workload::{Setup, Workload, config};

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
fn run(world: &SimWorld, seed: u64, setup: Setup) -> Oracle {
    let mut oracle = Oracle::default();
    let mut workload = Workload::new(seed, setup);
    if let Ok(mut store) = SteppedStore::open(world, config(setup)) {
        workload.run(world, &mut store, &mut oracle);
    }
    oracle
}

fn operations_of(seed: u64, setup: Setup) -> u64 {
    let world = SimWorld::new(seed, NOW);
    let oracle = run(&world, seed, setup);
    assert!(oracle.acknowledged() > 10, "seed {seed}: a run that tests nothing");
    world.operations()
}

fn cut_everywhere(setup: Setup, ordinary_seeds: u64) -> u64 {
    let mut states = 0;
    for seed in seeds(ordinary_seeds) {
        for cut in 1..=operations_of(seed, setup) + 1 {
            for variant in 0..CUTS_PER_OPERATION {
                let world = SimWorld::new(seed ^ (variant << 32), NOW);
                world.cut_power_at(cut);
                let oracle = run(&world, seed, setup);
                let what = format!("seed {seed}, {setup:?}, power cut at operation {cut}, variant {variant}");
                oracle.check_after(&world.restart_after_power_cut(), setup, &what);
                states += 1;
            }
        }
    }
    states
}

#[test]
fn with_write_buffers_sync_flush_keeps_what_it_acknowledged_and_async_flush_invents_nothing() {
    let states = cut_everywhere(Setup::SYNC_POOL, 1) + cut_everywhere(Setup::ASYNC_POOL, 1);
    println!("{states} crash states");
}

#[test]
fn with_write_buffers_a_kill_loses_nothing_that_was_acknowledged_by_a_sync_or_could_be_read() {
    for seed in seeds(3) {
        for setup in [Setup::SYNC_POOL, Setup::ASYNC_POOL] {
            killed_everywhere(seed, setup, Oracle::acknowledged_or_readable);
        }
    }
}

#[test]
fn a_kill_loses_what_was_only_in_a_write_buffer() {
    let world = SimWorld::new(1, NOW);
    let mut oracle = Oracle::default();
    let mut store = SteppedStore::open(&world, config(Setup::ASYNC_POOL)).expect("an empty disk");
    assert_eq!(store.name_of(workload::COMMITTER), "CommitRealTime");
    let mut workload = Workload::new(1, Setup::ASYNC_POOL);
    for _ in 0..3 {
        workload.put(&mut store, &mut oracle);
    }
    oracle.look_at_answers(&world);
    assert_eq!(oracle.acknowledged(), 3);
    let lost = oracle.check_after(&world.restart_after_kill(), Setup::ASYNC_POOL, "killed before the commit");
    assert_eq!(lost, [0, 0], "acknowledged by ASYNC_FLUSH, in the buffer alone");
    store.settle();
    let kept = oracle.check_after(&world.restart_after_kill(), Setup::ASYNC_POOL, "killed after the commit");
    assert_eq!(kept.iter().sum::<u64>(), 3);
}

/// Kills the process after every step; `promised` says what must be there then.
fn killed_everywhere(seed: u64, setup: Setup, promised: impl Fn(&Oracle, &SteppedStore) -> Oracle) {
    let world = SimWorld::new(seed, NOW);
    let mut oracle = Oracle::default();
    let mut store = SteppedStore::open(&world, config(setup)).expect("an empty disk");
    let mut workload = Workload::new(seed, setup);
    for step in 0..workload::STEPS {
        workload.step(&world, &mut store, &mut oracle);
        let killed = world.restart_after_kill();
        let what = format!("seed {seed}, {setup:?}, killed at {step}");
        promised(&oracle, &store).check_after(&killed, setup.promising_all(), &what);
    }
}

#[test]
fn nothing_is_acknowledged_after_a_failed_sync() {
    for (seed, setup) in seeds(1).into_iter().flat_map(|seed| [(seed, Setup::SYNC_POOL)]) {
        for operation in 1..=operations_of(seed, setup) {
            for fault in [Fault::SyncError, Fault::NoSpace, Fault::WriteError, Fault::NameError] {
                let world = SimWorld::new(seed, NOW);
                world.plan_fault(operation, fault);
                let oracle = run(&world, seed, setup);
                let what = format!("seed {seed}, {setup:?}, {fault:?} at operation {operation}");
                oracle.check_after(&world.restart_after_power_cut(), setup, &what);
            }
        }
    }
}
