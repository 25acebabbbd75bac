//! `HEART_BEAT`, `UNREGISTER_CLIENT`, `CHECK_CLIENT_CONFIG`: who is connected.

use crate::broker_context::BrokerContext;
use crate::client_channel_info::ClientIdentity;
use crate::processor::{Processor, Refusal, success};
use crate::remoting::headers::{HeartbeatResponseHeader, UnregisterClientRequestHeader};
use crate::remoting::protocol::{CheckClientRequestBody, ConsumerData, HeartbeatData};
use crate::remoting::{Channel, RemotingCommand, Reply, request_code, response_code};
use crate::topic_validator::{retry_topic, validate_topic};
use std::sync::Arc;

const PERM_READ_WRITE: i32 = 6;
/// Expression type that every broker filters by.
const TAG: &str = "TAG";

/// The processor.
pub struct ClientManageProcessor {
    context: Arc<BrokerContext>,
}

/// What the groups of a heartbeat changed.
#[derive(Default)]
struct Changes {
    groups: bool,
    topics: bool,
    /// Subscriptions of a group came or went.
    subscriptions: bool,
}

impl ClientManageProcessor {
    /// A processor over the broker's parts.
    pub fn new(context: &Arc<BrokerContext>) -> Self {
        Self { context: Arc::clone(context) }
    }

    fn heart_beat(&self, channel: &Arc<Channel>, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let heartbeat: HeartbeatData = request.decode_body()?;
        let identity = ClientIdentity {
            client_id: heartbeat.client_id.clone(),
            language: request.language,
            version: request.version,
        };
        let mut changes = Changes::default();
        for consumer in &heartbeat.consumer_data_set {
            self.register_consumer(channel, &identity, consumer, heartbeat.without_sub, &mut changes);
        }
        self.persist(&changes);
        for producer in &heartbeat.producer_data_set {
            self.context.producers.register_producer(
                &producer.group_name,
                channel,
                &identity,
                self.context.now(),
            );
        }
        let fields = HeartbeatResponseHeader {
            is_support_heart_beat_v2: Some(true),
            is_sub_change: Some(changes.subscriptions),
        };
        Ok(success(request).with_header(&fields).into())
    }

    /// Saves the tables once for a whole heartbeat, however many groups it names.
    fn persist(&self, changes: &Changes) {
        let context = &self.context;
        if changes.groups {
            context.persist(&context.groups);
        }
        if changes.topics {
            context.persist(&context.topics);
            context.registration.register_soon();
        }
    }

    /// Registers a consumer of a group that exists or may be made.
    fn register_consumer(
        &self,
        channel: &Arc<Channel>,
        identity: &ClientIdentity,
        consumer: &ConsumerData,
        without_sub: bool,
        changes: &mut Changes,
    ) {
        let context = &self.context;
        let now = context.now();
        let Some(group) = context.groups.find_subscription_group_config(&consumer.group_name, now) else {
            tracing::warn!(
                group = consumer.group_name.escape_debug().to_string(),
                "heartbeat of an illegal group"
            );
            return;
        };
        changes.groups |= group.changed;
        changes.topics |=
            self.make_retry_topic(&consumer.group_name, group.config.retry_queue_nums, consumer);
        let registration = context.consumers.register_consumer(channel, identity, consumer, without_sub, now);
        if let Some(change) = &registration.change {
            context.notify_consumer_ids_changed(change);
        }
        changes.subscriptions |= registration.subscription_changed;
    }

    /// Makes the retry topic of a group; whether the topic table changed.
    fn make_retry_topic(&self, group: &str, queues: i32, consumer: &ConsumerData) -> bool {
        let context = &self.context;
        let topic = retry_topic(group);
        if validate_topic(&topic).is_err() {
            return false;
        }
        let subscriptions = &consumer.subscription_data_set;
        let order =
            subscriptions.iter().any(|subscription| context.topics.is_order_topic(&subscription.topic));
        let topics = &context.topics;
        let made = topics.create_topic_in_send_message_back(
            &topic,
            queues,
            PERM_READ_WRITE,
            order,
            0,
            context.now(),
        );
        made.changed
    }

    fn unregister(&self, channel: &Arc<Channel>, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let header: UnregisterClientRequestHeader = request.decode_header()?;
        if let Some(group) = &header.producer_group {
            self.context.producers.unregister_producer(channel.id(), group);
        }
        if let Some(group) = &header.consumer_group {
            if let Some(change) = self.context.consumers.unregister_consumer(channel.id(), group) {
                self.context.notify_consumer_ids_changed(&change);
            }
        }
        Ok(success(request).into())
    }

    fn check_client_config(request: &RemotingCommand) -> Result<Reply, Refusal> {
        let body: CheckClientRequestBody = request.decode_body()?;
        let expression_type = &body.subscription_data.expression_type;
        if expression_type.is_empty() || expression_type == TAG {
            return Ok(success(request).into());
        }
        let remark = format!("The broker does not support consumer to filter message by {expression_type}");
        Err(Refusal::new(response_code::SYSTEM_ERROR, remark))
    }
}

impl Processor for ClientManageProcessor {
    fn process(&self, channel: &Arc<Channel>, request: &RemotingCommand) -> Result<Reply, Refusal> {
        match request.code {
            request_code::HEART_BEAT => self.heart_beat(channel, request),
            request_code::UNREGISTER_CLIENT => self.unregister(channel, request),
            _ => Self::check_client_config(request),
        }
    }
}
