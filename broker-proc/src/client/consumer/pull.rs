//! Pulls the messages of one queue.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;

use super::AssignedQueue;
use crate::client::answer::Answer;
use crate::client::{Client, ClientError, ReceivedMessage, decode_records};
use crate::remoting::headers::{PullMessageRequestHeader, PullMessageResponseHeader, pull_sys_flag};
use crate::remoting::protocol::SubscriptionData;
use crate::remoting::{RemotingCommand, request_code, response_code};

/// How long the broker may hold a pull for which it has nothing, as in Java's clients.
const SUSPEND_TIMEOUT: Duration = Duration::from_secs(15);
/// How long to wait for the answer to a pull, as in Java's clients; well above the time it may be held.
const PULL_TIMEOUT: Duration = Duration::from_secs(30);
/// Pause after a failed pull, as in Java's clients.
const RETRY_PAUSE: Duration = Duration::from_secs(3);
/// Pause after an answer that asks for another pull at the same place.
const REPEAT_PAUSE: Duration = Duration::from_secs(1);

/// Messages of one queue in order.
#[derive(Debug)]
pub struct PulledMessages {
    /// The queue; it wants to know what is consumed.
    pub queue: Arc<AssignedQueue>,
    /// The messages; none when the filter let nothing through or the position was corrected.
    pub messages: Vec<ReceivedMessage>,
    /// Offset to be reported as consumed together with the last message: what the filter holds back lies before it.
    pub next_offset: i64,
}

/// Pulls one queue until it is taken away.
pub(super) struct Puller {
    pub(super) client: Client,
    pub(super) group: String,
    pub(super) subscription: SubscriptionData,
    pub(super) max_msg_nums: i32,
    pub(super) queue: Arc<AssignedQueue>,
    pub(super) arrivals: mpsc::Sender<Result<PulledMessages, ClientError>>,
}

impl Puller {
    pub(super) async fn run(self) {
        let mut offset = self.queue.position();
        while self.queue.is_assigned() {
            let pulled = match self.pull(offset).await {
                Ok(Some(pulled)) => {
                    offset = pulled.next_offset;
                    Ok(pulled)
                }
                Ok(None) => continue,
                Err(problem) => {
                    self.client.expire_route(&self.queue.queue().topic).await;
                    Err(problem)
                }
            };
            let failed = pulled.is_err();
            if self.arrivals.send(pulled).await.is_err() {
                return; // the application has gone
            }
            if failed {
                sleep(RETRY_PAUSE).await;
            }
        }
    }

    /// Asks for the messages from `offset` on; `None` when there is nothing to tell.
    async fn pull(&self, offset: i64) -> Result<Option<PulledMessages>, ClientError> {
        let addr = self.client.broker_address(self.queue.queue()).await?;
        let request = RemotingCommand::request_with(request_code::PULL_MESSAGE, &self.header(offset));
        let answer = self.client.ask(&addr, request, PULL_TIMEOUT).await?;
        let messages = match answer.code() {
            response_code::SUCCESS => self.messages(&answer, offset)?,
            response_code::PULL_NOT_FOUND
            | response_code::PULL_RETRY_IMMEDIATELY
            | response_code::PULL_OFFSET_MOVED => Vec::new(),
            _ => return Err(answer.refused()),
        };
        let next_offset = answer.header::<PullMessageResponseHeader>()?.next_begin_offset;
        if next_offset == offset {
            if answer.code() != response_code::PULL_NOT_FOUND {
                sleep(REPEAT_PAUSE).await;
            }
            return Ok(None);
        }
        Ok(Some(PulledMessages { queue: Arc::clone(&self.queue), messages, next_offset }))
    }

    fn header(&self, offset: i64) -> PullMessageRequestHeader {
        let queue = self.queue.queue();
        PullMessageRequestHeader {
            consumer_group: self.group.clone(),
            topic: queue.topic.clone(),
            queue_id: queue.queue_id,
            queue_offset: offset,
            max_msg_nums: self.max_msg_nums,
            // With the expression in the request a pull does not depend on the last heartbeat of the group.
            sys_flag: pull_sys_flag::SUSPEND | pull_sys_flag::SUBSCRIPTION,
            suspend_timeout_millis: SUSPEND_TIMEOUT.as_millis() as i64,
            subscription: Some(self.subscription.sub_string.clone()),
            sub_version: self.subscription.sub_version,
            expression_type: Some(self.subscription.expression_type.clone()),
            ..PullMessageRequestHeader::default()
        }
    }

    /// The messages of an answer. The broker compares hashes of tags only, so that the tags themselves are compared
    /// here.
    fn messages(&self, answer: &Answer<'_>, from: i64) -> Result<Vec<ReceivedMessage>, ClientError> {
        let decoded = decode_records(&answer.command.body.to_bytes());
        let mut messages = decoded.map_err(|source| ClientError::Records {
            addr: answer.addr.to_owned(),
            queue: self.queue.queue().clone(),
            source: Box::new(source),
        })?;
        // A broker answers an offset in the middle of a batch with the whole batch.
        messages.retain(|message| message.queue_offset >= from);
        let tags = &self.subscription.tags_set;
        if !tags.is_empty() {
            messages.retain(|message| message.tag().is_some_and(|tag| tags.contains(tag)));
        }
        Ok(messages)
    }
}
