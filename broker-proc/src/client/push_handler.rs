//! What brokers push to a client.

use std::sync::Arc;

use tokio::sync::watch;

use crate::remoting::{Channel, RemotingCommand, Reply, RequestHandler, request_code};

/// Tells the consumers of a client that they should look at their group again. Every other push is answered as not
/// supported.
#[derive(Debug)]
pub(super) struct PushHandler {
    changes: watch::Sender<()>,
}

impl PushHandler {
    pub(super) fn new() -> Self {
        Self { changes: watch::Sender::new(()) }
    }

    /// Sees a change whenever the members of a group change or a connection ends.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }
}

impl RequestHandler for PushHandler {
    fn handle(&self, _channel: &Arc<Channel>, request: RemotingCommand) -> Reply {
        if request.code == request_code::NOTIFY_CONSUMER_IDS_CHANGED {
            self.changes.send_replace(());
            return Reply::None;
        }
        RemotingCommand::not_supported(&request).into()
    }

    /// The broker forgets a member with its connection: a heartbeat over a new one is due.
    fn channel_closed(&self, _channel: &Arc<Channel>) {
        self.changes.send_replace(());
    }
}
