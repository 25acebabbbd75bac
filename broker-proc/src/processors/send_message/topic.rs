//! Which topic and queue a send goes to, and whether it may.

use super::{Incoming, illegal};
use crate::broker_context::BrokerContext;
use crate::processor::Refusal;
use crate::remoting::headers::SendMessageRequestHeader;
use crate::remoting::protocol::TopicConfig;
use crate::remoting::{mq_version, response_code};
use crate::topic_config_manager::TopicCreation;
use crate::topic_validator::{
    DLQ_GROUP_TOPIC_PREFIX, RETRY_GROUP_TOPIC_PREFIX, TOPIC_MAX_LENGTH, dlq_topic, validate_topic,
};
use crate::transaction;
use std::net::SocketAddr;
use store_core::properties::{Properties, names};

/// Permission bits.
const PERM_WRITE: i32 = 2;
const PERM_READ_WRITE: i32 = 6;
/// `topicSysFlag` of topics of a unit.
const UNIT_FLAG: i32 = 1;
const UNIT_SUB_FLAG: i32 = 2;

/// The topic of a send, made when that is allowed.
pub(crate) fn find_topic(
    context: &BrokerContext,
    header: &SendMessageRequestHeader,
    peer: SocketAddr,
) -> Result<TopicCreation, Refusal> {
    let config = &context.config;
    if context.now() < config.start_accept_send_request_time_stamp {
        let remark =
            format!("broker unable to service, until {}", config.start_accept_send_request_time_stamp);
        return Err(Refusal::new(response_code::SYSTEM_ERROR, remark));
    }
    if config.broker_permission & PERM_WRITE == 0 && context.topics.is_order_topic(&header.topic) {
        let remark = format!("the broker[{}] sending message is forbidden", config.broker_ip1);
        return Err(Refusal::new(response_code::NO_PERMISSION, remark));
    }
    validate_topic(&header.topic).map_err(|remark| Refusal::new(response_code::INVALID_PARAMETER, remark))?;
    let validator = context.topics.validator();
    validator
        .validate_send_topic(&header.topic)
        .map_err(|remark| Refusal::new(response_code::NO_PERMISSION, remark))?;
    let found = find_or_create(context, header)?;
    let queues = found.config.write_queue_nums.max(found.config.read_queue_nums);
    if header.queue_id >= queues {
        let remark =
            format!("request queueId[{}] is illegal, {:?} Producer: {peer}", header.queue_id, found.config);
        return Err(Refusal::new(response_code::INVALID_PARAMETER, remark));
    }
    Ok(found)
}

fn find_or_create(
    context: &BrokerContext,
    header: &SendMessageRequestHeader,
) -> Result<TopicCreation, Refusal> {
    if let Some(config) = context.topics.select_topic_config(&header.topic) {
        return Ok(TopicCreation { config, changed: false });
    }
    let is_retry = header.topic.starts_with(RETRY_GROUP_TOPIC_PREFIX);
    let sys_flag = match (header.unit_mode, is_retry) {
        (true, true) => UNIT_SUB_FLAG,
        (true, false) => UNIT_FLAG,
        (false, _) => 0,
    };
    let now = context.now();
    let created = context.topics.create_topic_in_send_message(
        &header.topic,
        &header.default_topic,
        header.default_topic_queue_nums,
        sys_flag,
        now,
    );
    if let Some(created) = created {
        return Ok(created);
    }
    if is_retry {
        let topics = &context.topics;
        return Ok(topics.create_topic_in_send_message_back(
            &header.topic,
            1,
            PERM_READ_WRITE,
            false,
            sys_flag,
            now,
        ));
    }
    let remark = format!("topic[{}] not exist, apply first please!", header.topic);
    Err(Refusal::new(response_code::TOPIC_NOT_EXIST, remark))
}

/// Where a single message goes.
pub(super) struct Target {
    pub(super) topic: String,
    pub(super) queue_id: i32,
}

impl Target {
    pub(super) fn of(context: &BrokerContext, incoming: &Incoming) -> Result<Self, Refusal> {
        let mut queue_id = incoming.header.queue_id;
        if queue_id < 0 {
            queue_id = context.random_below(incoming.topic.write_queue_nums);
        }
        Ok(Self { topic: incoming.header.topic.clone(), queue_id })
    }

    /// A retry that a consumer sends by itself goes to the dead letters once its tries are used up, or when its group
    /// consumes in order (then it has been tried on the spot).
    pub(super) fn divert_exhausted_retry(
        &mut self,
        context: &BrokerContext,
        incoming: &Incoming,
        properties: &mut Properties,
    ) -> Result<(), Refusal> {
        let Some(group_name) = self.topic.strip_prefix(RETRY_GROUP_TOPIC_PREFIX).map(str::to_owned) else {
            return Ok(());
        };
        let Some(group) = context.group(&group_name) else {
            let remark = format!("subscription group not exist, {group_name}");
            return Err(Refusal::new(response_code::SUBSCRIPTION_GROUP_NOT_EXIST, remark));
        };
        let asked = incoming
            .header
            .max_reconsume_times
            .filter(|_| incoming.version >= mq_version::CLIENT_MAX_RECONSUME_TIMES);
        let max = asked.unwrap_or(group.retry_max_times);
        let exhausted = incoming.header.reconsume_times > max;
        if !exhausted && !context.locks.is_locked(&group_name, context.now()) {
            return Ok(());
        }
        self.topic = dlq_topic(&group_name);
        self.queue_id = 0;
        // Not delayed any more; the mark stays to be seen.
        properties.set(names::DELAY_TIME_LEVEL, "-1");
        make_dead_letter_topic(context, &self.topic);
        Ok(())
    }
}

/// Makes a dead letter topic; name servers hear of it with the next registration.
pub(crate) fn make_dead_letter_topic(context: &BrokerContext, topic: &str) {
    let now = context.now();
    let made = context.topics.create_topic_in_send_message_back(topic, 1, PERM_READ_WRITE, false, 0, now);
    if made.changed {
        context.persist(&context.topics);
        context.registration.register_soon();
    }
}

/// A topic that is compacted by key needs one.
pub(super) fn check_compaction(topic: &TopicConfig, properties: &Properties) -> Result<(), Refusal> {
    let compacted = topic.attributes.get("cleanup.policy").is_some_and(|policy| policy == "COMPACTION");
    if compacted && properties.get(names::KEYS).is_none() {
        return Err(illegal("Required message key is missing"));
    }
    Ok(())
}

/// Whether this is a half message, and whether such may be sent.
pub(super) fn check_transaction(
    context: &BrokerContext,
    properties: &Properties,
    reconsume_times: i32,
) -> Result<bool, Refusal> {
    let half = transaction::is_half(properties, reconsume_times);
    if half && context.config.reject_transaction_message {
        let remark =
            format!("the broker[{}] sending transaction message is forbidden", context.config.broker_ip1);
        return Err(Refusal::new(response_code::NO_PERMISSION, remark));
    }
    Ok(half)
}

/// The store's own limit of topic names, in bytes.
pub(super) fn check_length(topic: &str) -> Result<(), Refusal> {
    let exempt = topic.starts_with(RETRY_GROUP_TOPIC_PREFIX) || topic.starts_with(DLQ_GROUP_TOPIC_PREFIX);
    if !exempt && topic.len() > TOPIC_MAX_LENGTH {
        return Err(illegal(format!("message topic length too long {}", topic.len())));
    }
    Ok(())
}
