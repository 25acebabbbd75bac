//! `cargo xtask interop`: uses a broker as its users do, with unmodified official clients.
//!
//! The client programs live in `xtask/interop/{java,node,go}`; they only send what a plan file says and write
//! down what they got. Every judgement is made here, on those files. With `--against java` the same checks
//! run against Apache's own broker: what fails there is a mistake of the harness.
//!
//! One line per check (`ok   …`, `FAIL …`, `note …`), and a last line `N passed, M failed, K not run`.

mod broker;
mod broker_conf;
mod checks;
mod client;
mod compare;
mod messages;
mod stamp;
pub mod toolchain;

use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::ValueEnum;

use self::toolchain::Toolchain;
use crate::harness::ports::Ports;
use crate::harness::report::Report;
use crate::harness::run_directory::RunDirectory;
use crate::harness::{broker_program, clock_seed};
use crate::workspace::Workspace;

/// Options of `cargo xtask interop`.
#[derive(clap::Args)]
pub struct Options {
    /// The broker under test.
    #[arg(long, value_enum, default_value_t = Against::Stratamq)]
    against: Against,
    /// Run only the checks whose name contains this text, and what they need.
    #[arg(long, value_name = "PATTERN")]
    only: Option<String>,
    /// A broker binary to test instead of building one.
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
    /// Keep stores and logs even when everything passed.
    #[arg(long)]
    keep: bool,
    /// Seed of the message plans (default: from the clock).
    #[arg(long)]
    seed: Option<u64>,
}

/// Whose broker is tested.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Against {
    /// The broker of this workspace.
    Stratamq,
    /// Apache's broker: a test of the harness itself.
    Java,
}

/// What every check needs.
pub(crate) struct Context {
    workspace: Workspace,
    run: RunDirectory,
    toolchain: Toolchain,
    /// The broker program of this workspace; none when Apache's broker is tested.
    binary: Option<PathBuf>,
    ports: Ports,
    seed: u64,
    /// Whether stores and logs of what passed are kept.
    keep: bool,
}

/// Runs the checks; true when none failed.
///
/// # Errors
/// When the run cannot even begin: no workspace, no run directory, no broker binary.
pub fn run(options: &Options) -> Result<bool> {
    let started = Instant::now();
    let workspace = Workspace::locate()?;
    let seed = options.seed.unwrap_or_else(clock_seed);
    let report = Report::new(options.only.clone(), &workspace.root);
    report.say(&format!("seed {seed}"));

    let (toolchain, binary) = thread::scope(|scope| {
        let binary = scope.spawn(|| binary(options, &workspace));
        let toolchain = Toolchain::install(&workspace, &report);
        (toolchain, binary.join().unwrap_or_else(|_| bail!("the build of the broker panicked")))
    });
    let context = match binary {
        Ok(binary) => {
            let (run, ports) = (RunDirectory::create(&workspace.target, "interop")?, Ports::new());
            Some(Context { workspace, run, toolchain, binary, ports, seed, keep: options.keep })
        }
        Err(error) => {
            report.fail("broker binary", &error);
            None
        }
    };
    if let Some(context) = context {
        checks::run_all(&context, &report);
        finish(context, &report);
    }
    report.say(&format!("took {} s", started.elapsed().as_secs()));
    Ok(report.summarize())
}

/// Removes the run directory when nobody needs it any more.
fn finish(context: Context, report: &Report) {
    let shown = context.workspace.relative(context.run.path()).display().to_string();
    if report.has_failures() || context.keep {
        report.say(&format!("logs and stores are in {shown}"));
    } else if let Err(error) = context.run.remove() {
        report.say(&format!("cannot remove {shown}: {error}"));
    }
}

/// The broker binary to test; none when Apache's broker is tested.
fn binary(options: &Options, workspace: &Workspace) -> Result<Option<PathBuf>> {
    if options.against == Against::Java {
        return Ok(None);
    }
    broker_program::locate(options.binary.as_deref(), workspace).map(Some)
}
