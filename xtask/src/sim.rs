//! `cargo xtask sim`: the crash simulation of `store-core` with many seeds, as a release build.
//!
//! The simulation is a set of tests; this command runs them with other seeds, shows how far they are and adds up what
//! they report. A failed check ends in the test's own message, which names the seed.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::ValueEnum;

use crate::workspace::{Workspace, cargo};

/// Options of `cargo xtask sim`.
#[derive(clap::Args)]
pub struct Options {
    /// Seeds for each scenario.
    #[arg(long, value_name = "N", default_value_t = 8)]
    seeds: u64,
    /// The first seed.
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    from: u64,
    /// Only scenarios that flush so.
    #[arg(long, value_enum)]
    flush: Option<Flush>,
}

/// Flush modes of the store.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Flush {
    /// SYNC_FLUSH.
    Sync,
    /// ASYNC_FLUSH.
    Async,
}

/// What begins a line of the simulation's report.
const MARK: &str = "sim: ";

/// Sums of the reports: crash states, distinct ones, recovered stores, cuts, faults.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sums([u64; 5]);

impl Sums {
    /// Adds a line such as `…: 9 crash states, 8 distinct, 7 recovered stores, 6 cuts, 5 faults`; false for another.
    fn add(&mut self, line: &str) -> bool {
        let Some((_, counts)) = line.rsplit_once(": ") else { return false };
        let numbers: Vec<u64> =
            counts.split(", ").filter_map(|part| part.split(' ').next()?.parse().ok()).collect();
        let Ok(numbers) = <[u64; 5]>::try_from(numbers) else { return false };
        self.0.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
        true
    }

    fn describe(&self, began: Instant) -> String {
        let [states, distinct, recovered, cuts, faults] = self.0;
        let seconds = began.elapsed().as_secs_f64();
        format!(
            "{states} crash states, {distinct} distinct, {recovered} recovered stores, {cuts} cuts, {faults} faults \
             injected, {seconds:.0} s, {:.0} states/s",
            states as f64 / seconds.max(0.001)
        )
    }
}

/// Builds and runs the simulation; true when every check held.
pub fn run(options: &Options) -> Result<bool> {
    let workspace = Workspace::locate()?;
    let mut command = cargo();
    command
        .current_dir(&workspace.root)
        .args(["test", "--release", "--package", "store-core", "--lib", "--"])
        .args(["crash_simulation::", "--nocapture"])
        .env("STORE_CRASH_SEEDS", options.seeds.to_string())
        .env("STORE_CRASH_FROM", options.from.to_string())
        .env_remove("STORE_CRASH_SEED")
        .stdout(Stdio::piped());
    if let Some(flush) = options.flush {
        let name = if flush == Flush::Sync { "sync" } else { "async" };
        command.env("STORE_CRASH_FLUSH", name);
    }
    let mut simulation = command.spawn().context("cannot run cargo test")?;
    let output = simulation.stdout.take().context("no output of cargo test")?;
    let mut sums = Sums::default();
    let mut began = None;
    for line in BufReader::new(output).lines() {
        let line = line.context("cannot read the output of cargo test")?;
        // Building does not count.
        let began = *began.get_or_insert_with(Instant::now);
        match line.split_once(MARK) {
            Some((_, report)) if sums.add(report) => {
                println!("{report}\n    in all: {}", sums.describe(began));
            }
            _ if line.contains("FAILED") => println!("{line}"),
            _ => {}
        }
    }
    let passed = simulation.wait().context("cannot wait for cargo test")?.success();
    let began = began.unwrap_or_else(Instant::now);
    println!("{}: {}", if passed { "every check held" } else { "A CHECK FAILED" }, sums.describe(began));
    Ok(passed)
}

#[cfg(test)]
mod tests {
    use super::Sums;

    #[test]
    fn adds_up_reports_and_nothing_else() {
        let mut sums = Sums::default();
        let line =
            "rolls SyncFlush, seed 0: 10 crash states, 4 distinct, 2 recovered stores, 3 cuts, 1 faults";
        assert!(sums.add(line) && sums.add(line));
        assert!(!sums.add("test result: ok. 9 passed; 0 failed"));
        assert_eq!(sums, Sums([20, 8, 4, 6, 2]));
    }
}
