//! The lines that a run prints, and the count behind its last line.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};

/// No check starts this long after the first one, unless a report is told otherwise: a broker that answers nothing must not
/// hold the run for hours.
const RUN_DEADLINE: Duration = Duration::from_secs(600);

/// Counts and prints check results. Lines appear as soon as a check is decided, from any thread.
pub struct Report {
    only: Option<String>,
    /// Cut from the front of paths, so that they read as from the root of the workspace.
    root: String,
    /// When the first check started.
    started: OnceLock<Instant>,
    deadline: Duration,
    /// Whether a check that could not run has failed.
    require_all: bool,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    passed: usize,
    failed: usize,
    not_run: usize,
}

/// The error of a check that cannot run here, with what is missing.
#[derive(Clone, Debug)]
pub struct NotRun(pub String);

impl Display for NotRun {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for NotRun {}

impl Report {
    /// A report that keeps only the checks whose name contains `only` (any case) and shows paths relative to
    /// `root`.
    pub fn new(only: Option<String>, root: &Path) -> Self {
        let only = only.map(|pattern| pattern.to_lowercase());
        let root = root.join("").display().to_string();
        Report {
            only,
            root,
            started: OnceLock::new(),
            deadline: RUN_DEADLINE,
            require_all: false,
            counts: Mutex::default(),
        }
    }

    /// Starts checks until this long after the first one.
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Report { deadline, ..self }
    }

    /// Counts what cannot run as failed, if `require_all`.
    pub fn requiring_all(self, require_all: bool) -> Self {
        Report { require_all, ..self }
    }

    /// Whether the user asked for this check.
    pub fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|pattern| name.to_lowercase().contains(pattern))
    }

    /// Prints a line that is no check.
    pub fn say(&self, line: &str) {
        let _counts = self.counts();
        println!("{line}");
    }

    /// Prints something worth knowing that is neither right nor wrong.
    pub fn note(&self, name: &str, text: &str) {
        if self.wants(name) {
            self.say(&format!("note {name}: {text}"));
        }
    }

    /// Counts a check that passed.
    pub fn ok(&self, name: &str, detail: &str) {
        let mut counts = self.counts();
        counts.passed += 1;
        let separator = if detail.is_empty() { "" } else { ": " };
        println!("ok   {name}{separator}{detail}");
    }

    /// Counts a check that failed. Further lines of the reason are indented below the first.
    pub fn fail(&self, name: &str, reason: &impl Display) {
        let mut counts = self.counts();
        counts.failed += 1;
        let reason = format!("{reason:#}").replace(&self.root, "");
        println!("FAIL {name}: {}", reason.trim_end().replace('\n', "\n     | "));
    }

    /// Counts a check that cannot run here.
    pub fn not_run(&self, name: &str, reason: &NotRun) {
        if self.require_all {
            self.fail(name, &format!("not run: {reason}"));
            return;
        }
        let mut counts = self.counts();
        counts.not_run += 1;
        println!("-    {name}: not run: {reason}");
    }

    /// Whether any check failed so far.
    pub fn has_failures(&self) -> bool {
        self.counts().failed > 0
    }

    /// Prints the last line; true when no check failed and at least one ran.
    pub fn summarize(&self) -> bool {
        let counts = self.counts();
        println!("{} passed, {} failed, {} not run", counts.passed, counts.failed, counts.not_run);
        counts.failed == 0 && counts.passed > 0
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part of a report that belongs to one scenario: every check it announced is reported exactly once.
pub struct Section<'a> {
    report: &'a Report,
    announced: Vec<String>,
    decided: Mutex<BTreeSet<String>>,
    failed: AtomicBool,
}

impl<'a> Section<'a> {
    /// A section that will decide the checks of these names.
    pub fn new(report: &'a Report, announced: Vec<String>) -> Self {
        Section { report, announced, decided: Mutex::default(), failed: AtomicBool::new(false) }
    }

    /// Whether any announced check was asked for.
    pub fn is_wanted(&self) -> bool {
        self.announced.iter().any(|name| self.report.wants(name))
    }

    /// Whether this check was asked for.
    pub fn wants(&self, name: &str) -> bool {
        self.report.wants(name)
    }

    /// Prints something that is no check.
    pub fn note(&self, name: &str, text: &str) {
        self.report.note(name, text);
    }

    /// Runs a check if it was asked for and reports how it ended; `run` returns a remark for the line.
    pub fn check(&self, name: &str, run: impl FnOnce() -> Result<String>) {
        if self.wants(name) {
            let outcome = if self.report.started.get_or_init(Instant::now).elapsed() < self.report.deadline {
                run()
            } else {
                Err(anyhow!("not started: the run is older than {} s", self.report.deadline.as_secs()))
            };
            self.decide(name, outcome);
        }
    }

    /// Runs a step that later ones need. It is reported under `name` if that check was asked for; its failure
    /// is also returned, so that the caller can leave out what depends on it.
    ///
    /// # Errors
    /// When the step failed.
    pub fn need<T>(&self, name: &str, run: impl FnOnce() -> Result<(T, String)>) -> Result<T> {
        match run() {
            Ok((value, detail)) => {
                if self.wants(name) {
                    self.decide(name, Ok(detail));
                }
                Ok(value)
            }
            Err(error) => {
                let first = format!("{error:#}").lines().next().unwrap_or_default().to_owned();
                if self.wants(name) {
                    self.decide(name, Err(error));
                }
                bail!("needs \"{name}\", which failed: {first}")
            }
        }
    }

    /// Reports a check whose outcome is known.
    pub fn decide(&self, name: &str, outcome: Result<String>) {
        debug_assert!(self.announced.iter().any(|announced| announced == name), "{name} was not announced");
        if !self.decided.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned()) {
            return;
        }
        match outcome {
            Ok(detail) => self.report.ok(name, &detail),
            Err(error) => {
                if let Some(reason) = error.downcast_ref::<NotRun>() {
                    self.report.not_run(name, reason);
                    return;
                }
                self.failed.store(true, Ordering::Relaxed);
                self.report.fail(name, &error);
            }
        }
    }

    /// Fails every check of `names` that is still undecided.
    pub fn give_up(&self, names: &[String], reason: &str) {
        for name in names.iter().filter(|name| self.wants(name)) {
            self.decide(name, Err(anyhow!("{reason}")));
        }
    }

    /// Ends the section: what was announced and asked for but not decided has failed. True when nothing has.
    pub fn close(self, outcome: Result<()>) -> bool {
        let reason = match outcome {
            Ok(()) => anyhow!("was never decided"),
            Err(error) => error,
        };
        if let Some(missing) = reason.downcast_ref::<NotRun>() {
            for name in self.announced.iter().filter(|name| self.wants(name)) {
                self.decide(name, Err(missing.clone().into()));
            }
        }
        self.give_up(&self.announced, &format!("{reason:#}"));
        !self.failed.into_inner()
    }
}

#[cfg(test)]
mod tests;
