//! `cargo xtask bench-java`: the same work done by `stratamq bench` and by Apache's store, in turn (A B A B …), and the
//! figures held against bars. `--write` makes `docs/performance/` anew from them.
//!
//! Times decide nothing: the run succeeds when every result was right, and tells which bars were met.

mod apache_broker;
mod bars;
mod cases;
mod chart;
mod contestants;
mod document;
mod spread;

use std::path::PathBuf;

use anyhow::{Context, Result};

use self::bars::Row;
use self::cases::{Case, Length};
use self::contestants::{Contestants, Measured};
use crate::harness::broker_program;
use crate::harness::run_directory::RunDirectory;
use crate::interop::toolchain::JavaPrograms;
use crate::workspace::Workspace;

/// Options of `cargo xtask bench-java`.
#[derive(clap::Args)]
pub struct Options {
    /// A program to measure instead of building one.
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
    /// Run only the works whose name contains this text.
    #[arg(long, value_name = "PATTERN")]
    only: Option<String>,
    /// How often each work is done by each side; the median counts.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=99))]
    rounds: u32,
    /// About a second for each work: shows that everything runs, and figures of little worth.
    #[arg(long)]
    quick: bool,
    /// Measure on the disk of this directory; default: the build output directory.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Measure without Apache's store.
    #[arg(long)]
    without_java: bool,
    /// Write `docs/performance/results.md` and its charts.
    #[arg(long)]
    write: bool,
}

/// Runs the works; true when all results were right.
///
/// # Errors
/// When a tool is missing or a side does not get through.
pub fn run(options: &Options) -> Result<bool> {
    let workspace = Workspace::locate()?;
    let binary = broker_program::locate(options.binary.as_deref(), &workspace)?;
    let java = match options.without_java {
        true => None,
        false => Some(JavaPrograms::install(&workspace)?),
    };
    let parent = options.dir.as_ref().unwrap_or(&workspace.target);
    let run = RunDirectory::create(parent, "bench-java")?;
    let contestants = Contestants { binary: &binary, java: java.as_ref(), run: &run };
    let wanted = |case: &Case| options.only.as_ref().is_none_or(|only| case.name.contains(only.as_str()));
    let length = if options.quick { Length::quick() } else { Length::full() };

    let (mut rows, mut machine, mut right) = (Vec::new(), String::new(), true);
    for case in cases::all(&length).into_iter().filter(wanted) {
        let measured = match measure(&contestants, &case, options.rounds) {
            Ok(measured) => measured,
            Err(error) => {
                println!("FAIL {error:#}");
                right = false;
                continue;
            }
        };
        right &= measured.right;
        machine.clone_from(&measured.machine);
        for bar in &case.bars {
            let row = Row::of(case.name, bar, &measured);
            println!("{}", row.line());
            rows.push(row);
        }
    }
    println!("\n{}", document::table(&rows));
    let met = rows.iter().filter(|row| row.met == Some(true)).count();
    let told = rows.iter().filter(|row| row.met.is_some()).count();
    println!("{met} of {told} bars met; results {}", if right { "right" } else { "WRONG" });
    if options.write {
        let directory = workspace.root.join("docs").join("performance");
        let how = document::How { machine: &machine, rounds: options.rounds, quick: options.quick };
        document::write(&directory, &how, &rows).context("cannot write docs/performance")?;
    }
    if right {
        run.remove().context("cannot remove the run directory")?;
    } else {
        println!("logs are in {}", run.path().display());
    }
    Ok(right)
}

/// Does a work so many times, ours and Java's in turn.
fn measure(contestants: &Contestants<'_>, case: &Case, rounds: u32) -> Result<Measured> {
    let mut measured = Measured::default();
    for round in 1..=rounds.min(case.most_rounds) {
        eprintln!("{}: round {round}, ours", case.name);
        contestants.ours(case, &mut measured).with_context(|| case.name.to_owned())?;
        if contestants.has_java(case) {
            eprintln!("{}: round {round}, Java's", case.name);
            contestants.javas(case, &mut measured).with_context(|| format!("{}, Java", case.name))?;
        }
    }
    Ok(measured)
}
