//! Consumes a topic as a member of a group.
//!
//! A member consists of tasks: one ([`group_member`]) sends heartbeats, finds out which queues are its own and
//! commits offsets; one per queue ([`pull`]) asks the broker for messages, again and again. What they find reaches
//! the application through [`Consumer::next`].

mod allocation;
mod assigned_queue;
mod group_member;
mod pull;

use std::sync::Arc;

use store_core::UnixMillis;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

pub use self::assigned_queue::AssignedQueue;
pub use self::pull::PulledMessages;

use self::group_member::GroupMember;
use super::{Client, ClientError};

/// Pull answers that wait for the application; every queue holds back one more.
const MAX_WAITING: usize = 16;

/// Where a group starts in a queue for which it has not committed an offset yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartPosition {
    /// At the first message there still is.
    First,
    /// Behind the last message.
    Last,
    /// At the first message stored at this time or later.
    Time(UnixMillis),
}

/// What to consume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsumerOptions {
    /// Group; its members share the messages.
    pub group: String,
    /// Topic.
    pub topic: String,
    /// `*` for everything, else tags joined with `||`.
    pub expression: String,
    /// Where a new group starts.
    pub start: StartPosition,
    /// Most messages of one pull.
    pub pull_batch_size: i32,
}

impl ConsumerOptions {
    /// Everything in a topic, from its first message on.
    #[must_use]
    pub fn new(group: impl Into<String>, topic: impl Into<String>) -> Self {
        Self {
            group: group.into(),
            topic: topic.into(),
            expression: "*".to_owned(),
            start: StartPosition::First,
            pull_batch_size: 32,
        }
    }
}

/// What happens to a consumer.
#[derive(Debug)]
pub enum ConsumerEvent {
    /// The queues of this member are other ones than before, see [`Consumer::assigned`].
    Assigned,
    /// Messages came.
    Pulled(PulledMessages),
    /// Something failed; it is tried again.
    Problem(ClientError),
}

/// A member of a group. Ends without a last commit when it is dropped; see [`Consumer::shutdown`].
#[derive(Debug)]
pub struct Consumer {
    assigned: watch::Receiver<Vec<Arc<AssignedQueue>>>,
    arrivals: mpsc::Receiver<Result<PulledMessages, ClientError>>,
    stop: Option<oneshot::Sender<()>>,
    member: JoinHandle<Result<(), ClientError>>,
}

impl Consumer {
    /// Joins the group and starts to pull.
    ///
    /// # Errors
    ///
    /// [`ClientError`] when the topic has no route or a broker refuses the member.
    pub async fn start(client: &Client, options: ConsumerOptions) -> Result<Self, ClientError> {
        let (arrived, arrivals) = mpsc::channel(MAX_WAITING);
        let (stop, stopped) = oneshot::channel();
        let mut member = GroupMember::new(client, options, arrived);
        let mut assigned = member.assigned();
        member.take_part().await?;
        assigned.mark_changed();
        Ok(Self { assigned, arrivals, stop: Some(stop), member: tokio::spawn(member.run(stopped)) })
    }

    /// The next event; `None` after the consumer's tasks have died. Dropping the future loses nothing.
    ///
    /// Messages of one queue come in order. They count as consumed when the application says so with
    /// [`AssignedQueue::consumed_before`]; what is not reported comes again to the next member.
    pub async fn next(&mut self) -> Option<ConsumerEvent> {
        loop {
            let arrival = tokio::select! {
                biased;
                Ok(()) = self.assigned.changed() => return Some(ConsumerEvent::Assigned),
                arrival = self.arrivals.recv() => arrival?,
            };
            match arrival {
                // The queue went to another member in the meantime, which gets these messages too.
                Ok(pulled) if !pulled.queue.is_assigned() => {}
                Ok(pulled) => return Some(ConsumerEvent::Pulled(pulled)),
                Err(problem) => return Some(ConsumerEvent::Problem(problem)),
            }
        }
    }

    /// The queues that this member consumes now.
    #[must_use]
    pub fn assigned(&self) -> Vec<Arc<AssignedQueue>> {
        self.assigned.borrow().clone()
    }

    /// Whether everything is consumed that was in the queues of this member when it got them.
    #[must_use]
    pub fn is_caught_up(&self) -> bool {
        self.assigned.borrow().iter().all(|queue| queue.is_caught_up())
    }

    /// Stops pulling, commits what is consumed and leaves the group.
    ///
    /// # Errors
    ///
    /// [`ClientError`] when an offset could not be committed: messages will come again.
    pub async fn shutdown(mut self) -> Result<(), ClientError> {
        drop(self.stop.take());
        (&mut self.member).await.unwrap_or(Err(ClientError::TaskDied("consumer")))
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        self.member.abort();
    }
}
