//! The two sides as processes.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};

use super::apache_broker::ApacheBroker;
use super::cases::{Case, JavaWork};
use super::spread::Spread;
use crate::harness::run_directory::RunDirectory;
use crate::interop::toolchain::JavaPrograms;

/// Apache's start script for brokers has this collector; the heap is larger than any of the works needs.
const JAVA_OPTIONS: [&str; 3] = ["-XX:+UseG1GC", "-Xms1g", "-Xmx1g"];
const JAVA_CLASS: &str = "stratamq.bench.Main";
/// What the Java program says when its store is filled.
const FILLED: &str = "filled";

/// Both sides.
pub struct Contestants<'a> {
    /// The program `stratamq`.
    pub binary: &'a Path,
    /// Apache's store; `None` when it is not asked.
    pub java: Option<&'a JavaPrograms>,
    /// Where stores are made.
    pub run: &'a RunDirectory,
}

/// Figures of all rounds of one work.
#[derive(Debug)]
pub struct Measured {
    /// Ours by name.
    pub ours: BTreeMap<String, Spread>,
    /// Limits with the names of figure and limit, in the report's order.
    pub limits: Vec<((String, String), Spread)>,
    /// Java's by name.
    pub javas: BTreeMap<String, Spread>,
    /// The machine, in words.
    pub machine: String,
    /// Whether all results were right so far.
    pub right: bool,
}

impl Default for Measured {
    fn default() -> Self {
        let (ours, limits, javas) = Default::default();
        Self { ours, limits, javas, machine: String::new(), right: true }
    }
}

impl Measured {
    /// One more round of a limit.
    pub fn add_limit(&mut self, names: (String, String), value: f64) {
        match self.limits.iter_mut().find(|limit| limit.0 == names) {
            Some(limit) => limit.1.add(value),
            None => {
                let mut spread = Spread::default();
                spread.add(value);
                self.limits.push((names, spread));
            }
        }
    }
}

impl Contestants<'_> {
    /// Whether Java takes part in a work.
    pub fn has_java(&self, case: &Case) -> bool {
        self.java.is_some() && !matches!(case.java, JavaWork::Nothing)
    }

    /// One round of ours.
    ///
    /// # Errors
    /// When the program does not get through; wrong results are no error but noted.
    pub fn ours(&self, case: &Case, measured: &mut Measured) -> Result<()> {
        let (report, right) = self.report(case, &[])?;
        measured.right &= right;
        measured.machine = machine(&report["machine"]);
        for figure in figures(&report)? {
            let (name, value) = named_value(figure);
            for limit in figure["limits"].as_array().into_iter().flatten() {
                let (limit, value) = named_value(limit);
                measured.add_limit((name.clone(), limit), value);
            }
            measured.ours.entry(name).or_default().add(value);
        }
        Ok(())
    }

    /// Runs `stratamq bench`; returns its report and whether all results were right.
    fn report(&self, case: &Case, more: &[String]) -> Result<(Value, bool)> {
        let directory = self.run.scenario("ours")?;
        let mut command = Command::new(self.binary);
        command.arg("bench").args(&case.ours).args(more).args(["--json", "-", "--dir"]).arg(&directory);
        let output = command.stderr(Stdio::inherit()).output().context("cannot run stratamq")?;
        let report: Value = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("stratamq bench ended with {}, without a report", output.status))?;
        self.run.remove_scenario("ours");
        for check in report["checks"].as_array().into_iter().flatten() {
            if check["right"] != true {
                println!("WRONG {}: {check}", case.name);
            }
        }
        Ok((report, output.status.success()))
    }

    /// One round of Java's.
    ///
    /// # Errors
    /// When the program does not get through.
    pub fn javas(&self, case: &Case, measured: &mut Measured) -> Result<()> {
        let Some(programs) = self.java else { return Ok(()) };
        // A round that did not get through leaves its store behind.
        self.run.remove_scenario("java");
        let home = self.run.scenario("java")?;
        let java = Java { programs, store: home.join("store"), home };
        let figures = match &case.java {
            JavaWork::One(work, settings) => java.run(work, settings)?,
            JavaWork::Open(settings) => {
                java.fill(settings, true)?;
                let killed = java.run("open", settings)?;
                let stopped = java.run("open", settings)?;
                let seconds = |opened: &Map<String, Value>| opened["seconds"].as_f64().unwrap_or(f64::NAN);
                let mut figures = Map::new();
                figures.insert("open after a kill".to_owned(), seconds(&killed).into());
                figures.insert("open after a stop".to_owned(), (seconds(&stopped) * 1e3).into());
                figures
            }
            JavaWork::Rebuild(settings) => {
                java.fill(settings, false)?;
                java.run("rebuild", settings)?
            }
            JavaWork::Broker(flush) => {
                let broker = ApacheBroker::start(programs, &java.home, flush)?;
                let more =
                    ["--against".to_owned(), broker.address(), "--pid".to_owned(), broker.pid().to_string()];
                let (report, right) = self.report(case, &more)?;
                measured.right &= right;
                broker.stop()?;
                figures(&report)?.iter().map(named_value).map(|(name, value)| (name, value.into())).collect()
            }
            JavaWork::Nothing => Map::new(),
        };
        self.run.remove_scenario("java");
        for (name, value) in figures {
            measured.javas.entry(name).or_default().add(value.as_f64().unwrap_or(f64::NAN));
        }
        Ok(())
    }
}

/// The Java program with a store of its own.
struct Java<'a> {
    programs: &'a JavaPrograms,
    home: PathBuf,
    store: PathBuf,
}

impl Java<'_> {
    fn command(&self, work: &str, settings: &[String]) -> Result<Command> {
        let log = fs::File::options().create(true).append(true).open(self.home.join("errors.log"))?;
        let mut command = self.programs.command(&self.home, &JAVA_OPTIONS, JAVA_CLASS);
        command.arg(work).arg(format!("dir={}", self.store.display())).args(settings).stderr(log);
        Ok(command)
    }

    /// Runs a work to its end; returns the object of its last line.
    fn run(&self, work: &str, settings: &[String]) -> Result<Map<String, Value>> {
        let output = self.command(work, settings)?.output().context("cannot run java")?;
        let errors = self.home.join("errors.log");
        ensure!(
            output.status.success(),
            "{work}: java ended with {}; see {}",
            output.status,
            errors.display()
        );
        let text = String::from_utf8_lossy(&output.stdout);
        let last = text.lines().rev().find(|line| line.starts_with('{')).context("java said nothing")?;
        serde_json::from_str(last).context("cannot read what java said")
    }

    /// Fills the store in a process that is then killed or stopped.
    fn fill(&self, settings: &[String], kill: bool) -> Result<()> {
        let mut command = self.command("fill", settings)?;
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("cannot run java")?;
        let lines = child.stdout.take().map(|stdout| BufReader::new(stdout).lines());
        let filled = lines.into_iter().flatten().map_while(Result::ok).any(|line| line == FILLED);
        if kill || !filled {
            child.kill().context("cannot kill java")?;
        }
        drop(child.stdin.take());
        let status = child.wait()?;
        let errors = self.home.join("errors.log");
        ensure!(filled, "the store was not filled: {status}; see {}", errors.display());
        ensure!(kill || status.success(), "java did not stop in order: {status}; see {}", errors.display());
        Ok(())
    }
}

/// The figures of a report.
fn figures(report: &Value) -> Result<&Vec<Value>> {
    report["figures"].as_array().context("a report without figures")
}

/// Name and value of a figure or limit.
fn named_value(figure: &Value) -> (String, f64) {
    let name = figure["name"].as_str().unwrap_or_default().to_owned();
    (name, figure["value"].as_f64().unwrap_or(f64::NAN))
}

/// The machine of a report, in words.
fn machine(machine: &Value) -> String {
    let text = |name: &str| machine[name].as_str().unwrap_or("unknown").to_owned();
    let gib = machine["memory"].as_f64().unwrap_or_default() / f64::from(1 << 30);
    let read_ahead = machine["read_ahead_kib"].as_u64();
    let read_ahead = read_ahead.map_or_else(String::new, |kib| format!(", read-ahead {kib} KiB"));
    format!(
        "{} CPUs ({}), {gib:.0} GiB of memory, kernel {}, {}{read_ahead}",
        machine["cpus"],
        text("cpu"),
        text("kernel"),
        text("file_system"),
    )
}
