//! The disk answers a write of the log with an I/O error, so that a sync of mapped memory fails, once: the kernel then takes
//! the lost pages for clean, and the next sync succeeds. Nothing may be acknowledged any more.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use fastrand::Rng;

use crate::integ::Context;
use crate::integ::broker::{Broker, Flush};
use crate::integ::client::{Client, Sent};
use crate::integ::faulty_disk::{Fault, FaultyDisk};
use crate::integ::file_system::{FileSystem, Kind, make_image};
use crate::integ::ledger::Ledger;
use crate::integ::load::Load;
use crate::integ::verification::{Expected, verify};

const ROUNDS: u32 = 4;
const PATIENCE: Duration = Duration::from_secs(30);
/// How long producers go on after the failure.
const AFTERWARDS: Duration = Duration::from_millis(500);

pub fn run(context: &Context, directory: &Path, fault: Fault) -> Result<String> {
    context.require_mounts()?;
    let rounds = context.rounds(ROUNDS);
    let mut rng = Rng::with_seed(context.seed);
    let ledger = Ledger::new(context.seed);
    let disk = FaultyDisk::serve(directory, &make_image(directory, Kind::Ext4)?)?;
    let mut file_system = FileSystem::mount_first(directory, Kind::Ext4, Some(disk.path()))?;
    let mut broker = Broker::new(context, directory, &file_system.path().join("store"), Flush::Sync)?;
    let address = broker.address();
    let mut summary = String::new();
    broker.start()?;
    for round in 1..=rounds {
        let topics = [format!("eio{round}")];
        let load = Load { address: &address, ledger: &ledger, topics: &topics, seed: rng.u64(0..1 << 32) };
        let (before, refused_before) = ledger.counts();
        let wanted = before + rng.usize(1..200);
        load.during(|| {
            let mut alive = || broker.require_alive();
            ledger
                .wait("acknowledgements", PATIENCE, &mut alive, |acknowledged, _| acknowledged >= wanted)?;
            disk.set(fault);
            ledger.wait("refusals after an I/O error", PATIENCE, alive, |_, refused| {
                refused > refused_before
            })?;
            thread::sleep(AFTERWARDS);
            broker.require_alive()
        })?;
        let failed_at = disk.failed_at().context("the store refused before a write had failed")?;
        disk.set(Fault::None);
        let latest = ledger.entries().latest_acknowledged_send;
        ensure!(
            latest.is_none_or(|latest| latest < failed_at),
            "a message sent after the failure was acknowledged"
        );
        require_read_only(&address)?;
        verify(&address, &ledger, Expected::WhatIsDispatched).context("reads after the failure")?;
        if rng.bool() {
            broker.stop()?;
            ensure!(broker.has_abort_file(), "the store counts as stopped in order after a failed sync");
        } else {
            broker.kill()?;
        }
        file_system.mount_again()?;
        broker.start().with_context(|| format!("after the failure of round {round}"))?;
        summary = verify(&address, &ledger, Expected::All).with_context(|| format!("round {round}"))?;
    }
    broker.stop()?;
    broker.verify_store()?;
    Ok(format!("{rounds} rounds, {} failed writes, {summary}", disk.failures()))
}

/// The disk works again, and yet the store must not be written until it is started again.
fn require_read_only(address: &str) -> Result<()> {
    match Client::connect(address)?.send("late", 0, "late", b"too late")? {
        Sent::Refused { remark, .. } => {
            ensure!(remark.contains("read-only"), "expected the reason of the refusal, found: {remark}");
            Ok(())
        }
        other => Err(anyhow::anyhow!("expected a refusal, found {other:?}")),
    }
}
