//! `stratamq broker`.

use super::standard_streams::{print_line, tell};
use super::stop_signal::watch_for_stop;
use crate::broker::{Broker, ProcessSource};
use crate::broker_config::{BrokerConfig, Loaded};
use anyhow::{Context, Result, bail};
use clap::Args;
use std::path::PathBuf;
use std::time::Instant;
use store_core::Env;

/// Where the data goes when nothing else is said.
const DEFAULT_STORE: &str = "stratamq-data";

/// Arguments of `stratamq broker`.
#[derive(Debug, Args)]
pub struct BrokerArguments {
    /// Settings in the form of Apache's broker.conf.
    #[arg(short = 'c', long = "config", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Store root; default: storePathRootDir of the settings, else ./stratamq-data.
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Main port (listenPort); the fast port is two below, the replication port one above.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(3..=65_534))]
    listen_port: Option<u16>,
    /// Port of the name server in this process.
    #[arg(long, value_name = "N", default_value_t = 9876)]
    namesrv_port: u16,
}

pub(super) async fn run(arguments: BrokerArguments) -> Result<()> {
    let began = Instant::now();
    let stopped = watch_for_stop()?;
    let loaded = settings(&arguments)?;
    let root = loaded.store.store_path_root_dir.clone();
    let file_size = loaded.store.commit_log.mapped_file_size_commit_log;
    let broker = Broker::start(Env::os(), loaded, arguments.namesrv_port).await?;
    print_line(banner(&broker, &root, file_size, began.elapsed().as_millis()));
    stopped.await;
    tell("stopping …");
    broker.shutdown().await.context("the stop was not clean, the next start will recover")?;
    tell("stopped cleanly");
    Ok(())
}

fn settings(arguments: &BrokerArguments) -> Result<Loaded> {
    let mut loaded = BrokerConfig::load(arguments.config.as_deref(), &ProcessSource)?;
    for warning in &loaded.warnings {
        tell(format_args!("warning: {warning}"));
    }
    if let Some(store) = arguments.store.clone().or_else(|| loaded.store_path_root_dir.clone()) {
        loaded.store.store_path_root_dir = store;
    } else {
        loaded.store.store_path_root_dir = DEFAULT_STORE.into();
    }
    if let Some(port) = arguments.listen_port {
        loaded.broker.listen_port = port;
        let ha_port = loaded.broker.ha_port();
        if ha_port == port || ha_port == loaded.broker.fast_listen_port() {
            bail!(
                "--listen-port {port}: haListenPort={ha_port} of the settings is that port or the fast one"
            );
        }
    }
    Ok(loaded)
}

/// One screen: what listens where, where the data is, how it came up, and what to try next.
fn banner(broker: &Broker, root: &std::path::Path, file_size: u64, millis: u128) -> String {
    let config = broker.config();
    let bind = &config.bind_address;
    let namesrv = match broker.name_server_address() {
        Some(address) => format!("{address} (in this process)"),
        None => config.namesrv_addr.as_deref().unwrap_or_default().join(";"),
    };
    let next = broker.name_server_address().map_or_else(
        || config.namesrv_addr.as_deref().unwrap_or_default().join(";"),
        |address| address.to_string(),
    );
    format!(
        "StrataMQ {version}: broker {name} of cluster {cluster}, ready after {millis} ms\n\
         \n\
         remoting     {bind}:{port}\n\
         fast         {bind}:{fast}\n\
         replication  {bind}:{ha} (reserved)\n\
         name server  {namesrv}\n\
         store        {root}, log files of {mib} MiB, reserved when made\n\
         recovered    {recovered}\n\
         \n\
         try          stratamq send -n {next} --topic TopicTest \"Hello StrataMQ\"\n\
         \x20            stratamq consume -n {next} --topic TopicTest --group hello --from first\n\
         stop         Ctrl-C",
        version = env!("CARGO_PKG_VERSION"),
        name = config.broker_name,
        cluster = config.broker_cluster_name,
        port = config.listen_port,
        fast = config.fast_listen_port(),
        ha = config.ha_port(),
        root = root.display(),
        mib = file_size >> 20,
        recovered = broker.recovery_report(),
    )
}
