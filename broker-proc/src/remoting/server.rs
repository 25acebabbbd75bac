//! Listening side of the protocol.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tracing::{debug, info, warn};

use super::connection::Connection;
use super::{Channel, ConnectionOptions, RequestHandler};

/// Connections that may wait to be accepted; Java's backlog.
const BACKLOG: u32 = 1024;
/// Pause after a failed accept, which mostly means that the process is out of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Settings of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerOptions {
    /// Limits and times of every connection.
    pub connection: ConnectionOptions,
    /// Most connections at a time; further ones are closed as soon as they are accepted.
    pub max_connections: usize,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self { connection: ConnectionOptions::SERVER, max_connections: 65_536 }
    }
}

/// A listening socket with its connections. Dropping it stops listening and closes all connections.
#[derive(Debug)]
pub struct RemotingServer {
    local: SocketAddr,
    connections: Arc<Connections>,
    stop: watch::Sender<bool>,
    accepting: JoinHandle<()>,
    /// Yields `None` once every connection task has ended.
    all_ended: mpsc::Receiver<()>,
}

/// The connections of a server by their number.
#[derive(Debug, Default)]
struct Connections(Mutex<HashMap<u64, Arc<Channel>>>);

impl Connections {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<Channel>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all(&self) -> Vec<Arc<Channel>> {
        self.lock().values().cloned().collect()
    }
}

impl RemotingServer {
    /// Starts listening on `addr` (port 0 lets the system choose) and serving with `handler`.
    ///
    /// # Errors
    ///
    /// What the system says when the address cannot be bound, with the address in the text.
    pub async fn bind(
        addr: SocketAddr,
        options: ServerOptions,
        handler: Arc<dyn RequestHandler>,
    ) -> io::Result<Self> {
        let listener = listen(addr)
            .map_err(|error| io::Error::new(error.kind(), format!("listening on {addr}: {error}")))?;
        let local = listener.local_addr()?;
        let connections = Arc::new(Connections::default());
        let (stop, stopped) = watch::channel(false);
        let (running, all_ended) = mpsc::channel(1);
        let acceptor = Acceptor { connections: Arc::clone(&connections), handler, options, running };
        let accepting = tokio::spawn(acceptor.run(listener, stopped));
        info!(address = %local, "listening");
        Ok(Self { local, connections, stop, accepting, all_ended })
    }

    /// The address that is listened on.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// Number of open connections.
    #[must_use]
    pub fn connection_count(&self) -> usize {
        self.connections.lock().len()
    }

    /// The open connections.
    #[must_use]
    pub fn channels(&self) -> Vec<Arc<Channel>> {
        self.connections.all()
    }

    /// Stops accepting and reading, lets requests that are being served be answered for up to `grace`, then
    /// closes what is left. When this returns, no handler is running any more.
    pub async fn shutdown(mut self, grace: Duration) {
        self.stop.send_replace(true);
        // The task only ends; that it was told to is no failure.
        let _ = (&mut self.accepting).await;
        for channel in self.connections.all() {
            channel.drain();
        }
        if tokio::time::timeout(grace, self.all_ended.recv()).await.is_err() {
            for channel in self.connections.all() {
                channel.close();
            }
            self.all_ended.recv().await;
        }
        info!(address = %self.local, "stopped listening");
    }
}

impl Drop for RemotingServer {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        self.connections.all().iter().for_each(|channel| channel.close());
    }
}

fn listen(addr: SocketAddr) -> io::Result<TcpListener> {
    let socket = if addr.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(addr)?;
    socket.listen(BACKLOG)
}

/// The task that accepts connections.
struct Acceptor {
    connections: Arc<Connections>,
    handler: Arc<dyn RequestHandler>,
    options: ServerOptions,
    /// A copy lives in every connection task, so that the receiver sees when the last one ends.
    running: mpsc::Sender<()>,
}

impl Acceptor {
    async fn run(self, listener: TcpListener, mut stopped: watch::Receiver<bool>) {
        loop {
            let accepted = tokio::select! {
                biased;
                _ = stopped.wait_for(|stopped| *stopped) => return,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, peer)) => self.start(stream, peer),
                Err(error) => {
                    warn!("accepting a connection: {error}");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    fn start(&self, stream: TcpStream, peer: SocketAddr) {
        let mut open = self.connections.lock();
        if open.len() >= self.options.max_connections {
            warn!(%peer, limit = self.options.max_connections, "connection refused, there are too many");
            return;
        }
        let prepared = stream.set_nodelay(true).and_then(|()| stream.local_addr());
        let local = match prepared {
            Ok(local) => local,
            Err(error) => {
                debug!(%peer, "connection lost while it was accepted: {error}");
                return;
            }
        };
        let channel = Arc::new(Channel::new(peer, local, self.options.connection.max_unsent));
        open.insert(channel.id(), Arc::clone(&channel));
        drop(open);
        let registration = Registration { connections: Arc::clone(&self.connections), id: channel.id() };
        let running = self.running.clone();
        let handler = Arc::clone(&self.handler);
        let connection = Connection::new(stream, channel, handler, self.options.connection);
        tokio::spawn(async move {
            // Moved in, so that they end with the task, after the connection.
            let _held = (registration, running);
            connection.run().await;
        });
    }
}

/// Takes a connection off the list when its task ends.
struct Registration {
    connections: Arc<Connections>,
    id: u64,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.connections.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests;
