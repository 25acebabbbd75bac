//! A broker with small files that is started, killed and started again on one store.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::Context;
use crate::harness::probe::wait_for_route;
use crate::harness::process;
use crate::harness::server::Server;

/// How long a start may take, recovery of the store included.
const START_DEADLINE: Duration = Duration::from_secs(60);
/// How long looking through a store may take.
const VERIFY_DEADLINE: Duration = Duration::from_secs(60);

/// Bytes of a log file.
pub const LOG_FILE: u64 = 1 << 20;

/// What every check sets. A few megabytes fill several files of each kind, and nothing is deleted: not for its age, and
/// not for want of space. A loaded machine is given time.
const SETTINGS: [(&str, &str); 12] = [
    ("mappedFileSizeCommitLog", "1048576"),
    ("mappedFileSizeConsumeQueue", "2000"),
    ("maxHashSlotNum", "100"),
    ("maxIndexNum", "400"),
    ("defaultTopicQueueNums", "4"),
    ("cleanFileForciblyEnable", "false"),
    ("fileReservedTime", "10000"),
    ("maxTransferCountOnMessageInMemory", "1000"),
    ("maxTransferBytesOnMessageInMemory", "1048576"),
    ("osPageCacheBusyTimeOutMills", "10000"),
    ("timerWheelEnable", "false"),
    ("brokerIP1", "127.0.0.1"),
];

/// When a put is answered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Flush {
    Sync,
    Async,
}

/// A broker, running or not.
pub struct Broker {
    binary: PathBuf,
    leash: Vec<String>,
    /// Programs in front of it that change what it may do, and their arguments.
    wrapper: Vec<String>,
    directory: PathBuf,
    store: PathBuf,
    settings: Vec<(&'static str, String)>,
    address: String,
    port: u16,
    namesrv_port: u16,
    refused_starts: usize,
    process: Option<Server>,
}

impl Broker {
    /// A broker, not yet started. Logs go to `directory`.
    ///
    /// # Errors
    /// When no ports are free.
    pub fn new(context: &Context, directory: &Path, store: &Path, flush: Flush) -> Result<Self> {
        let port = context.ports.broker()?;
        let mut settings: Vec<_> = SETTINGS.iter().map(|(key, value)| (*key, (*value).to_owned())).collect();
        let flush = if flush == Flush::Sync { "SYNC_FLUSH" } else { "ASYNC_FLUSH" };
        settings.push(("flushDiskType", flush.to_owned()));
        Ok(Broker {
            binary: context.binary.clone(),
            leash: context.leash.clone(),
            wrapper: Vec::new(),
            directory: directory.to_owned(),
            store: store.to_owned(),
            settings,
            address: format!("127.0.0.1:{port}"),
            port,
            namesrv_port: context.ports.name_server()?,
            refused_starts: 0,
            process: None,
        })
    }

    /// Adds a setting or changes it; it counts from the next start.
    pub fn set(&mut self, key: &'static str, value: &str) {
        self.settings.retain(|(existing, _)| *existing != key);
        self.settings.push((key, value.to_owned()));
    }

    /// Puts programs in front of it, from the next start on.
    pub fn wrap(&mut self, wrapper: &[&str]) {
        self.wrapper = wrapper.iter().map(|&word| word.to_owned()).collect();
    }

    /// Where it listens.
    pub fn address(&self) -> String {
        self.address.clone()
    }

    /// Its store.
    pub fn store(&self) -> &Path {
        &self.store
    }

    /// Starts it and waits until it can be used; returns how long that took.
    ///
    /// # Errors
    /// When it cannot be started, ends, or is not ready in time.
    pub fn start(&mut self) -> Result<Duration> {
        let started = Instant::now();
        self.launch()?;
        let namesrv = format!("127.0.0.1:{}", self.namesrv_port);
        let address = self.address();
        wait_for_route(&namesrv, &address, START_DEADLINE, || self.require_alive())
            .context("start of the broker")?;
        Ok(started.elapsed())
    }

    /// Starts it and does not wait.
    ///
    /// # Errors
    /// When it runs already or cannot be started.
    pub fn launch(&mut self) -> Result<()> {
        ensure!(self.process.is_none(), "the broker runs already");
        let log = self.directory.join("broker.log");
        self.process = Some(Server::start("broker", &mut self.command()?, log)?);
        Ok(())
    }

    /// Starts it where it cannot start; returns how it ended and what it said.
    ///
    /// # Errors
    /// When it does not end in time.
    pub fn refused_start(&mut self) -> Result<(ExitStatus, String)> {
        self.refused_starts += 1;
        let log = self.directory.join(format!("refused-{}.log", self.refused_starts));
        let mut child = process::spawn(&mut self.command()?, &log)?;
        let status = process::wait(&mut child, START_DEADLINE).context("a start that should be refused")?;
        Ok((status, fs::read_to_string(&log).with_context(|| format!("cannot read {}", log.display()))?))
    }

    /// # Errors
    /// When the process has ended; how, and the end of its log, are part of the error.
    pub fn require_alive(&mut self) -> Result<()> {
        self.process.as_mut().context("the broker is not running")?.require_alive()
    }

    /// Kills it (SIGKILL).
    ///
    /// # Errors
    /// When it was gone already.
    pub fn kill(&mut self) -> Result<()> {
        self.process.take().context("the broker is not running")?.kill()
    }

    /// Stops it in an orderly way.
    ///
    /// # Errors
    /// When it does not stop in time.
    pub fn stop(&mut self) -> Result<()> {
        self.process.take().context("the broker is not running")?.stop()
    }

    /// Whether the store has the mark of an unfinished run.
    pub fn has_abort_file(&self) -> bool {
        self.store.join("abort").exists()
    }

    /// Looks through the store with `stratamq store verify`.
    ///
    /// # Errors
    /// When it finds anything wrong; its words are part of the error.
    pub fn verify_store(&self) -> Result<()> {
        let log = self.directory.join("verify.log");
        let mut command = Command::new(&self.binary);
        command.args(["store", "verify"]).arg(&self.store);
        process::run(&mut command, &log, VERIFY_DEADLINE).context("store verify")
    }

    /// Looks into a store that may be in use, which need not be whole at any moment, with `stratamq store info`.
    ///
    /// # Errors
    /// When that cannot be done.
    pub fn look_into_store(&self) -> Result<()> {
        let log = self.directory.join("info.log");
        let mut command = Command::new(&self.binary);
        command.args(["store", "info"]).arg(&self.store);
        process::run(&mut command, &log, VERIFY_DEADLINE).context("store info")
    }

    fn command(&self) -> Result<Command> {
        let mut text = String::new();
        for (key, value) in &self.settings {
            writeln!(text, "{key}={value}")?;
        }
        let conf = self.directory.join("broker.conf");
        fs::write(&conf, text).with_context(|| format!("cannot write {}", conf.display()))?;
        let mut words =
            self.leash.iter().chain(&self.wrapper).map(OsStr::new).chain([self.binary.as_os_str()]);
        let mut command = Command::new(words.next().context("there is no broker binary")?);
        command.args(words);
        command.arg("broker").arg("--store").arg(&self.store).arg("-c").arg(conf);
        command.args(["--listen-port", &self.port.to_string()]);
        command.args(["--namesrv-port", &self.namesrv_port.to_string()]);
        Ok(command)
    }
}
