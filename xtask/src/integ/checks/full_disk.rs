//! A file system becomes full under load, and has room again.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::integ::Context;
use crate::integ::broker::{Broker, Flush, LOG_FILE};
use crate::integ::file_system::{FileSystem, Kind};
use crate::integ::ledger::Ledger;
use crate::integ::load::Load;
use crate::integ::verification::{Expected, verify};

const PATIENCE: Duration = Duration::from_secs(60);
/// How long producers go on on a full disk.
const WHILE_FULL: Duration = Duration::from_millis(1_500);
/// Messages before the disk becomes full, and after it has room again: several files of each kind.
const BEFORE: usize = 1_000;
const AFTER: usize = 1_000;
/// Log files that still fit when the disk is being filled.
const FILES_LEFT: u64 = 3;
/// A log file is refused while the disk has this much; smaller files are made until it is gone.
const NOTHING_LEFT: u64 = 0;

/// How the store learns of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Filling {
    /// By errors of the kernel; it never looks at the level itself.
    ToTheLastByte,
    /// By looking at the disk's level.
    BeyondTheLevel,
}

pub fn run(context: &Context, directory: &Path, kind: Kind, filling: Filling) -> Result<String> {
    let ledger = Ledger::new(context.seed);
    let file_system = FileSystem::make(context, directory, kind)?;
    let flush = if kind == Kind::Tmpfs { Flush::Async } else { Flush::Sync };
    let mut broker = Broker::new(context, directory, &file_system.path().join("store"), flush)?;
    let interval = if filling == Filling::ToTheLastByte { "3600000" } else { "200" };
    broker.set("cleanResourceInterval", interval);
    let address = broker.address();
    broker.start()?;
    // Many queues, so that their files run out of space too.
    let topics: Vec<String> = (0..10).map(|number| format!("full{number}")).collect();
    let load = Load { address: &address, ledger: &ledger, topics: &topics, seed: context.seed };
    load.during(|| {
        let mut alive = || broker.require_alive();
        ledger.wait("acknowledgements", PATIENCE, &mut alive, |acknowledged, _| acknowledged >= BEFORE)?;
        file_system.fill(FILES_LEFT * LOG_FILE)?;
        ledger.wait("refusals on a full disk", PATIENCE, &mut alive, |_, refused| refused > 0)?;
        file_system.fill(NOTHING_LEFT)?;
        thread::sleep(WHILE_FULL);
        alive().context("on the full disk")?;
        verify(&address, &ledger, Expected::WhatIsDispatched).context("reads on the full disk")?;
        file_system.make_room()?;
        let (full, _) = ledger.counts();
        ledger.wait("acknowledgements after room was made", PATIENCE, &mut alive, |acknowledged, _| {
            acknowledged >= full + AFTER
        })
    })?;
    verify(&address, &ledger, Expected::All).context("after room was made")?;
    broker.stop()?;
    broker.verify_store()?;
    broker.start()?;
    let summary = verify(&address, &ledger, Expected::All).context("after a restart")?;
    broker.stop()?;
    let entries = ledger.entries();
    let remarks: Vec<&str> = entries.remarks.keys().map(String::as_str).collect();
    Ok(format!("{summary}, {} refused with {} reasons", entries.refused.len(), remarks.len()))
}
