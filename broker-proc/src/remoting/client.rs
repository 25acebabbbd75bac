//! Asking side of the protocol.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::Instant;

use super::connection::Connection;
use super::{Channel, ChannelError, ConnectionOptions, RejectRequests, RemotingCommand, RequestHandler};

/// Settings of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientOptions {
    /// Limits and times of every connection.
    pub connection: ConnectionOptions,
    /// Longest time to wait for a connection; the time of a call limits it further.
    pub connect_timeout: Duration,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self { connection: ConnectionOptions::CLIENT, connect_timeout: Duration::from_secs(3) }
    }
}

/// Keeps one connection to every address it talks to. Cheap to clone; clones share the connections, which
/// are closed with the last of them.
#[derive(Clone)]
pub struct RemotingClient(Arc<Shared>);

struct Shared {
    options: ClientOptions,
    handler: Arc<dyn RequestHandler>,
    slots: Mutex<HashMap<String, Slot>>,
}

/// The connection to one address; the lock is held while it is being made, so that it is made once.
type Slot = Arc<tokio::sync::Mutex<Option<Arc<Channel>>>>;

impl RemotingClient {
    /// A client that serves no requests of the other end.
    #[must_use]
    pub fn new(options: ClientOptions) -> Self {
        Self::with_handler(options, Arc::new(RejectRequests))
    }

    /// A client whose `handler` serves what the other ends push.
    #[must_use]
    pub fn with_handler(options: ClientOptions, handler: Arc<dyn RequestHandler>) -> Self {
        Self(Arc::new(Shared { options, handler, slots: Mutex::default() }))
    }

    /// Sends a request to `addr` (`host:port`) and waits for the answer, `timeout` counting from now.
    ///
    /// A request is sent at most once: when the connection breaks under it, that is an error, as the other end
    /// may have served it.
    ///
    /// # Errors
    ///
    /// [`ChannelError`] naming the address and what was waited for.
    pub async fn call(
        &self,
        addr: &str,
        command: RemotingCommand,
        timeout: Duration,
    ) -> Result<RemotingCommand, ChannelError> {
        let start = Instant::now();
        let channel = self.channel(addr, &command, timeout).await?;
        channel.call(command, timeout.saturating_sub(start.elapsed())).await
    }

    /// Sends a request that wants no answer to `addr` (`host:port`).
    ///
    /// # Errors
    ///
    /// [`ChannelError`] when there is no connection. That the request arrives is not known.
    pub async fn oneway(&self, addr: &str, command: RemotingCommand) -> Result<(), ChannelError> {
        let channel = self.channel(addr, &command, self.0.options.connect_timeout).await?;
        channel.push(command)
    }

    /// The open connection to `addr`, if there is one.
    pub async fn connected(&self, addr: &str) -> Option<Arc<Channel>> {
        let slot = self.slot(addr);
        let open = slot.lock().await;
        open.as_ref().filter(|channel| !channel.is_closed()).cloned()
    }

    /// Closes the connection to `addr`, if there is one.
    pub async fn disconnect(&self, addr: &str) {
        if let Some(channel) = self.slot(addr).lock().await.take() {
            channel.close();
        }
    }

    fn slot(&self, addr: &str) -> Slot {
        let mut slots = self.0.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = slots.get(addr) {
            return Arc::clone(slot);
        }
        Arc::clone(slots.entry(addr.to_owned()).or_default())
    }

    async fn channel(
        &self,
        addr: &str,
        command: &RemotingCommand,
        timeout: Duration,
    ) -> Result<Arc<Channel>, ChannelError> {
        let limit = timeout.min(self.0.options.connect_timeout);
        let connected = tokio::time::timeout(limit, self.connect_once(addr)).await;
        let reason = match connected {
            Ok(Ok(channel)) => return Ok(channel),
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no connection within {} ms", limit.as_millis()),
        };
        Err(ChannelError::Connect { peer: addr.to_owned(), what: command.code_name(), reason })
    }

    async fn connect_once(&self, addr: &str) -> std::io::Result<Arc<Channel>> {
        let slot = self.slot(addr);
        let mut open = slot.lock().await;
        if let Some(channel) = open.as_ref().filter(|channel| !channel.is_closed()) {
            return Ok(Arc::clone(channel));
        }
        let stream = TcpStream::connect(addr).await?;
        stream.set_nodelay(true)?;
        let options = self.0.options.connection;
        let channel = Arc::new(Channel::new(stream.peer_addr()?, stream.local_addr()?, options.max_unsent));
        let handler = Arc::clone(&self.0.handler);
        tokio::spawn(Connection::new(stream, Arc::clone(&channel), handler, options).run());
        *open = Some(Arc::clone(&channel));
        Ok(channel)
    }
}

impl fmt::Debug for RemotingClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemotingClient").field("options", &self.0.options).finish_non_exhaustive()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let slots = self.slots.get_mut().unwrap_or_else(PoisonError::into_inner);
        for slot in slots.values_mut() {
            // Nobody else can hold a slot here: calls keep a clone of the client.
            if let Some(channel) = Arc::get_mut(slot).and_then(|slot| slot.get_mut().take()) {
                channel.close();
            }
        }
    }
}

#[cfg(test)]
mod tests;
