//! A broker or name server process.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use super::process::{spawn, tail, wait};

/// How long an orderly stop may take.
const STOP_DEADLINE: Duration = Duration::from_secs(30);

/// A running server; killed when dropped.
pub struct Server {
    name: &'static str,
    child: Child,
    log: PathBuf,
}

impl Server {
    /// Starts the program; its output goes to `log`.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(name: &'static str, command: &mut Command, log: PathBuf) -> Result<Self> {
        let child = spawn(command.stdin(Stdio::null()), &log)?;
        Ok(Server { name, child, log })
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// # Errors
    /// When the process has ended; the end of its log is part of the error.
    pub fn require_alive(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => bail!("the {} ended with {status}\n{}", self.name, tail(&self.log)),
        }
    }

    /// Asks the process to end (SIGTERM) and waits for it.
    ///
    /// # Errors
    /// When it is gone already or does not end in time.
    pub fn stop(mut self) -> Result<()> {
        self.require_alive()?;
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).context("no process id")?;
        kill_process(pid, Signal::TERM).with_context(|| format!("cannot signal the {}", self.name))?;
        wait(&mut self.child, STOP_DEADLINE)
            .with_context(|| format!("stop of the {}\n{}", self.name, tail(&self.log)))?;
        Ok(())
    }

    /// Kills the process (SIGKILL).
    ///
    /// # Errors
    /// When it was gone already: nobody else may end it.
    pub fn kill(mut self) -> Result<()> {
        self.require_alive()?;
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nothing to do about a process that is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
