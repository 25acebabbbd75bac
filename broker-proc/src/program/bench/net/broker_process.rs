//! A broker of this program's own executable as a child process.

use super::super::options::{Flush, PlaceOptions};
use super::super::scratch_directory::ScratchDirectory;
use anyhow::{Context as _, Result, bail};
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Tries to find free ports: another program may take one in between.
const ATTEMPTS: usize = 5;

/// A broker that is killed when it is dropped: what it stored goes with its directory.
#[derive(Debug)]
pub(in super::super) struct BrokerProcess {
    child: Child,
    /// Kept open: the broker writes to it.
    _output: BufReader<ChildStdout>,
    pub(super) address: SocketAddr,
    /// From the start of the process until it said that it was ready.
    pub(in super::super) start_took: Duration,
}

impl BrokerProcess {
    /// Starts one with an empty store and waits until it is ready.
    ///
    /// # Errors
    ///
    /// It does not start; what it said is on standard error.
    pub(in super::super) fn start(
        scratch: &ScratchDirectory,
        flush: Flush,
        place: &PlaceOptions,
    ) -> Result<Self> {
        let settings = scratch.join("broker.conf");
        let flush = if flush == Flush::Sync { "SYNC_FLUSH" } else { "ASYNC_FLUSH" };
        let text = format!(
            "brokerName=bench\nbrokerIP1=127.0.0.1\nflushDiskType={flush}\nmappedFileSizeCommitLog={}\n",
            place.log_file_size
        );
        std::fs::write(&settings, text).with_context(|| format!("cannot write {}", settings.display()))?;
        for _ in 0..ATTEMPTS {
            if let Some(broker) = Self::try_start(scratch)? {
                return Ok(broker);
            }
        }
        bail!("the broker did not start")
    }

    /// `None`: it ended before it was ready.
    fn try_start(scratch: &ScratchDirectory) -> Result<Option<Self>> {
        let (port, namesrv_port) = free_ports()?;
        let program = std::env::current_exe().context("cannot find this program's file")?;
        let began = Instant::now();
        let mut child = Command::new(&program)
            .arg("broker")
            .arg("--config")
            .arg(scratch.join("broker.conf"))
            .arg("--store")
            .arg(scratch.join("broker"))
            .args(["--listen-port", &port.to_string(), "--namesrv-port", &namesrv_port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let mut output = BufReader::new(child.stdout.take().context("a child without output")?);
        let mut line = String::new();
        let read = output.read_line(&mut line);
        let start_took = began.elapsed();
        if !matches!(read, Ok(1..)) {
            child.wait().context("cannot wait for the broker")?;
            return Ok(None);
        }
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Ok(Some(Self { child, _output: output, address, start_took }))
    }

    /// Its process.
    pub(in super::super) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for BrokerProcess {
    fn drop(&mut self) {
        // Both fail only when it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A free port whose fast port (two below) is free as well, and one for the name server.
fn free_ports() -> Result<(u16, u16)> {
    let listen = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let port_of = |listener: &TcpListener| listener.local_addr().map(|address| address.port());
    loop {
        let (main, namesrv) = (listen(0)?, listen(0)?);
        let (port, namesrv_port) = (port_of(&main)?, port_of(&namesrv)?);
        let neighbours = port.checked_sub(2).zip(port.checked_add(1));
        if neighbours
            .is_some_and(|(fast, ha)| fast != namesrv_port && ha != namesrv_port && listen(fast).is_ok())
        {
            return Ok((port, namesrv_port));
        }
    }
}
