//! `cargo xtask fuzz`: runs the fuzz targets of `fuzz/` under cargo-fuzz and counts the inputs tried.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;

/// Largest single allocation a decoder may ask for, in MiB.
const MOST_AT_ONCE: u32 = 256;

/// The command line.
#[derive(clap::Args)]
pub struct Options {
    /// Only these targets; all without.
    targets: Vec<String>,
    /// How long each one runs.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

/// Runs the targets one after the other; true when none was broken. Needs a nightly toolchain and cargo-fuzz.
pub fn run(options: &Options) -> Result<bool> {
    let directory = Workspace::locate()?.root.join("fuzz");
    let known = write_seeds(&directory)?;
    for target in &options.targets {
        ensure!(known.contains(target), "no target {target}; there are {}", known.join(", "));
    }
    let chosen = if options.targets.is_empty() { &known } else { &options.targets };
    let mut sound = true;
    println!("{:<18} {:>12}", "target", "inputs");
    for target in chosen {
        let output = Command::new("cargo")
            .args(["+nightly", "fuzz", "run", target.as_str(), "--"])
            .arg(format!("-max_total_time={}", options.seconds))
            .arg(format!("-malloc_limit_mb={MOST_AT_ONCE}"))
            .arg("-print_final_stats=1")
            .current_dir(&directory)
            .stdin(Stdio::null())
            .output()
            .context("cannot run cargo fuzz (cargo install cargo-fuzz)")?;
        let told = String::from_utf8_lossy(&output.stderr);
        let inputs = told.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
        println!("{target:<18} {:>12}", inputs.map_or("?", str::trim));
        if !output.status.success() {
            sound = false;
            println!("{told}");
        }
    }
    Ok(sound)
}

/// Puts the golden bytes where the fuzzer begins; returns the names of all targets.
fn write_seeds(directory: &Path) -> Result<Vec<String>> {
    let output = Command::new("cargo")
        .args(["+nightly", "run", "--quiet", "--bin", "write_seeds", "--", "corpus"])
        .current_dir(directory)
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo (rustup toolchain install nightly)")?;
    ensure!(output.status.success(), "the seeds could not be written");
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}
