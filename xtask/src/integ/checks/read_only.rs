//! File systems that cannot be written: one that turns so under load, and one that is so from the beginning.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use crate::integ::Context;
use crate::integ::broker::{Broker, Flush};
use crate::integ::file_system::{FileSystem, Kind};
use crate::integ::ledger::Ledger;
use crate::integ::load::Load;
use crate::integ::verification::{Expected, verify};

const PATIENCE: Duration = Duration::from_secs(30);
const AFTERWARDS: Duration = Duration::from_millis(500);
const MESSAGES: usize = 300;

pub fn turns_read_only(context: &Context, directory: &Path) -> Result<String> {
    let ledger = Ledger::new(context.seed);
    let mut file_system = FileSystem::make(context, directory, Kind::Ext4)?;
    let mut broker = Broker::new(context, directory, &file_system.path().join("store"), Flush::Sync)?;
    let address = broker.address();
    let topics = ["ro".to_owned()];
    let load = Load { address: &address, ledger: &ledger, topics: &topics, seed: context.seed };
    broker.start()?;
    load.during(|| {
        let mut alive = || broker.require_alive();
        ledger.wait("acknowledgements", PATIENCE, &mut alive, |acknowledged, _| acknowledged >= MESSAGES)?;
        // ext4 itself may report a sync of reserved blocks as done in the moment its journal ends, and lose it.
        ledger.disbelieve();
        file_system.turn_read_only()?;
        let turned = Instant::now();
        ledger.wait("refusals on a read-only disk", PATIENCE, &mut alive, |_, refused| refused > 0)?;
        thread::sleep(AFTERWARDS);
        ledger.require_no_send_acknowledged_after(turned)?;
        alive()
    })?;
    verify(&address, &ledger, Expected::WhatIsDispatched).context("reads on the read-only disk")?;
    broker.stop().context("on the read-only disk")?;
    file_system.mount_again()?;
    broker.start()?;
    let summary = verify(&address, &ledger, Expected::All).context("after a restart")?;
    broker.stop()?;
    broker.verify_store()?;
    Ok(format!("{summary}, {} refused", ledger.entries().refused.len()))
}

pub fn start(context: &Context, directory: &Path) -> Result<String> {
    let ledger = Ledger::new(context.seed);
    let mut file_system = FileSystem::make(context, directory, Kind::Ext4)?;
    let mut broker = Broker::new(context, directory, &file_system.path().join("store"), Flush::Sync)?;
    let address = broker.address();
    let topics = ["ro".to_owned()];
    let load = Load { address: &address, ledger: &ledger, topics: &topics, seed: context.seed };
    broker.start()?;
    load.during(|| {
        ledger.wait(
            "acknowledgements",
            PATIENCE,
            || broker.require_alive(),
            |acknowledged, _| acknowledged >= MESSAGES,
        )
    })?;
    broker.kill()?;
    file_system.mount_read_only()?;
    let (status, said) = broker.refused_start()?;
    let store = broker.store().display().to_string();
    ensure!(status.code() == Some(1), "expected exit status 1, found {status}: {said}");
    ensure!(said.contains("Read-only file system"), "expected the reason, found: {said}");
    ensure!(said.contains(&store), "expected a path below {store}, found: {said}");
    broker.verify_store().context("looking into a store that cannot be written")?;
    file_system.mount_again()?;
    broker.start()?;
    verify(&address, &ledger, Expected::All)
}
