//! `cargo xtask integ`: whether a real kernel keeps what the store believes of it.
//!
//! A broker is killed, its file system filled, turned read-only, shut down as by a power cut, or made to answer writes with
//! an I/O error, always under load. What it acknowledged is kept here, outside of it, and looked for afterwards.
//!
//! One line per check (`ok   …`, `FAIL …`, or `-    …: not run: …` where root or a program is missing), and a last line
//! `N passed, M failed, K not run`. File systems are mounted in a mount namespace of this process: nobody else sees them, and
//! they go with it, however it ends.

mod broker;
mod checks;
mod client;
mod environment;
mod faulty_disk;
mod file_system;
mod ledger;
mod load;
mod record;
mod verification;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::harness::ports::Ports;
use crate::harness::report::{NotRun, Report};
use crate::harness::run_directory::RunDirectory;
use crate::harness::{broker_program, clock_seed};
use crate::workspace::Workspace;

/// No check starts later than this, times the rounds asked for.
const RUN_DEADLINE: Duration = Duration::from_secs(1_200);

/// Options of `cargo xtask integ`.
#[derive(clap::Args)]
pub struct Options {
    /// Run only the checks whose name contains this text.
    #[arg(long, value_name = "PATTERN")]
    only: Option<String>,
    /// How often each check does its harm (default: as it suits the check).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// The most telling checks, with few rounds.
    #[arg(long)]
    quick: bool,
    /// A check that cannot run here has failed.
    #[arg(long)]
    require_all: bool,
    /// A broker binary to test instead of building one.
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
    /// Keep stores and logs even when everything passed.
    #[arg(long)]
    keep: bool,
    /// Seed of bodies and moments (default: from the clock).
    #[arg(long)]
    seed: Option<u64>,
}

/// What every check needs.
pub(crate) struct Context {
    run: RunDirectory,
    binary: PathBuf,
    ports: Ports,
    seed: u64,
    rounds: Option<u32>,
    quick: bool,
    /// Whether stores and logs of what passed are kept.
    keep: bool,
    /// Programs in front of every broker, so that none outlives this process.
    leash: Vec<String>,
    /// Why nothing can be mounted here, if so.
    mounts: Result<(), NotRun>,
}

impl Context {
    /// How often a check does its harm: as the user said, else `usual`, or twice in a quick run.
    fn rounds(&self, usual: u32) -> u32 {
        self.rounds.unwrap_or(if self.quick { usual.min(2) } else { usual })
    }

    /// # Errors
    /// [`NotRun`] when nothing can be mounted here.
    fn require_mounts(&self) -> Result<()> {
        self.mounts.clone().map_err(Into::into)
    }
}

/// Runs the checks; true when none failed.
///
/// # Errors
/// When the run cannot even begin: no workspace, no run directory, no broker binary.
pub fn run(options: &Options) -> Result<bool> {
    // First of all, for it may replace this process.
    let mounts = environment::enter_private_mounts();
    let started = Instant::now();
    let workspace = Workspace::locate()?;
    let report = Report::new(options.only.clone(), &workspace.root)
        .with_deadline(RUN_DEADLINE * options.rounds.unwrap_or(1))
        .requiring_all(options.require_all);
    let seed = options.seed.unwrap_or_else(clock_seed);
    report.say(&format!("seed {seed}"));
    let context = Context {
        binary: broker_program::locate(options.binary.as_deref(), &workspace)?,
        run: RunDirectory::create(&workspace.target, "integ")?,
        ports: Ports::new(),
        seed,
        rounds: options.rounds,
        quick: options.quick,
        keep: options.keep,
        leash: environment::ending_with_this_process(),
        mounts,
    };
    checks::run_all(&context, &report);
    let shown = workspace.relative(context.run.path()).display().to_string();
    if report.has_failures() || context.keep {
        report.say(&format!("logs and stores are in {shown}"));
    } else if let Err(error) = context.run.remove() {
        report.say(&format!("cannot remove {shown}: {error}"));
    }
    report.say(&format!("took {} s", started.elapsed().as_secs()));
    Ok(report.summarize())
}
