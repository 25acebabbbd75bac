//! A file system is shut down under load and mounted again: what was not synced is gone, what was acknowledged before must
//! not be. Messages sent after it must not be acknowledged, and the process must live: a device that dies is no reason to.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use fastrand::Rng;

use crate::integ::Context;
use crate::integ::broker::{Broker, Flush};
use crate::integ::file_system::{FileSystem, Kind, ShutDown};
use crate::integ::ledger::Ledger;
use crate::integ::load::Load;
use crate::integ::verification::{Expected, verify};

const ROUNDS: u32 = 8;
const PATIENCE: Duration = Duration::from_secs(30);
/// After the cut, sends go on for so long: none may be acknowledged that is not on the disk.
const AFTERWARDS: Duration = Duration::from_millis(100);

pub fn run(context: &Context, directory: &Path, kind: Kind, how: ShutDown) -> Result<String> {
    let rounds = context.rounds(ROUNDS);
    let mut rng = Rng::with_seed(context.seed);
    let ledger = Ledger::new(context.seed);
    let mut file_system = FileSystem::make(context, directory, kind)?;
    let mut broker = Broker::new(context, directory, &file_system.path().join("store"), Flush::Sync)?;
    let address = broker.address();
    let mut summary = String::new();
    broker.start()?;
    for round in 1..=rounds {
        let topics = [format!("cut{round}"), format!("cut{}", round.saturating_sub(1))];
        let load = Load { address: &address, ledger: &ledger, topics: &topics, seed: rng.u64(0..1 << 32) };
        let (before, _) = ledger.counts();
        let wanted = before + rng.usize(1..400);
        load.during(|| {
            let alive = || broker.require_alive();
            ledger.wait("acknowledgements", PATIENCE, alive, |acknowledged, _| acknowledged >= wanted)?;
            thread::sleep(Duration::from_millis(rng.u64(0..50)));
            ledger.disbelieve();
            file_system.shut_down(how)?;
            let cut = Instant::now();
            thread::sleep(AFTERWARDS);
            ledger.require_no_send_acknowledged_after(cut)?;
            broker.require_alive().context("after the shutdown of the file system")?;
            broker.kill()
        })?;
        ledger.believe();
        file_system.mount_again()?;
        broker.start().with_context(|| format!("after the cut of round {round}"))?;
        summary = verify(&address, &ledger, Expected::All).with_context(|| format!("round {round}"))?;
    }
    broker.stop()?;
    broker.verify_store()?;
    Ok(format!("{rounds} rounds, {summary}"))
}
