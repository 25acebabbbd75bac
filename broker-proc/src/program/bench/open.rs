//! `stratamq bench open`: a process that opens a store, so that its time and memory are those of the store alone.

use super::options::{Flush, PlaceOptions};
use super::process_usage::{anonymous_memory, cpu_time};
use super::put_load::store_config;
use super::workload::{Tally, read_back};
use crate::program::standard_streams::print_line;
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use store_core::{DefaultMessageStore, Env};

/// Arguments of `stratamq bench open`.
#[derive(Debug, Clone, Args)]
pub(super) struct OpenArguments {
    /// Store root.
    root: PathBuf,
    /// Bytes of a body.
    #[arg(long)]
    size: u32,
    /// Queues.
    #[arg(long)]
    queues: u32,
    /// Bytes of a log file.
    #[arg(long)]
    log_file_size: u64,
    /// Read everything back as well.
    #[arg(long)]
    check: bool,
}

/// What opening a store took.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Opened {
    /// From the call to a store that takes messages.
    pub(super) seconds: f64,
    /// CPU time of it, of all threads.
    pub(super) cpu_seconds: f64,
    /// Anonymous memory it added, in bytes.
    pub(super) memory: Option<u64>,
    /// The store found that its last stop was in order.
    pub(super) clean: bool,
    /// What was read back.
    pub(super) tally: Option<Tally>,
}

/// Opens the store, looks, stops it, and prints an [`Opened`] as JSON.
pub(super) fn run(arguments: &OpenArguments) -> Result<()> {
    let OpenArguments { root, size, queues, log_file_size, check } = arguments;
    let place = PlaceOptions { dir: root.clone(), keep: true, log_file_size: *log_file_size };
    let memory = || anonymous_memory(std::process::id());
    let memory_before = memory();
    let (began, cpu_before) = (Instant::now(), cpu_time());
    let store = DefaultMessageStore::open(&Env::os(), store_config(root, Flush::Async, &place))?;
    let (took, cpu) = (began.elapsed(), cpu_time() - cpu_before);
    let memory = memory().zip(memory_before).map(|(after, before)| after.saturating_sub(before));
    let clean = store.recovery_report().clean;
    let tally = if *check { Some(read_back(&store, *queues, *size, |_| ())?) } else { None };
    store.shutdown()?;
    let opened = Opened { seconds: took.as_secs_f64(), cpu_seconds: cpu.as_secs_f64(), memory, clean, tally };
    print_line(serde_json::to_string(&opened)?);
    Ok(())
}

/// Lets another process open and stop the store at `root`.
///
/// # Errors
///
/// The process did not do what it should.
pub(super) fn open_by_process(
    root: &Path,
    (size, queues): (u32, u32),
    log_file_size: u64,
    check: bool,
) -> Result<Opened> {
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let mut command = Command::new(program);
    command.args(["bench", "open"]).arg(root);
    for (name, value) in
        [("--size", size.into()), ("--queues", queues.into()), ("--log-file-size", log_file_size)]
    {
        command.arg(name).arg(value.to_string());
    }
    if check {
        command.arg("--check");
    }
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.context("cannot start this program again")?;
    ensure!(output.status.success(), "the process that opens {} ended: {}", root.display(), output.status);
    serde_json::from_slice(&output.stdout).context("cannot read what the process that opens a store says")
}
