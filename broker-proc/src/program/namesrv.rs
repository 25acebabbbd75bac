//! `stratamq namesrv`.

use super::standard_streams::{print_line, tell};
use super::stop_signal::watch_for_stop;
use crate::namesrv::{NameServer, NameServerOptions};
use anyhow::{Context, Result};
use clap::Args;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// Time that requests under way get at the stop.
const GRACE: Duration = Duration::from_secs(3);

/// Arguments of `stratamq namesrv`.
#[derive(Debug, Args)]
pub struct NamesrvArguments {
    /// Port to listen on.
    #[arg(long, value_name = "N", default_value_t = 9876)]
    port: u16,
    /// Address to listen on; another than loopback lets everyone who reaches it in.
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    bind_address: IpAddr,
}

pub(super) async fn run(arguments: NamesrvArguments) -> Result<()> {
    let stopped = watch_for_stop()?;
    let address = SocketAddr::new(arguments.bind_address, arguments.port);
    let server = NameServer::start(address, NameServerOptions::default())
        .await
        .context("cannot start the name server")?;
    if !arguments.bind_address.is_loopback() {
        tell(format_args!(
            "warning: {address} is open to everyone who reaches it; there is no access control"
        ));
    }
    print_line(format_args!(
        "StrataMQ {}: name server at {}",
        env!("CARGO_PKG_VERSION"),
        server.local_addr()
    ));
    stopped.await;
    server.shutdown(GRACE).await;
    tell("stopped cleanly");
    Ok(())
}
