//! A broker that can be started, stopped, killed and started again on the same store and ports.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use super::Context;
use super::broker_conf::BrokerConf;
use crate::harness::probe::{wait_for_listener, wait_for_route};
use crate::harness::server::Server;

/// How long a start may take, recovery of the store included.
const START_DEADLINE: Duration = Duration::from_secs(60);

/// Options that Apache's servers need on Java 17 to unmap files.
const JAVA_SERVER_OPTIONS: [&str; 8] = [
    "-Xms128m",
    "-Xmx768m",
    "-XX:TieredStopAtLevel=1",
    "-XX:MaxDirectMemorySize=512m",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
];

/// Whose program it is, and where its name server is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// This workspace's broker with its embedded name server.
    Embedded,
    /// This workspace's broker, registered at Apache's name server.
    Registered,
    /// Apache's broker and name server.
    Apache,
}

/// A broker, running or not.
pub struct Broker<'a> {
    context: &'a Context,
    kind: Kind,
    directory: PathBuf,
    store: PathBuf,
    conf: BrokerConf,
    port: u16,
    namesrv_port: u16,
    name_server: Option<Server>,
    broker: Mutex<Option<Server>>,
}

impl<'a> Broker<'a> {
    /// A broker of the kind that this run tests, not yet started. Logs go to `directory`.
    ///
    /// # Errors
    /// When no ports are free.
    pub fn under_test(
        context: &'a Context,
        directory: &Path,
        store: &Path,
        conf: BrokerConf,
    ) -> Result<Self> {
        let kind = if context.binary.is_some() { Kind::Embedded } else { Kind::Apache };
        Broker::new(context, kind, directory, store, conf)
    }

    /// A broker of a given kind, not yet started.
    ///
    /// # Errors
    /// When no ports are free.
    pub fn new(
        context: &'a Context,
        kind: Kind,
        directory: &Path,
        store: &Path,
        conf: BrokerConf,
    ) -> Result<Self> {
        let kind = if context.binary.is_some() { kind } else { Kind::Apache };
        Ok(Broker {
            context,
            kind,
            directory: directory.to_owned(),
            store: store.to_owned(),
            conf,
            port: context.ports.broker()?,
            namesrv_port: context.ports.name_server()?,
            name_server: None,
            broker: Mutex::new(None),
        })
    }

    /// The address of its main listener.
    pub fn socket(&self) -> SocketAddr {
        SocketAddr::new(self.conf.ip(), self.port)
    }

    /// The same as clients see it in a route: without brackets around an IPv6 address.
    pub fn address(&self) -> String {
        format!("{}:{}", self.conf.ip(), self.port)
    }

    /// The address of its name server, in the same form.
    pub fn namesrv(&self) -> String {
        format!("{}:{}", self.conf.ip(), self.namesrv_port)
    }

    /// Its settings.
    pub fn conf(&self) -> &BrokerConf {
        &self.conf
    }

    fn namesrv_socket(&self) -> SocketAddr {
        SocketAddr::new(self.conf.ip(), self.namesrv_port)
    }

    /// Its store directory.
    pub fn store(&self) -> &Path {
        &self.store
    }

    /// Starts it and waits until its name server gives a route to it.
    ///
    /// # Errors
    /// When a process cannot be started, ends, or is not ready in time.
    pub fn start(&mut self) -> Result<()> {
        ensure!(self.process().is_none(), "the broker runs already");
        if self.kind != Kind::Embedded && self.name_server.is_none() {
            self.name_server = Some(self.start_name_server()?);
        }
        let command = match self.kind {
            Kind::Apache => self.apache_command(),
            Kind::Embedded | Kind::Registered => self.stratamq_command(),
        };
        let log = self.directory.join("broker.log");
        *self.process() = Some(Server::start("broker", &mut command?, log)?);
        wait_for_route(&self.namesrv_socket().to_string(), &self.address(), START_DEADLINE, || {
            self.require_alive()
        })
        .context("start of the broker")
    }

    /// # Errors
    /// When the broker is not running.
    pub fn require_alive(&self) -> Result<()> {
        match &mut *self.process() {
            Some(broker) => broker.require_alive(),
            None => bail!("the broker is not running"),
        }
    }

    /// Stops it in an orderly way; the mark of an unfinished run must be gone from the store.
    ///
    /// # Errors
    /// When it does not stop in time or leaves the mark.
    pub fn stop(&mut self) -> Result<()> {
        self.process().take().context("the broker is not running")?.stop()?;
        ensure!(
            !self.store.join("abort").exists(),
            "after an orderly stop the store still has its abort file"
        );
        Ok(())
    }

    /// Kills it (SIGKILL); the mark of an unfinished run must be in the store.
    ///
    /// # Errors
    /// When it was gone already or the mark is missing.
    pub fn kill(&mut self) -> Result<()> {
        self.process().take().context("the broker is not running")?.kill()?;
        ensure!(self.store.join("abort").exists(), "after a kill the store has no abort file");
        Ok(())
    }

    fn process(&self) -> MutexGuard<'_, Option<Server>> {
        self.broker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start_name_server(&self) -> Result<Server> {
        let home = self.home("namesrv")?;
        let conf = home.join("namesrv.conf");
        let port = self.namesrv_port;
        fs::write(&conf, format!("listenPort={port}\nbindAddress={}\n", self.conf.ip()))
            .with_context(|| format!("cannot write {}", conf.display()))?;
        let class = "org.apache.rocketmq.namesrv.NamesrvStartup";
        let mut command = self.context.toolchain.apache_server(&home, &JAVA_SERVER_OPTIONS, class)?;
        command.arg("-c").arg(conf);
        let mut server = Server::start("name server", &mut command, self.directory.join("namesrv.log"))?;
        wait_for_listener(&self.namesrv_socket().to_string(), START_DEADLINE, || server.require_alive())
            .context("start of the name server")?;
        Ok(server)
    }

    fn apache_command(&self) -> Result<Command> {
        let home = self.home("broker")?;
        let mut conf = self.conf.clone();
        conf.set("listenPort", self.port);
        conf.set("namesrvAddr", self.namesrv());
        conf.set("storePathRootDir", self.store.display());
        conf.set("storePathCommitLog", self.store.join("commitlog").display());
        let class = "org.apache.rocketmq.broker.BrokerStartup";
        let mut command = self.context.toolchain.apache_server(&home, &JAVA_SERVER_OPTIONS, class)?;
        command.arg("-c").arg(self.write_conf(&conf)?);
        Ok(command)
    }

    fn stratamq_command(&self) -> Result<Command> {
        let mut conf = self.conf.clone();
        let binary = self.context.binary.as_ref().context("there is no broker binary")?;
        let mut command = Command::new(binary);
        command.arg("broker").arg("--store").arg(&self.store).args(["--listen-port", &self.port.to_string()]);
        if self.kind == Kind::Embedded {
            command.args(["--namesrv-port", &self.namesrv_port.to_string()]);
        } else {
            conf.set("namesrvAddr", self.namesrv());
        }
        command.arg("-c").arg(self.write_conf(&conf)?);
        Ok(command)
    }

    fn write_conf(&self, conf: &BrokerConf) -> Result<PathBuf> {
        let path = self.directory.join("broker.conf");
        fs::write(&path, conf.to_string()).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    fn home(&self, name: &str) -> Result<PathBuf> {
        let home = self.directory.join(format!("{name}.home"));
        fs::create_dir_all(&home).with_context(|| format!("cannot make {}", home.display()))?;
        Ok(home)
    }
}
