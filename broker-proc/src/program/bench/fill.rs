//! `stratamq bench fill`: a process that fills a store for another work and can be killed.

use super::options::{Bound, Flush, PlaceOptions};
use super::put_load::{PutPlan, put, store_config};
use crate::program::standard_streams::print_line;
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use store_core::{DefaultMessageStore, Env};

/// What the process says when everything is in the store.
const FILLED: &str = "filled";

/// Arguments of `stratamq bench fill`.
#[derive(Debug, Clone, Args)]
pub(super) struct FillArguments {
    /// Store root, which must not be there.
    root: PathBuf,
    /// Messages.
    #[arg(long)]
    count: u64,
    /// Bytes of a body.
    #[arg(long)]
    size: u32,
    /// Queues.
    #[arg(long)]
    queues: u32,
    /// Bytes of a log file.
    #[arg(long)]
    log_file_size: u64,
}

/// How the process that filled a store ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// By a stop in order.
    Stop,
    /// By SIGKILL, with the store open.
    Kill,
}

/// Fills the store, says so, and stops it when standard input ends.
pub(super) fn run(arguments: &FillArguments) -> Result<()> {
    let FillArguments { root, count, size, queues, log_file_size } = arguments;
    let env = Env::os();
    let place = PlaceOptions { dir: root.clone(), keep: true, log_file_size: *log_file_size };
    let store = DefaultMessageStore::open(&env, store_config(root, Flush::Async, &place))?;
    let plan = PutPlan {
        size: *size,
        threads: 1,
        window: 1,
        queues: *queues,
        bound: Bound::Count(*count),
        rate: None,
    };
    put(&env, &store, &plan)?;
    print_line(FILLED);
    std::io::stdin().read_to_end(&mut Vec::new()).context("cannot read standard input")?;
    store.shutdown()?;
    Ok(())
}

/// Lets another process fill a store at `root` and end.
///
/// # Errors
///
/// The process did not do what it should.
pub(super) fn fill_by_process(
    root: &Path,
    (count, size, queues): (u64, u32, u32),
    log_file_size: u64,
    end: End,
) -> Result<()> {
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let mut command = Command::new(program);
    command.args(["bench", "fill"]).arg(root);
    for (name, value) in [
        ("--count", count),
        ("--size", size.into()),
        ("--queues", queues.into()),
        ("--log-file-size", log_file_size),
    ] {
        command.arg(name).arg(value.to_string());
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().context("cannot start this program again")?;
    let said = child.stdout.take().map(|stdout| BufReader::new(stdout).lines().next());
    let filled = matches!(said, Some(Some(Ok(line))) if line == FILLED);
    if end == End::Kill || !filled {
        child.kill().context("cannot kill the process that fills the store")?;
    }
    // Its standard input ends with this.
    drop(child.stdin.take());
    let status = child.wait()?;
    ensure!(filled, "the process that fills {} did not get through: {status}", root.display());
    ensure!(
        end == End::Kill || status.success(),
        "the process that filled {} did not stop in order: {status}",
        root.display()
    );
    Ok(())
}

/// Messages that make a log of about `bytes`.
pub(super) fn messages_of(bytes: u64, size: u32) -> u64 {
    /// Bytes of a record besides the body.
    const REST: u64 = 126;
    (bytes / (u64::from(size) + REST)).max(1)
}
