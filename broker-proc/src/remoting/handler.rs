//! What both ends of a connection do with the requests of the other.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::{Channel, RemotingCommand};

/// Serves the requests that arrive on connections.
pub trait RequestHandler: Send + Sync + 'static {
    /// Serves one request. Called on the task that reads the socket, so it must not block for long; what
    /// takes time goes into [`Reply::Later`]. A panic is answered with `SYSTEM_ERROR`.
    fn handle(&self, channel: &Arc<Channel>, request: RemotingCommand) -> Reply;

    /// Called once when a connection has ended, after its last request.
    fn channel_closed(&self, channel: &Arc<Channel>) {
        let _ = channel;
    }
}

/// Answer that takes time. It is dropped when the connection ends first.
pub type LaterReply = Pin<Box<dyn Future<Output = RemotingCommand> + Send>>;

/// How a request is answered.
pub enum Reply {
    /// At once; goes out together with the other answers of the same read.
    Now(RemotingCommand),
    /// When the future is done; later requests of the connection do not wait for it.
    Later(LaterReply),
    /// Not at all. Requests that want no answer get none whatever the reply is.
    None,
}

impl Reply {
    /// A reply that takes time.
    pub fn later(reply: impl Future<Output = RemotingCommand> + Send + 'static) -> Self {
        Self::Later(Box::pin(reply))
    }
}

impl From<RemotingCommand> for Reply {
    fn from(command: RemotingCommand) -> Self {
        Self::Now(command)
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Now(command) => f.debug_tuple("Now").field(command).finish(),
            Self::Later(_) => f.write_str("Later"),
            Self::None => f.write_str("None"),
        }
    }
}

/// Serves nothing: every request is answered as not supported. For clients that expect no pushes.
#[derive(Debug, Clone, Copy, Default)]
pub struct RejectRequests;

impl RequestHandler for RejectRequests {
    fn handle(&self, _channel: &Arc<Channel>, request: RemotingCommand) -> Reply {
        RemotingCommand::not_supported(&request).into()
    }
}
