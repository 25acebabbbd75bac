//! Apache's broker in a process of its own, without a name server.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::harness::ports::Ports;
use crate::harness::probe::wait_for_listener;
use crate::harness::server::Server;
use crate::interop::toolchain::JavaPrograms;

const START_DEADLINE: Duration = Duration::from_secs(60);
const CLASS: &str = "org.apache.rocketmq.broker.BrokerStartup";

/// What Apache's start script gives a broker on Java 17, with a smaller heap.
const OPTIONS: [&str; 8] = [
    "-XX:+UseG1GC",
    "-Xms1g",
    "-Xmx1g",
    "-XX:MaxDirectMemorySize=512m",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
];

/// A running broker; killed when dropped.
pub struct ApacheBroker {
    server: Server,
    address: SocketAddr,
}

impl ApacheBroker {
    /// Starts it with a new store below `home` and waits until it listens.
    ///
    /// # Errors
    /// When it cannot be started, ends or is not ready in time.
    pub fn start(programs: &JavaPrograms, home: &Path, flush: &str) -> Result<Self> {
        let port = Ports::new().broker()?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let store = home.join("store");
        let conf = home.join("broker.conf");
        let text = format!(
            "brokerClusterName=bench\nbrokerName=bench\nbrokerId=0\nbindAddress=127.0.0.1\nbrokerIP1=127.0.0.1\n\
             listenPort={port}\ntimerWheelEnable=false\nflushDiskType={flush}\nstorePathRootDir={}\n\
             storePathCommitLog={}\n",
            store.display(),
            store.join("commitlog").display(),
        );
        fs::write(&conf, text).with_context(|| format!("cannot write {}", conf.display()))?;
        let mut command = programs.command(home, &OPTIONS, CLASS);
        command.env("ROCKETMQ_HOME", home).arg("-c").arg(&conf);
        let mut server = Server::start("broker", &mut command, home.join("broker.log"))?;
        wait_for_listener(&address.to_string(), START_DEADLINE, || server.require_alive())
            .context("start of Apache's broker")?;
        Ok(Self { server, address })
    }

    /// Where it listens.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// Stops it in order.
    ///
    /// # Errors
    /// When it is gone already or does not end in time.
    pub fn stop(self) -> Result<()> {
        self.server.stop()
    }
}
