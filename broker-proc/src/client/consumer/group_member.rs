//! Membership in a group: heartbeats, allocation of queues, commits.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::allocation::allocate_averagely;
use super::pull::Puller;
use super::{AssignedQueue, ConsumerOptions, PulledMessages, StartPosition};
use crate::client::received_message::RETRY_TOPIC_PREFIX;
use crate::client::{CALL_TIMEOUT, Client, ClientError, TopicRoute};
use crate::consumer_manager::Subscription;
use crate::remoting::headers::{ConsumerGroupRequestHeader, UnregisterClientRequestHeader};
use crate::remoting::protocol::{
    ConsumeFromWhere, ConsumerData, GetConsumerListByGroupResponseBody, HeartbeatData, MessageQueue,
    SubscriptionData,
};
use crate::remoting::{RemotingCommand, request_code};

/// Time between two heartbeats, as in Java's clients; a broker forgets a member after 120 s.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(30);
/// Time until the next try when a heartbeat or the allocation failed.
const RETRY_INTERVAL: Duration = Duration::from_secs(3);
/// Time between two commits, as in Java's clients.
const COMMIT_INTERVAL: Duration = Duration::from_secs(5);

type Arrivals = mpsc::Sender<Result<PulledMessages, ClientError>>;

/// The task behind a consumer.
pub(super) struct GroupMember {
    client: Client,
    client_id: String,
    options: ConsumerOptions,
    /// The topic itself, then the group's retry topic: other members may send messages back.
    subscriptions: [SubscriptionData; 2],
    assigned: watch::Sender<Vec<Arc<AssignedQueue>>>,
    arrivals: Arrivals,
    pullers: JoinSet<()>,
}

impl GroupMember {
    pub(super) fn new(client: &Client, options: ConsumerOptions, arrivals: Arrivals) -> Self {
        let now = jiff::Timestamp::now();
        let unique = now.as_nanosecond();
        let client_id = format!("{}@{}#{unique}", client.local_ip(), std::process::id());
        let retry_topic = format!("{RETRY_TOPIC_PREFIX}{}", options.group);
        let subscriptions = [(&options.topic, options.expression.as_str()), (&retry_topic, "*")];
        let subscriptions = subscriptions.map(|(topic, expression)| {
            let wanted = SubscriptionData {
                topic: topic.clone(),
                sub_string: expression.to_owned(),
                sub_version: now.as_millisecond(),
                ..SubscriptionData::default()
            };
            Subscription::new(wanted).data().clone()
        });
        Self {
            client: client.clone(),
            client_id,
            options,
            subscriptions,
            assigned: watch::Sender::new(Vec::new()),
            arrivals,
            pullers: JoinSet::new(),
        }
    }

    pub(super) fn assigned(&self) -> watch::Receiver<Vec<Arc<AssignedQueue>>> {
        self.assigned.subscribe()
    }

    /// Takes part in the group until `stopped` is sent or its sender dropped, then leaves.
    pub(super) async fn run(mut self, mut stopped: oneshot::Receiver<()>) -> Result<(), ClientError> {
        let mut changes = self.client.group_changes();
        let mut commit = interval(COMMIT_INTERVAL);
        commit.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut next_heartbeat = Instant::now() + HEARTBEAT_INTERVAL;
        loop {
            let outcome = tokio::select! {
                _ = &mut stopped => return self.leave().await,
                _ = commit.tick() => self.commit(&self.queues()).await,
                // Fails only when the sender is gone; this task holds one.
                _ = changes.changed() => self.take_part_again(&mut next_heartbeat).await,
                () = sleep_until(next_heartbeat) => self.take_part_again(&mut next_heartbeat).await,
            };
            if let Err(problem) = outcome {
                // An application that does not look at events does not need this one either.
                let _ = self.arrivals.try_send(Err(problem));
            }
        }
    }

    async fn take_part_again(&mut self, next_heartbeat: &mut Instant) -> Result<(), ClientError> {
        let outcome = self.take_part().await;
        *next_heartbeat = Instant::now() + if outcome.is_ok() { HEARTBEAT_INTERVAL } else { RETRY_INTERVAL };
        outcome
    }

    /// Tells the brokers that this member lives, and brings its queues in line with its share.
    pub(super) async fn take_part(&mut self) -> Result<(), ClientError> {
        let topic = &self.options.topic;
        let route = self.client.route(topic).await?.ok_or_else(|| self.client.no_route(topic))?;
        let reached = self.heartbeat(&route).await?;
        let members = self.members(reached).await?;
        let mut share = BTreeSet::new();
        for subscription in &self.subscriptions {
            // A broker makes the retry topic on the first heartbeat; its route comes a little later.
            let Some(route) = self.client.route(&subscription.topic).await? else { continue };
            let queues = route.subscribe_queues().to_vec();
            let own = allocate_averagely(&self.client_id, members.clone(), queues);
            share.extend(own.ok_or_else(|| self.not_member(reached))?);
        }
        self.change_queues(share).await
    }

    /// Sends a heartbeat to every broker of the topic; an address that it reached. A broker that is down must not
    /// keep the member from the others, so that it is an error only when there is no other.
    async fn heartbeat<'a>(&self, route: &'a TopicRoute) -> Result<&'a str, ClientError> {
        let request =
            RemotingCommand::request(request_code::HEART_BEAT).with_json_body(&self.heartbeat_data())?;
        let what = "readable broker".to_owned();
        let mut outcome = Err(ClientError::NoQueue { topic: self.options.topic.clone(), what });
        for addr in route.addresses() {
            let answer = self.client.ask(addr, request.clone(), CALL_TIMEOUT).await;
            match answer.and_then(|answer| answer.success()) {
                Ok(_) => outcome = Ok(addr),
                Err(error) if outcome.is_ok() => tracing::warn!(%error, "heartbeat"),
                Err(error) => outcome = Err(error),
            }
        }
        outcome
    }

    fn heartbeat_data(&self) -> HeartbeatData {
        let consumer = ConsumerData {
            group_name: self.options.group.clone(),
            consume_from_where: match self.options.start {
                StartPosition::First => ConsumeFromWhere::ConsumeFromFirstOffset,
                StartPosition::Last => ConsumeFromWhere::ConsumeFromLastOffset,
                StartPosition::Time(_) => ConsumeFromWhere::ConsumeFromTimestamp,
            },
            subscription_data_set: self.subscriptions.to_vec(),
            ..ConsumerData::default()
        };
        HeartbeatData {
            client_id: self.client_id.clone(),
            consumer_data_set: vec![consumer],
            ..HeartbeatData::default()
        }
    }

    async fn members(&self, addr: &str) -> Result<Vec<String>, ClientError> {
        let header = ConsumerGroupRequestHeader { consumer_group: self.options.group.clone() };
        let request = RemotingCommand::request_with(request_code::GET_CONSUMER_LIST_BY_GROUP, &header);
        let answer = self.client.ask(addr, request, CALL_TIMEOUT).await?.success()?;
        Ok(answer.body::<GetConsumerListByGroupResponseBody>()?.consumer_id_list)
    }

    /// Hands over the queues that are no longer part of the share and starts with the new ones.
    async fn change_queues(&mut self, mut share: BTreeSet<MessageQueue>) -> Result<(), ClientError> {
        let (kept, lost): (Vec<_>, Vec<_>) =
            self.queues().into_iter().partition(|assigned| share.remove(assigned.queue()));
        lost.iter().for_each(|assigned| assigned.take_away());
        let committed = self.commit(&lost).await;
        let mut gained = Vec::new();
        let mut outcome = Ok(());
        for queue in share {
            match self.assign(queue).await {
                Ok(assigned) => gained.push(Arc::new(assigned)),
                Err(error) => outcome = Err(error),
            }
        }
        if !lost.is_empty() || !gained.is_empty() {
            self.assigned.send_replace(kept.into_iter().chain(gained.iter().cloned()).collect());
        }
        gained.into_iter().for_each(|assigned| self.start_puller(assigned));
        committed.and(outcome)
    }

    /// Finds out where a queue has to be consumed from, and up to where it is filled.
    async fn assign(&self, queue: MessageQueue) -> Result<AssignedQueue, ClientError> {
        let end = self.client.max_offset(&queue).await?;
        let position = match self.client.committed_offset(&self.options.group, &queue).await? {
            Some(committed) => committed,
            // Whatever is in the retry topic was sent back by this group.
            None if queue.topic != self.options.topic => self.client.min_offset(&queue).await?,
            None => match self.options.start {
                StartPosition::First => self.client.min_offset(&queue).await?,
                StartPosition::Last => end,
                StartPosition::Time(time) => self.client.offset_at(&queue, time).await?,
            },
        };
        Ok(AssignedQueue::new(queue, position, end))
    }

    fn start_puller(&mut self, assigned: Arc<AssignedQueue>) {
        // Pullers of queues that were taken away have ended; their results are of no interest.
        while self.pullers.try_join_next().is_some() {}
        let topic = &assigned.queue().topic;
        let [own, retry] = &self.subscriptions;
        let subscription = if *topic == own.topic { own } else { retry };
        let puller = Puller {
            client: self.client.clone(),
            group: self.options.group.clone(),
            subscription: subscription.clone(),
            max_msg_nums: self.options.pull_batch_size,
            queue: assigned,
            arrivals: self.arrivals.clone(),
        };
        self.pullers.spawn(puller.run());
    }

    async fn commit(&self, queues: &[Arc<AssignedQueue>]) -> Result<(), ClientError> {
        for assigned in queues {
            if let Some(offset) = assigned.uncommitted() {
                self.client.commit_offset(&self.options.group, assigned.queue(), offset).await?;
                assigned.committed(offset);
            }
        }
        Ok(())
    }

    async fn leave(mut self) -> Result<(), ClientError> {
        self.pullers.abort_all();
        let committed = self.commit(&self.queues()).await;
        let header = UnregisterClientRequestHeader {
            client_id: self.client_id.clone(),
            producer_group: None,
            consumer_group: Some(self.options.group.clone()),
        };
        let request = RemotingCommand::request_with(request_code::UNREGISTER_CLIENT, &header);
        if let Some(route) = self.client.route(&self.options.topic).await? {
            for addr in route.addresses() {
                if let Err(error) = self.client.ask(addr, request.clone(), CALL_TIMEOUT).await {
                    // The broker notices the end of the connection as well.
                    tracing::debug!(%error, "leaving the group");
                }
            }
        }
        committed
    }

    fn queues(&self) -> Vec<Arc<AssignedQueue>> {
        self.assigned.borrow().clone()
    }

    fn not_member(&self, addr: &str) -> ClientError {
        ClientError::NotMember {
            addr: addr.to_owned(),
            group: self.options.group.clone(),
            client_id: self.client_id.clone(),
        }
    }
}
