//! The broker: the wiring of this layer, readable from top to bottom.

mod config_files;
mod process_source;
mod shutdown;
mod start;
mod tasks;

pub use process_source::ProcessSource;

use crate::broker_config::BrokerConfig;
use crate::broker_context::BrokerContext;
use crate::namesrv::NameServer;
use crate::remoting::RemotingServer;
use crate::schedule::DelayOffsets;
use std::sync::{Arc, Mutex};
use store_core::service::ServiceThread;
use store_core::{DefaultMessageStore, RecoveryReport};
use tokio::task::JoinHandle;

/// A running broker, with its name server when it has none elsewhere (`BrokerController`).
///
/// [`Broker::start`] and [`Broker::shutdown`] are reverse orders of each other.
pub struct Broker {
    context: Arc<BrokerContext>,
    store: Arc<DefaultMessageStore>,
    name_server: Option<NameServer>,
    server: RemotingServer,
    fast_server: RemotingServer,
    /// Delivery of delayed messages, checks of half messages.
    services: Mutex<Vec<ServiceThread>>,
    delay_offsets: Arc<DelayOffsets>,
    tasks: Vec<JoinHandle<()>>,
}

impl Broker {
    /// Address of the main port.
    pub fn address(&self) -> std::net::SocketAddr {
        self.server.local_addr()
    }

    /// Address of the name server in this process, if there is one.
    pub fn name_server_address(&self) -> Option<std::net::SocketAddr> {
        self.name_server.as_ref().map(NameServer::local_addr)
    }

    /// Settings in effect.
    pub fn config(&self) -> &BrokerConfig {
        &self.context.config
    }

    /// How the store came up.
    pub fn recovery_report(&self) -> &RecoveryReport {
        self.store.recovery_report()
    }

    /// The broker's parts.
    pub fn context(&self) -> &Arc<BrokerContext> {
        &self.context
    }

    /// The store.
    pub fn store(&self) -> &Arc<DefaultMessageStore> {
        &self.store
    }
}

impl std::fmt::Debug for Broker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Broker").field("address", &self.address()).finish_non_exhaustive()
    }
}
