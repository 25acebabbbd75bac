//! `cargo xtask mutants`: deliberate faults, each of which some test must notice.
//!
//! The table `xtask/mutants.toml` says what is replaced where and which tests must fail then. Each mutation is made in a
//! copy of the sources with a build directory of its own; the tests it names are built and run there.

mod copy;
mod table;

pub use table::Table;

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use wait_timeout::ChildExt;

use self::copy::Copy;
use self::table::Mutant;
use crate::models;
use crate::workspace::{Workspace, cargo};

/// Options of `cargo xtask mutants`.
#[derive(clap::Args)]
pub struct Options {
    /// Only mutations whose name contains this text.
    name: Option<String>,
}

/// A test that takes longer has not come to its end because of the mutation.
const LONGEST: Duration = Duration::from_secs(300);

/// How a run of tests ended.
enum Outcome {
    Passed,
    /// Names of tests that failed, or what else happened.
    Failed(String),
}

/// Tries the mutations; true when each was caught.
pub fn run(options: &Options) -> Result<bool> {
    let workspace = Workspace::locate()?;
    let table = Table::read(&workspace.root)?;
    let wanted = |mutant: &&Mutant| options.name.as_ref().is_none_or(|name| mutant.name.contains(name));
    let mutants: Vec<&Mutant> = table.mutants.iter().filter(wanted).collect();
    ensure!(!mutants.is_empty(), "no mutation has that name");
    let copy = Copy::make(&workspace)?;
    check_unmutated(&copy, &mutants)?;
    let (mut caught, mut survived) = (0, 0);
    for mutant in mutants {
        let began = Instant::now();
        let verdict = match try_out(&copy, mutant)? {
            Outcome::Failed(test) => {
                caught += 1;
                format!("caught by {test}")
            }
            Outcome::Passed => {
                survived += 1;
                "SURVIVED".to_owned()
            }
        };
        println!("{:<44} {verdict} ({} s)", mutant.name, began.elapsed().as_secs());
    }
    println!("{caught} caught, {survived} survived");
    Ok(survived == 0)
}

/// A test that fails anyway catches nothing.
fn check_unmutated(copy: &Copy, mutants: &[&Mutant]) -> Result<()> {
    let mut seen: Vec<(&str, &str, &[String])> = Vec::new();
    for mutant in mutants {
        let tests = (mutant.package.as_str(), mutant.target.as_str(), mutant.tests.as_slice());
        if seen.contains(&tests) {
            continue;
        }
        seen.push(tests);
        if let Outcome::Failed(test) = run_tests(copy, mutant)? {
            bail!("without any mutation: {test} fails");
        }
    }
    Ok(())
}

fn try_out(copy: &Copy, mutant: &Mutant) -> Result<Outcome> {
    let path = copy.source.join(&mutant.file);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", mutant.file))?;
    fs::write(&path, mutant.apply(&text)?).with_context(|| format!("cannot write {}", mutant.file))?;
    let outcome = run_tests(copy, mutant);
    fs::write(&path, text).with_context(|| format!("cannot write {}", mutant.file))?;
    outcome.with_context(|| mutant.name.clone())
}

fn test_command(copy: &Copy, mutant: &Mutant) -> Command {
    let mut command = cargo();
    command.current_dir(&copy.source).env("RUST_BACKTRACE", "0");
    if mutant.target == "models" {
        models::build_for_loom(&mut command, &copy.target);
    } else {
        command.env("CARGO_TARGET_DIR", &copy.target);
    }
    command.args(["test", "--quiet", "--package", &mutant.package]);
    match mutant.target.as_str() {
        "lib" | "models" => command.arg("--lib"),
        test => command.args(["--test", test]),
    };
    command
}

fn run_tests(copy: &Copy, mutant: &Mutant) -> Result<Outcome> {
    let built = test_command(copy, mutant).arg("--no-run").output().context("cannot run cargo test")?;
    let errors = String::from_utf8_lossy(&built.stderr);
    ensure!(built.status.success(), "{} does not compile:\n{errors}", mutant.name);
    let log = copy.target.join("mutant.log");
    let output = fs::File::create(&log).context("cannot write the tests' output")?;
    let mut command = test_command(copy, mutant);
    command.arg("--").args(&mutant.tests).stdout(output).stderr(Stdio::null());
    let mut tests = command.spawn().context("cannot run cargo test")?;
    let Some(status) = tests.wait_timeout(LONGEST).context("cannot wait for cargo test")? else {
        tests.kill().context("cannot end cargo test")?;
        tests.wait().context("cannot wait for cargo test")?;
        return Ok(Outcome::Failed(format!("{} (no end in {} s)", mutant.tests[0], LONGEST.as_secs())));
    };
    let output = fs::read_to_string(&log).context("cannot read the tests' output")?;
    ensure!(!output.contains("running 0 tests"), "{}: no test is named {:?}", mutant.name, mutant.tests);
    if status.success() {
        return Ok(Outcome::Passed);
    }
    let failed = failed_tests(&output);
    Ok(Outcome::Failed(if failed.is_empty() { format!("{} (it died)", mutant.tests[0]) } else { failed }))
}

/// Names in the last list of failures that the test harness prints.
fn failed_tests(output: &str) -> String {
    let list = output.rsplit("failures:\n").next().unwrap_or("");
    let names = list.lines().map_while(|line| line.strip_prefix("    "));
    names.map(|name| name.rsplit("::").next().unwrap_or(name)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::failed_tests;

    #[test]
    fn names_come_from_the_last_list() {
        let output =
            "failures:\n\n---- a::b stdout ----\nx\n\nfailures:\n    a::b\n    c\n\ntest result: FAILED.";
        assert_eq!(failed_tests(output), "b, c");
    }
}
