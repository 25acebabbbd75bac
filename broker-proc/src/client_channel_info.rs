//! A connected client as the consumer and producer tables see it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::remoting::protocol::Connection;
use crate::remoting::{Channel, LanguageCode};

/// What the tables need to know of a connection. Identity is the connection, not the client on it: a client that
/// connects twice counts twice until the old connection is gone.
pub trait ClientChannel: Clone + Send + Sync + 'static {
    /// Number of the connection, never used twice in one process.
    fn id(&self) -> u64;
    /// Remote address.
    fn peer(&self) -> SocketAddr;
    /// Whether nothing can be sent any more.
    fn is_closed(&self) -> bool;
}

impl ClientChannel for Arc<Channel> {
    fn id(&self) -> u64 {
        Channel::id(self)
    }

    fn peer(&self) -> SocketAddr {
        Channel::peer(self)
    }

    fn is_closed(&self) -> bool {
        Channel::is_closed(self)
    }
}

/// What a client said about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientIdentity {
    /// Client id.
    pub client_id: String,
    /// Language of its program.
    pub language: LanguageCode,
    /// Version of its program.
    pub version: i32,
}

/// A client on a connection.
#[derive(Debug)]
pub struct ClientChannelInfo<C> {
    /// The connection.
    pub channel: C,
    /// What the client said about itself.
    pub identity: ClientIdentity,
    last_update_timestamp: AtomicI64,
}

impl<C: ClientChannel> ClientChannelInfo<C> {
    /// A client heard of at `now_millis`.
    pub fn new(channel: C, identity: ClientIdentity, now_millis: i64) -> Self {
        Self { channel, identity, last_update_timestamp: AtomicI64::new(now_millis) }
    }

    /// When the client was last heard of, epoch milliseconds.
    pub fn last_update_timestamp(&self) -> i64 {
        self.last_update_timestamp.load(Ordering::Relaxed)
    }

    /// The client as lists of connections show it.
    pub fn connection(&self) -> Connection {
        Connection {
            client_id: self.identity.client_id.clone(),
            client_addr: self.channel.peer().to_string(),
            language: self.identity.language,
            version: self.identity.version,
        }
    }

    /// Notes a heartbeat.
    pub(crate) fn touch(&self, now_millis: i64) {
        self.last_update_timestamp.store(now_millis, Ordering::Relaxed);
    }

    /// Whether the client was silent for longer than `timeout_millis`.
    pub(crate) fn is_expired(&self, now_millis: i64, timeout_millis: i64) -> bool {
        now_millis - self.last_update_timestamp() > timeout_millis
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::net::Ipv4Addr;
    use std::sync::atomic::AtomicBool;

    use super::*;

    /// A connection that is only a number.
    #[derive(Debug, Clone)]
    pub(crate) struct TestChannel {
        id: u64,
        closed: Arc<AtomicBool>,
    }

    impl TestChannel {
        pub(crate) fn new(id: u64) -> Self {
            Self { id, closed: Arc::default() }
        }

        pub(crate) fn close(&self) {
            self.closed.store(true, Ordering::Relaxed);
        }
    }

    impl ClientChannel for TestChannel {
        fn id(&self) -> u64 {
            self.id
        }

        fn peer(&self) -> SocketAddr {
            SocketAddr::from((Ipv4Addr::LOCALHOST, 40_000))
        }

        fn is_closed(&self) -> bool {
            self.closed.load(Ordering::Relaxed)
        }
    }

    /// A Java client of release 5.5.0.
    pub(crate) fn identity(client_id: &str) -> ClientIdentity {
        ClientIdentity { client_id: client_id.to_owned(), language: LanguageCode::Java, version: 513 }
    }

    #[test]
    fn expiry_counts_from_the_last_heartbeat() {
        let info = ClientChannelInfo::new(TestChannel::new(1), identity("a"), 1000);
        assert!(!info.is_expired(1100, 100));
        assert!(info.is_expired(1101, 100));
        info.touch(2000);
        assert!(!info.is_expired(1101, 100), "heard of since");
        assert_eq!(info.last_update_timestamp(), 2000);
    }
}
