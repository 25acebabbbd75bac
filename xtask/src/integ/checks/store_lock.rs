//! One process per store, whatever lies there.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::integ::Context;
use crate::integ::broker::{Broker, Flush};
use crate::integ::ledger::Ledger;
use crate::integ::load::Load;
use crate::integ::verification::{Expected, verify};

const PATIENCE: Duration = Duration::from_secs(30);
const MESSAGES: usize = 500;

/// A second broker is refused, an inspection is not, and the first broker notices neither.
pub fn two_processes(context: &Context, directory: &Path) -> Result<String> {
    let ledger = Ledger::new(context.seed);
    let store = directory.join("store");
    let mut first = Broker::new(context, directory, &store, Flush::Sync)?;
    let second_directory = directory.join("second");
    fs::create_dir_all(&second_directory)?;
    let mut second = Broker::new(context, &second_directory, &store, Flush::Sync)?;
    let address = first.address();
    let topics = ["two".to_owned()];
    let load = Load { address: &address, ledger: &ledger, topics: &topics, seed: context.seed };
    first.start()?;
    let said = load.during(|| {
        let mut alive = || first.require_alive();
        ledger.wait("acknowledgements", PATIENCE, &mut alive, |acknowledged, _| acknowledged >= MESSAGES)?;
        let (status, said) = second.refused_start()?;
        ensure!(status.code() == Some(1), "expected exit status 1, found {status}: {said}");
        second.look_into_store().context("looking into a store in use")?;
        ledger
            .wait("acknowledgements", PATIENCE, &mut alive, |acknowledged, _| acknowledged >= 2 * MESSAGES)?;
        Ok(said)
    })?;
    ensure!(said.contains("another process"), "expected the reason, found: {said}");
    ensure!(
        said.contains(&store.display().to_string()),
        "expected the path {}, found: {said}",
        store.display()
    );
    let summary = verify(&address, &ledger, Expected::All)?;
    first.kill()?;
    second.start().context("after the first one was killed")?;
    verify(&second.address(), &ledger, Expected::All).context("in the second process")?;
    second.stop()?;
    Ok(summary)
}

/// A lock file without a holder is no obstacle; one that cannot be opened is, and is named.
pub fn lock_file(context: &Context, directory: &Path) -> Result<String> {
    let store = directory.join("store");
    let lock = store.join("lock");
    let mut broker = Broker::new(context, directory, &store, Flush::Sync)?;
    fs::create_dir_all(&store)?;
    fs::write(&lock, "lock of a process that is gone")?;
    broker.start().context("with a lock file left behind")?;
    broker.kill()?;
    ensure!(lock.exists(), "expected the lock file {}", lock.display());
    broker.start().context("with the lock file of a killed process")?;
    broker.stop()?;
    fs::remove_file(&lock)?;
    fs::create_dir(&lock)?;
    let (status, said) = broker.refused_start()?;
    ensure!(status.code() == Some(1), "expected exit status 1, found {status}: {said}");
    ensure!(
        said.contains(&lock.display().to_string()),
        "expected the path {}, found: {said}",
        lock.display()
    );
    Ok(String::new())
}
