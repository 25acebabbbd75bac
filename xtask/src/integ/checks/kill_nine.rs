//! The process is killed at a random moment: the page cache stays, so everything acknowledged must, synced or not.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use fastrand::Rng;

use crate::integ::Context;
use crate::integ::broker::{Broker, Flush};
use crate::integ::ledger::Ledger;
use crate::integ::load::Load;
use crate::integ::verification::{Expected, verify};

const ROUNDS: u32 = 6;
/// How long the first acknowledgements of a round may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Kills of one recovery.
const KILLS_OF_A_RECOVERY: usize = 3;

/// When the process is killed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum When {
    UnderLoad,
    /// And several times before it is up again.
    AlsoDuringRecovery,
}

pub fn run(context: &Context, directory: &Path, flush: Flush, when: When) -> Result<String> {
    let rounds = context.rounds(ROUNDS);
    let mut rng = Rng::with_seed(context.seed);
    let ledger = Ledger::new(context.seed);
    let mut broker = Broker::new(context, directory, &directory.join("store"), flush)?;
    let address = broker.address();
    let mut start_took = broker.start()?;
    let mut summary = String::new();
    for round in 1..=rounds {
        // A new topic comes and an old one goes on.
        let topics = [format!("kill{round}"), format!("kill{}", round.saturating_sub(1))];
        let load = Load { address: &address, ledger: &ledger, topics: &topics, seed: rng.u64(0..1 << 32) };
        let (before, _) = ledger.counts();
        let wanted = before + rng.usize(1..1_500);
        load.during(|| {
            let alive = || broker.require_alive();
            ledger.wait("acknowledgements", PATIENCE, alive, |acknowledged, _| acknowledged >= wanted)?;
            thread::sleep(Duration::from_millis(rng.u64(0..50)));
            broker.kill()
        })?;
        if when == When::AlsoDuringRecovery {
            for _ in 0..KILLS_OF_A_RECOVERY {
                broker.launch()?;
                thread::sleep(start_took.mul_f64(rng.f64()));
                broker.kill().context("kill during recovery")?;
            }
        }
        start_took = broker.start().with_context(|| format!("after the kill of round {round}"))?;
        summary = verify(&address, &ledger, Expected::All).with_context(|| format!("round {round}"))?;
    }
    broker.stop()?;
    broker.verify_store()?;
    Ok(format!("{rounds} rounds, {summary}"))
}
