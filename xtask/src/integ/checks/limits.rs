//! A process that may not have what it would like to have.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::integ::Context;
use crate::integ::broker::{Broker, Flush};
use crate::integ::environment::require_program;
use crate::integ::ledger::Ledger;
use crate::integ::load::Load;
use crate::integ::verification::{Expected, verify};

const PATIENCE: Duration = Duration::from_secs(30);
const AFTERWARDS: Duration = Duration::from_secs(1);
const MESSAGES: usize = 500;

/// Locking memory is a help, not a need.
pub fn locked_memory(context: &Context, directory: &Path) -> Result<String> {
    let ledger = Ledger::new(context.seed);
    let mut broker = Broker::new(context, directory, &directory.join("store"), Flush::Sync)?;
    let limited = ["sh", "-c", r#"ulimit -l 0 && exec "$0" "$@""#];
    if rustix::process::geteuid().is_root() {
        // The limit does not bind root as long as it may lock memory.
        require_program("setpriv")?;
        broker.wrap(&[&["setpriv", "--bounding-set", "-ipc_lock"], &limited[..]].concat());
    } else {
        broker.wrap(&limited);
    }
    broker.set("warmMapedFileEnable", "true");
    let address = broker.address();
    let topics = ["memlock".to_owned()];
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
    let summary = verify(&address, &ledger, Expected::All)?;
    broker.stop()?;
    broker.verify_store()?;
    Ok(summary)
}

/// The start says what it could not open.
pub fn open_files_at_the_start(context: &Context, directory: &Path) -> Result<String> {
    let mut broker = Broker::new(context, directory, &directory.join("store"), Flush::Sync)?;
    let mut refused = 0;
    for limit in ["8", "10", "12"] {
        let script = format!(r#"ulimit -n {limit} && exec "$0" "$@""#);
        broker.wrap(&["sh", "-c", &script]);
        let (status, said) = broker.refused_start().with_context(|| format!("with {limit} open files"))?;
        ensure!(
            status.code() == Some(1),
            "{limit} open files: expected exit status 1, found {status}: {said}"
        );
        ensure!(
            said.contains("Too many open files"),
            "{limit} open files: expected the reason, found: {said}"
        );
        refused += 1;
    }
    broker.wrap(&[]);
    broker.start().context("without a limit")?;
    broker.stop()?;
    Ok(format!("{refused} starts refused with the reason, the next one worked"))
}

/// More queues than files may be open: what cannot be stored is refused, and nothing acknowledged is lost.
pub fn open_files_under_load(context: &Context, directory: &Path) -> Result<String> {
    let ledger = Ledger::new(context.seed);
    let mut broker = Broker::new(context, directory, &directory.join("store"), Flush::Sync)?;
    broker.wrap(&["sh", "-c", r#"ulimit -n 120 && exec "$0" "$@""#]);
    let address = broker.address();
    let topics: Vec<String> = (0..40).map(|number| format!("many{number}")).collect();
    let load = Load { address: &address, ledger: &ledger, topics: &topics, seed: context.seed };
    broker.start()?;
    load.during(|| {
        let mut alive = || broker.require_alive();
        ledger.wait("refusals", PATIENCE, &mut alive, |_, refused| refused > 0)?;
        thread::sleep(AFTERWARDS);
        alive()
    })?;
    let entries = ledger.entries();
    let told = entries.remarks.keys().any(|remark| remark.contains("Too many open files"));
    ensure!(told, "expected the reason of the refusals, found {:?}", entries.remarks);
    broker.stop().context("without a free descriptor")?;
    broker.wrap(&[]);
    broker.start().context("without a limit")?;
    let summary = verify(&address, &ledger, Expected::All).context("after a restart without the limit")?;
    broker.stop()?;
    broker.verify_store()?;
    Ok(format!("{summary}, {} refused", entries.refused.len()))
}
