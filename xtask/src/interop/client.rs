//! Runs the client program of a language.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::Context;
use crate::harness::process::{spawn, tail, wait};

/// Default deadline of one verb inside the client program.
const VERB_DEADLINE: Duration = Duration::from_secs(60);
/// What the program gets on top to start and to shut down before it is killed.
const GRACE: Duration = Duration::from_secs(20);
/// Exit code of a client program that stopped at its own deadline.
const DEADLINE_PASSED: i32 = 3;

/// The languages with an official or widely used client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    Java,
    Node,
    Go,
}

impl Language {
    /// All of them, in the order of the report.
    pub const ALL: [Language; 3] = [Language::Java, Language::Node, Language::Go];

    /// The name in check names, topics and groups.
    pub fn name(self) -> &'static str {
        match self {
            Language::Java => "java",
            Language::Node => "node",
            Language::Go => "go",
        }
    }

    /// The client library that is exercised.
    pub fn library(self) -> &'static str {
        match self {
            Language::Java => "org.apache.rocketmq:rocketmq-client 5.5.0",
            Language::Node => "ali-ons 3.12.0",
            Language::Go => "github.com/apache/rocketmq-client-go/v2 v2.1.2",
        }
    }
}

/// How a verb ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It did all it was asked for.
    Complete,
    /// Its deadline came first; its output holds what it got until then.
    DeadlinePassed,
}

impl Ended {
    /// Fails if the deadline passed, and explains a failed comparison by it.
    ///
    /// # Errors
    /// The error of `outcome`, or the deadline.
    pub fn explain<T>(self, outcome: Result<T>) -> Result<T> {
        match self {
            Ended::Complete => outcome,
            Ended::DeadlinePassed => {
                let outcome =
                    outcome.and_then(|_| bail!("what came is right, but the program waited for more"));
                outcome.context("the client program stopped at its deadline")
            }
        }
    }
}

/// One call of a client program. Its log is `STEP.log` in the scenario's directory.
pub struct Call<'a> {
    context: &'a Context,
    directory: &'a Path,
    step: String,
    language: Language,
    verb: &'static str,
    arguments: Vec<String>,
}

impl<'a> Call<'a> {
    /// A call of `verb`; `step` names the files of the call.
    pub fn new(
        context: &'a Context,
        directory: &'a Path,
        step: impl Into<String>,
        language: Language,
        verb: &'static str,
    ) -> Self {
        Call { context, directory, step: step.into(), language, verb, arguments: Vec::new() }
    }

    /// Adds an argument.
    pub fn with(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        self.arguments.push(format!("{name}={value}"));
        self
    }

    /// A file of this call in the scenario's directory: `STEP.SUFFIX`.
    pub fn file(&self, suffix: &str) -> PathBuf {
        self.directory.join(format!("{}.{suffix}", self.step))
    }

    /// Runs the program to its end.
    ///
    /// # Errors
    /// When it is missing, fails, or has to be killed; the end of its log is part of the error.
    pub fn run(self) -> Result<Ended> {
        let log = self.file("log");
        let mut child = spawn(self.command()?.stdin(Stdio::null()), &log)?;
        finish(&mut child, self.language, self.verb, &log)
    }

    /// Starts the program with an open input; it works until [`Running::finish`].
    ///
    /// # Errors
    /// When it is missing or cannot be started.
    pub fn start(self) -> Result<Running> {
        let log = self.file("log");
        let child = spawn(self.command()?.stdin(Stdio::piped()), &log)?;
        Ok(Running { child, language: self.language, verb: self.verb, log })
    }

    fn command(&self) -> Result<Command> {
        // RocketMQ's Java client writes its own log below the home directory.
        let home = self.directory.join(format!("{}.home", self.step));
        if self.language == Language::Java {
            fs::create_dir_all(&home).with_context(|| format!("cannot make {}", home.display()))?;
        }
        let mut command = self.context.toolchain.client(self.language, &home)?;
        command.arg(self.verb).arg(format!("deadlineMs={}", VERB_DEADLINE.as_millis()));
        command.args(&self.arguments).current_dir(self.directory);
        Ok(command)
    }
}

/// A client program that works until its input ends; killed when dropped.
pub struct Running {
    child: Child,
    language: Language,
    verb: &'static str,
    log: PathBuf,
}

impl Running {
    /// # Errors
    /// When the program has ended; the end of its log is part of the error.
    pub fn require_alive(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => {
                bail!("{} {} ended with {status}\n{}", self.language.name(), self.verb, tail(&self.log))
            }
        }
    }

    /// Ends the program's input and waits for its end.
    ///
    /// # Errors
    /// As [`Call::run`].
    pub fn finish(mut self) -> Result<Ended> {
        drop(self.child.stdin.take());
        let log = self.log.clone();
        finish(&mut self.child, self.language, self.verb, &log)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Nothing to do about a program that is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn finish(child: &mut Child, language: Language, verb: &str, log: &Path) -> Result<Ended> {
    let status = wait(child, VERB_DEADLINE + GRACE)
        .with_context(|| format!("{} {verb}: {}", language.name(), tail(log)))?;
    match status.code() {
        Some(0) => Ok(Ended::Complete),
        Some(DEADLINE_PASSED) => Ok(Ended::DeadlinePassed),
        _ => bail!("{} {verb} ended with {status}\n{}", language.name(), tail(log)),
    }
}
