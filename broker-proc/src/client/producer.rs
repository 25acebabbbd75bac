//! Sends messages.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;

use super::outgoing_message::encode_batch_entry;
use super::route::{AUTO_CREATE_TOPIC, DEFAULT_TOPIC_QUEUE_NUMS};
use super::{CALL_TIMEOUT, Client, ClientError, OutgoingMessage, SendResult, TopicRoute, UniqueIdGenerator};
use crate::remoting::headers::SendMessageRequestHeader;
use crate::remoting::protocol::MessageQueue;
use crate::remoting::{RemotingCommand, request_code};

/// Further attempts after a failed one, as in Java's producers.
const RETRIES: usize = 2;

/// Sends messages to the queues of their topics in turn.
///
/// All methods take `&self`: poll several sends at once (for example with `StreamExt::buffered`) and they share the
/// connection, each waiting for its own answer. Brokers store messages that are on their way together in any order;
/// who needs them in order waits for each.
#[derive(Debug)]
pub struct Producer {
    client: Client,
    group: String,
    unique_ids: UniqueIdGenerator,
    next_queue: AtomicUsize,
    timeout: Duration,
    retries: usize,
}

/// A request that lacks nothing but its queue.
struct Parcel {
    code: i32,
    header: SendMessageRequestHeader,
    body: Bytes,
    msg_id: String,
}

impl Producer {
    /// A producer of the group `group`, a name that matters to transactions only.
    #[must_use]
    pub fn new(client: &Client, group: impl Into<String>) -> Self {
        Self {
            client: client.clone(),
            group: group.into(),
            unique_ids: UniqueIdGenerator::for_process(client.local_ip()),
            next_queue: AtomicUsize::new(0),
            timeout: CALL_TIMEOUT,
            retries: RETRIES,
        }
    }

    /// Sets how long an attempt waits for its answer.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the number of further attempts after a failed one.
    #[must_use]
    pub fn with_retries(mut self, retries: usize) -> Self {
        self.retries = retries;
        self
    }

    /// Sends a message to the next queue of its topic and waits until it is stored.
    ///
    /// # Errors
    ///
    /// [`ClientError`] of the last attempt.
    pub async fn send(&self, message: &OutgoingMessage) -> Result<SendResult, ClientError> {
        self.deliver(self.parcel(message)?).await
    }

    /// Sends a message to one queue of its topic and waits until it is stored.
    ///
    /// # Errors
    ///
    /// [`ClientError`]; there is one attempt only.
    pub async fn send_to(
        &self,
        message: &OutgoingMessage,
        queue: &MessageQueue,
    ) -> Result<SendResult, ClientError> {
        let route = self.client.publish_route(&message.topic).await?;
        self.attempt(&self.parcel(message)?, &route, queue).await
    }

    /// Sends messages of one topic in one request; they lie in one queue, one behind the other.
    ///
    /// # Errors
    ///
    /// [`ClientError::IllegalMessage`] when there is none or their topics differ, else that of the last attempt.
    pub async fn send_batch(&self, messages: &[OutgoingMessage]) -> Result<SendResult, ClientError> {
        self.deliver(self.batch_parcel(messages)?).await
    }

    /// Sends a message and does not wait for anything: it may get lost.
    ///
    /// # Errors
    ///
    /// [`ClientError`] when there is no route or no connection.
    pub async fn send_oneway(&self, message: &OutgoingMessage) -> Result<(), ClientError> {
        let parcel = self.parcel(message)?;
        let route = self.client.publish_route(&message.topic).await?;
        let queue = self.choose(&message.topic, &route, None)?;
        let addr = master(&route, queue)?;
        Ok(self.client.0.remoting.oneway(addr, parcel.command(queue)).await?)
    }

    fn parcel(&self, message: &OutgoingMessage) -> Result<Parcel, ClientError> {
        let mut header = self.header(&message.topic);
        let msg_id = self.unique_ids.next_id(header.born_timestamp);
        header.properties = Some(message.encode_properties(&msg_id)?);
        header.flag = message.flag;
        Ok(Parcel { code: request_code::SEND_MESSAGE_V2, header, body: message.body.clone(), msg_id })
    }

    fn batch_parcel(&self, messages: &[OutgoingMessage]) -> Result<Parcel, ClientError> {
        let illegal = |topic: &str, reason| ClientError::IllegalMessage { topic: topic.to_owned(), reason };
        let Some(first) = messages.first() else {
            return Err(illegal("", "expected at least one message in a batch, found none".to_owned()));
        };
        let mut header = self.header(&first.topic);
        let (mut body, mut msg_ids) = (Vec::new(), Vec::new());
        for message in messages {
            if message.topic != first.topic {
                let found = &message.topic;
                return Err(illegal(&first.topic, format!("a batch has one topic, found also {found}")));
            }
            let msg_id = self.unique_ids.next_id(header.born_timestamp);
            encode_batch_entry(message, &message.encode_properties(&msg_id)?, &mut body);
            msg_ids.push(msg_id);
        }
        header.batch = true;
        // Only `WAIT` of the batch as a whole is looked at; each entry has its own properties.
        let wait =
            OutgoingMessage { wait_store_msg_ok: first.wait_store_msg_ok, ..OutgoingMessage::new("", "-") };
        header.properties = Some(wait.encode_properties(&self.unique_ids.next_id(header.born_timestamp))?);
        let code = request_code::SEND_BATCH_MESSAGE;
        Ok(Parcel { code, header, body: body.into(), msg_id: msg_ids.join(",") })
    }

    fn header(&self, topic: &str) -> SendMessageRequestHeader {
        SendMessageRequestHeader {
            producer_group: self.group.clone(),
            topic: topic.to_owned(),
            default_topic: AUTO_CREATE_TOPIC.to_owned(),
            default_topic_queue_nums: DEFAULT_TOPIC_QUEUE_NUMS,
            born_timestamp: jiff::Timestamp::now().as_millisecond(),
            ..SendMessageRequestHeader::default()
        }
    }

    /// Tries one queue after the other. The parcel stays the same, so that a duplicate can be told by its id.
    async fn deliver(&self, parcel: Parcel) -> Result<SendResult, ClientError> {
        let topic = &parcel.header.topic;
        let mut failed_broker: Option<String> = None;
        let mut retries_left = self.retries;
        loop {
            let route = self.client.publish_route(topic).await?;
            let queue = self.choose(topic, &route, failed_broker.as_deref())?;
            match self.attempt(&parcel, &route, queue).await {
                Err(error) if retries_left > 0 && error.is_worth_a_retry() => {
                    tracing::debug!(%error, %queue, retries_left, "sending again");
                    retries_left -= 1;
                    failed_broker = Some(queue.broker_name.clone());
                    self.client.expire_route(topic).await;
                }
                outcome => return outcome,
            }
        }
    }

    async fn attempt(
        &self,
        parcel: &Parcel,
        route: &TopicRoute,
        queue: &MessageQueue,
    ) -> Result<SendResult, ClientError> {
        let addr = master(route, queue)?;
        let answer = self.client.ask(addr, parcel.command(queue), self.timeout).await?;
        SendResult::new(&answer, parcel.msg_id.clone(), queue.clone())
    }

    /// The next queue in turn, if possible of another broker than the one that has just failed.
    fn choose<'a>(
        &self,
        topic: &str,
        route: &'a TopicRoute,
        failed_broker: Option<&str>,
    ) -> Result<&'a MessageQueue, ClientError> {
        let queues = route.publish_queues();
        let turn = self.next_queue.fetch_add(1, Ordering::Relaxed);
        let mut in_turn = queues.iter().cycle().skip(turn % queues.len().max(1)).take(queues.len());
        let next = in_turn.clone().next();
        let other = in_turn.find(|queue| failed_broker != Some(queue.broker_name.as_str()));
        other.or(next).ok_or_else(|| no_queue(topic, "writable queue"))
    }
}

impl Parcel {
    fn command(&self, queue: &MessageQueue) -> RemotingCommand {
        let header = SendMessageRequestHeader { queue_id: queue.queue_id, ..self.header.clone() };
        let mut command = RemotingCommand::request(self.code);
        command.ext_fields = Some(header.encode_for(self.code));
        command.with_body(self.body.clone())
    }
}

fn master<'a>(route: &'a TopicRoute, queue: &MessageQueue) -> Result<&'a str, ClientError> {
    let master = route.master(&queue.broker_name);
    master.ok_or_else(|| no_queue(&queue.topic, &format!("master of {}", queue.broker_name)))
}

fn no_queue(topic: &str, what: &str) -> ClientError {
    ClientError::NoQueue { topic: topic.to_owned(), what: what.to_owned() }
}
