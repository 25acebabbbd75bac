//! One connection, as seen by everyone but the task that drives it.

use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::task::AtomicWaker;
use tokio::sync::oneshot;

use super::{RemotingCommand, SerializeType};

/// Why a command could not be sent over a channel, or why no answer came.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// The connection could not be made.
    #[error("connecting to {peer} for {what}: {reason}")]
    Connect {
        /// Address of the other end.
        peer: String,
        /// Name of the request.
        what: String,
        /// What the system said.
        reason: String,
    },
    /// The connection ended.
    #[error("connection to {peer} closed while waiting for {what}")]
    Closed {
        /// Address of the other end.
        peer: String,
        /// Name of the request.
        what: String,
    },
    /// No answer came in time.
    #[error("no answer from {peer} to {what} within {} ms", after.as_millis())]
    Timeout {
        /// Address of the other end.
        peer: String,
        /// Name of the request.
        what: String,
        /// How long was waited.
        after: Duration,
    },
    /// Too many bytes are waiting for the other end to read.
    #[error("{what} not sent to {peer}: {unsent} bytes are unsent already")]
    Backlog {
        /// Address of the other end.
        peer: String,
        /// Name of the request.
        what: String,
        /// Bytes that wait.
        unsent: usize,
    },
}

/// One connection. Handlers get it with every request and may keep it.
pub struct Channel {
    id: u64,
    peer: SocketAddr,
    local: SocketAddr,
    next_opaque: AtomicI32,
    binary_seen: AtomicBool,
    closing: AtomicBool,
    draining: AtomicBool,
    waker: AtomicWaker,
    /// Requests to the other end that the driving task has not taken yet.
    outgoing: Mutex<Vec<RemotingCommand>>,
    outgoing_len: AtomicUsize,
    /// Bytes that the driving task has taken and the socket has not.
    unsent: AtomicUsize,
    max_unsent: usize,
    /// Answers that are waited for; `None` once the connection has ended.
    pending: Mutex<Option<HashMap<i32, oneshot::Sender<RemotingCommand>>>>,
}

/// A mutex whose holder cannot leave its content half done: a panic while it was held changes nothing.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Channel {
    pub(super) fn new(peer: SocketAddr, local: SocketAddr, max_unsent: usize) -> Self {
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        Self {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            peer: canonical(peer),
            local: canonical(local),
            next_opaque: AtomicI32::new(0),
            binary_seen: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            draining: AtomicBool::new(false),
            waker: AtomicWaker::new(),
            outgoing: Mutex::new(Vec::new()),
            outgoing_len: AtomicUsize::new(0),
            unsent: AtomicUsize::new(0),
            max_unsent,
            pending: Mutex::new(Some(HashMap::new())),
        }
    }

    /// A channel that is connected to nothing, for tests of handlers. What is pushed can be taken with
    /// [`Channel::take_pushed`].
    #[must_use]
    pub fn detached(peer: SocketAddr) -> Self {
        Self::new(peer, peer, usize::MAX)
    }

    /// Takes what was pushed and not sent yet. Of use with [`Channel::detached`].
    #[must_use]
    pub fn take_pushed(&self) -> Vec<RemotingCommand> {
        let mut outgoing = lock(&self.outgoing);
        // With the lock held, or a push in between would not be counted and never be taken.
        self.outgoing_len.store(0, Ordering::Release);
        std::mem::take(&mut *outgoing)
    }

    /// Number of the connection, unique in this process.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Address of the other end. An IPv4 address that a dual-stack socket reports as IPv6 is IPv4 here, as
    /// records must never hold the mapped form.
    #[must_use]
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Address of this end, likewise.
    #[must_use]
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// Header encoding for requests to the other end: binary only when it has used that itself.
    #[must_use]
    pub fn serialize_type(&self) -> SerializeType {
        if self.binary_seen.load(Ordering::Relaxed) { SerializeType::RocketMq } else { SerializeType::Json }
    }

    pub(super) fn saw(&self, serialize: SerializeType) {
        let binary = serialize == SerializeType::RocketMq;
        if self.binary_seen.load(Ordering::Relaxed) != binary {
            self.binary_seen.store(binary, Ordering::Relaxed);
        }
    }

    /// Sends a request that wants no answer.
    ///
    /// # Errors
    ///
    /// [`ChannelError::Closed`] and [`ChannelError::Backlog`].
    pub fn push(&self, command: RemotingCommand) -> Result<(), ChannelError> {
        self.enqueue(command.oneway(), self.take_opaque())
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    ///
    /// [`ChannelError`] naming the other end and the request.
    pub async fn call(
        &self,
        command: RemotingCommand,
        timeout: Duration,
    ) -> Result<RemotingCommand, ChannelError> {
        let what = command.code_name();
        let opaque = self.take_opaque();
        let (answer, answered) = oneshot::channel();
        match &mut *lock(&self.pending) {
            Some(pending) => drop(pending.insert(opaque, answer)),
            None => return Err(self.closed_error(what)),
        }
        // Takes the entry away again however this ends, also when the caller stops waiting.
        let _entry = PendingEntry { channel: self, opaque };
        self.enqueue(command, opaque)?;
        match tokio::time::timeout(timeout, answered).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(self.closed_error(what)),
            Err(_) => Err(ChannelError::Timeout { peer: self.peer.to_string(), what, after: timeout }),
        }
    }

    /// Ends the connection. What has not been sent by then is lost.
    pub fn close(&self) {
        self.closing.store(true, Ordering::Release);
        self.waker.wake();
    }

    /// Whether the connection has ended or is about to.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Lets the connection end when all it owes has been answered; nothing more is read from it.
    pub(super) fn drain(&self) {
        self.draining.store(true, Ordering::Release);
        self.waker.wake();
    }

    pub(super) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    pub(super) fn waker(&self) -> &AtomicWaker {
        &self.waker
    }

    /// Takes the requests that wait, in order.
    pub(super) fn take_outgoing(&self) -> Option<Vec<RemotingCommand>> {
        if self.outgoing_len.load(Ordering::Acquire) == 0 { None } else { Some(self.take_pushed()) }
    }

    pub(super) fn set_unsent(&self, bytes: usize) {
        self.unsent.store(bytes, Ordering::Relaxed);
    }

    /// Hands an answer to who waits for it; `false` when nobody does.
    pub(super) fn answer(&self, answer: RemotingCommand) -> bool {
        let waiting = lock(&self.pending).as_mut().and_then(|pending| pending.remove(&answer.opaque));
        waiting.is_some_and(|waiting| waiting.send(answer).is_ok())
    }

    /// The connection has ended: nobody needs to wait any longer.
    pub(super) fn ended(&self) {
        self.closing.store(true, Ordering::Release);
        drop(lock(&self.pending).take());
    }

    fn take_opaque(&self) -> i32 {
        self.next_opaque.fetch_add(1, Ordering::Relaxed)
    }

    fn enqueue(&self, mut command: RemotingCommand, opaque: i32) -> Result<(), ChannelError> {
        if self.is_closed() {
            return Err(self.closed_error(command.code_name()));
        }
        let len = self.outgoing_len.load(Ordering::Relaxed);
        let unsent = self.unsent.load(Ordering::Relaxed).saturating_add(len);
        if unsent >= self.max_unsent {
            let what = command.code_name();
            return Err(ChannelError::Backlog { peer: self.peer.to_string(), what, unsent });
        }
        command.opaque = opaque;
        command.serialize = self.serialize_type();
        // The header is not encoded yet; its size does not matter for the purpose of a limit.
        let command_len = command.body.len().saturating_add(256);
        {
            let mut outgoing = lock(&self.outgoing);
            outgoing.push(command);
            self.outgoing_len.fetch_add(command_len, Ordering::Release);
        }
        self.waker.wake();
        Ok(())
    }

    fn closed_error(&self, what: String) -> ChannelError {
        ChannelError::Closed { peer: self.peer.to_string(), what }
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel")
            .field("id", &self.id)
            .field("peer", &self.peer)
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Removes a waiting call from its channel when dropped.
struct PendingEntry<'a> {
    channel: &'a Channel,
    opaque: i32,
}

impl Drop for PendingEntry<'_> {
    fn drop(&mut self) {
        if let Some(pending) = &mut *lock(&self.channel.pending) {
            pending.remove(&self.opaque);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Channel, ChannelError};
    use crate::remoting::{RemotingCommand, SerializeType, request_code};

    fn push() -> RemotingCommand {
        RemotingCommand::request(request_code::NOTIFY_CONSUMER_IDS_CHANGED)
    }

    #[test]
    fn mapped_addresses_are_ipv4() {
        let channel = Channel::detached("[::ffff:10.1.2.3]:77".parse().unwrap());
        assert_eq!(channel.peer().to_string(), "10.1.2.3:77");
        assert_eq!(Channel::detached("[::1]:77".parse().unwrap()).peer().to_string(), "[::1]:77");
    }

    #[test]
    fn pushes_want_no_answer_and_follow_the_peers_encoding() {
        let channel = Channel::detached("127.0.0.1:1".parse().unwrap());
        channel.push(push()).unwrap();
        channel.saw(SerializeType::RocketMq);
        channel.push(push()).unwrap();
        channel.saw(SerializeType::Json);
        channel.push(push()).unwrap();
        let pushed = channel.take_pushed();
        assert!(pushed.iter().all(RemotingCommand::is_oneway));
        assert_eq!(pushed.iter().map(|command| command.opaque).collect::<Vec<_>>(), [0, 1, 2]);
        let types: Vec<_> = pushed.iter().map(|command| command.serialize).collect();
        assert_eq!(types, [SerializeType::Json, SerializeType::RocketMq, SerializeType::Json]);
        assert!(channel.take_outgoing().is_none());
    }

    #[test]
    fn a_peer_that_does_not_read_gets_no_more_pushes() {
        let peer = "127.0.0.1:1".parse().unwrap();
        let channel = Channel::new(peer, peer, 1000);
        channel.push(push().with_body(vec![0; 900])).unwrap();
        match channel.push(push()) {
            Err(ChannelError::Backlog { unsent, .. }) => assert!(unsent >= 1000),
            other => panic!("{other:?}"),
        }
        assert_eq!(channel.take_outgoing().map(|taken| taken.len()), Some(1));
        channel.push(push()).unwrap();
    }

    #[test]
    fn errors_name_address_and_request() {
        let channel = Channel::detached("127.0.0.1:9".parse().unwrap());
        channel.ended();
        assert!(channel.is_closed());
        assert_eq!(
            channel.push(push()).unwrap_err().to_string(),
            "connection to 127.0.0.1:9 closed while waiting for NOTIFY_CONSUMER_IDS_CHANGED (40)"
        );
    }
}
