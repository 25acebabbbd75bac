//! The name server: tells clients which brokers serve a topic.
//!
//! Brokers register with all their topics and renew that every 30 s; clients ask by topic. Everything is kept
//! in memory and learned anew after a restart, except the key-value table, which a [`KvConfigStore`] may keep.
//! It runs as a program of its own or inside a broker process, which may then register without a socket
//! through [`NameServer::routes`].

mod clock;
mod kv_config_manager;
mod processor;
mod route_info_manager;
mod settings;

pub use clock::{Clock, system_clock};
pub use kv_config_manager::{KvConfigManager, KvConfigStore, ORDER_TOPIC_CONFIG};
pub use processor::NamesrvProcessor;
pub use route_info_manager::{
    BrokerRegistration, RegisterBrokerResult, RegistrationError, RouteInfoManager, UnregisterReason,
};
pub use settings::NamesrvSettings;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use crate::remoting::{RemotingServer, ServerOptions};

/// How a name server runs.
#[derive(Clone)]
pub struct NameServerOptions {
    /// Connections.
    pub server: ServerOptions,
    /// Behaviour.
    pub settings: NamesrvSettings,
    /// Time source.
    pub clock: Clock,
    /// Where the key-value table is kept; in memory only without it.
    pub kv_store: Option<Arc<dyn KvConfigStore>>,
}

impl Default for NameServerOptions {
    fn default() -> Self {
        Self {
            server: ServerOptions::default(),
            settings: NamesrvSettings::default(),
            clock: system_clock(),
            kv_store: None,
        }
    }
}

impl fmt::Debug for NameServerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NameServerOptions")
            .field("server", &self.server)
            .field("settings", &self.settings)
            .field("kv_store", &self.kv_store.is_some())
            .finish_non_exhaustive()
    }
}

/// A running name server. Dropping it stops it at once.
#[derive(Debug)]
pub struct NameServer {
    server: RemotingServer,
    processor: Arc<NamesrvProcessor>,
    scanning: OwnedTask,
}

impl NameServer {
    /// Starts a name server on `addr`; the protocol's usual port is 9876.
    ///
    /// # Errors
    ///
    /// When the address cannot be bound or the key-value table cannot be read.
    pub async fn start(addr: SocketAddr, options: NameServerOptions) -> io::Result<Self> {
        let scan_interval = options.settings.scan_not_active_broker_interval;
        let processor = Arc::new(NamesrvProcessor::new(options.settings, options.clock, options.kv_store)?);
        let server = RemotingServer::bind(addr, options.server, Arc::clone(&processor) as Arc<_>).await?;
        let scanning = OwnedTask(tokio::spawn(scan_regularly(Arc::clone(&processor), scan_interval)));
        Ok(Self { server, processor, scanning })
    }

    /// The address that is listened on.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// The table of routes, for a broker in the same process.
    #[must_use]
    pub fn routes(&self) -> &RouteInfoManager {
        self.processor.routes()
    }

    /// The key-value table.
    #[must_use]
    pub fn kv_config(&self) -> &KvConfigManager {
        self.processor.kv_config()
    }

    /// Stops; requests that are being served are answered for up to `grace`.
    pub async fn shutdown(self, grace: Duration) {
        // The field drops last and stops the scan however this ends.
        let Self { server, scanning: _scanning, .. } = self;
        server.shutdown(grace).await;
    }
}

/// A task that ends with its owner.
#[derive(Debug)]
struct OwnedTask(JoinHandle<()>);

impl Drop for OwnedTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn scan_regularly(processor: Arc<NamesrvProcessor>, interval: Duration) {
    let mut ticks = tokio::time::interval(interval.max(Duration::from_millis(1)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        processor.scan();
    }
}

#[cfg(test)]
mod tests;
