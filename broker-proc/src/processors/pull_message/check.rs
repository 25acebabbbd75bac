//! May this group pull from this queue, and with which filter?

use crate::broker_context::BrokerContext;
use crate::consumer_manager::Subscription;
use crate::processor::Refusal;
use crate::remoting::headers::{
    PullMessageRequestHeader, PullMessageResponseHeader, forbidden_type, pull_sys_flag,
};
use crate::remoting::protocol::{MessageModel, SubscriptionGroupConfig, TopicConfig};
use crate::remoting::{RemotingCommand, request_code, response_code};
use crate::subscription_group_manager::INDEX_PERM_READ;
use std::net::SocketAddr;
use std::sync::Arc;

const PERM_READ: i32 = 4;

/// What the checks found on the way.
pub(super) struct Checked {
    pub(super) group: Arc<SubscriptionGroupConfig>,
    pub(super) topic: Arc<TopicConfig>,
    pub(super) subscription: Arc<Subscription>,
}

/// A refusal, with the mark that tells tools who forbade it.
#[derive(Debug)]
pub(super) struct Refused {
    refusal: Refusal,
    forbidden_type: Option<i32>,
}

impl Refused {
    pub(super) fn answer(self, request: &RemotingCommand) -> RemotingCommand {
        let answer = self.refusal.answer(request);
        match self.forbidden_type {
            None => answer,
            forbidden_type => {
                answer.with_header(&PullMessageResponseHeader { forbidden_type, ..Default::default() })
            }
        }
    }
}

fn refuse(code: i32, remark: impl Into<String>) -> Refused {
    Refused { refusal: Refusal::new(code, remark), forbidden_type: None }
}

fn forbid(who: i32, remark: impl Into<String>) -> Refused {
    Refused { refusal: Refusal::new(response_code::NO_PERMISSION, remark), forbidden_type: Some(who) }
}

pub(super) fn check(
    context: &BrokerContext,
    request: &RemotingCommand,
    header: &PullMessageRequestHeader,
    peer: SocketAddr,
) -> Result<Checked, Refused> {
    let config = &context.config;
    if config.broker_permission & PERM_READ == 0 {
        let remark = format!("the broker[{}] pulling message is forbidden", config.broker_ip1);
        return Err(forbid(forbidden_type::BROKER, remark));
    }
    if request.code == request_code::LITE_PULL_MESSAGE && !config.lite_pull_message_enable {
        let remark = format!("the broker[{}] for lite pull consumer is forbidden", config.broker_ip1);
        return Err(forbid(forbidden_type::BROKER, remark));
    }
    let group = check_group(context, &header.consumer_group)?;
    let topic = check_topic(context, header, peer)?;
    let subscription = find_subscription(context, header, &group)?;
    if !subscription.is_tag_type() && !subscription.data().class_filter_mode {
        let remark = format!(
            "The broker does not support consumer to filter message by {}",
            subscription.data().expression_type
        );
        return Err(refuse(response_code::SYSTEM_ERROR, remark));
    }
    Ok(Checked { group, topic, subscription })
}

fn check_group(context: &BrokerContext, name: &str) -> Result<Arc<SubscriptionGroupConfig>, Refused> {
    let Some(group) = context.group(name) else {
        let remark = format!("subscription group [{name}] does not exist");
        return Err(refuse(response_code::SUBSCRIPTION_GROUP_NOT_EXIST, remark));
    };
    if !group.consume_enable {
        return Err(forbid(forbidden_type::GROUP, format!("subscription group no permission, {name}")));
    }
    Ok(group)
}

fn check_topic(
    context: &BrokerContext,
    header: &PullMessageRequestHeader,
    peer: SocketAddr,
) -> Result<Arc<TopicConfig>, Refused> {
    let Some(topic) = context.topics.select_topic_config(&header.topic) else {
        let remark = format!("topic[{}] not exist, apply first please!", header.topic);
        return Err(refuse(response_code::TOPIC_NOT_EXIST, remark));
    };
    if topic.perm & PERM_READ == 0 {
        let remark = format!("the topic[{}] pulling message is forbidden", header.topic);
        return Err(forbid(forbidden_type::TOPIC, remark));
    }
    if header.queue_id < 0 || header.queue_id >= topic.read_queue_nums {
        let remark = format!(
            "queueId[{}] is illegal, topic:[{}] topicConfig.readQueueNums:[{}] consumer:[{peer}]",
            header.queue_id, header.topic, topic.read_queue_nums
        );
        return Err(refuse(response_code::INVALID_PARAMETER, remark));
    }
    Ok(topic)
}

/// The subscription the pull carries, or the one of the group's heartbeats.
fn find_subscription(
    context: &BrokerContext,
    header: &PullMessageRequestHeader,
    group: &SubscriptionGroupConfig,
) -> Result<Arc<Subscription>, Refused> {
    if header.sys_flag & pull_sys_flag::SUBSCRIPTION != 0 {
        let parsed = Subscription::parse(
            &header.topic,
            header.subscription.as_deref(),
            header.expression_type.as_deref(),
        );
        return parsed.map(Arc::new).map_err(|reason| {
            refuse(
                response_code::SUBSCRIPTION_PARSE_FAILED,
                format!("parse the consumer's subscription failed: {reason}"),
            )
        });
    }
    let Some(members) = context.consumers.group_info(&header.consumer_group) else {
        return Err(refuse(response_code::SUBSCRIPTION_NOT_EXIST, "the consumer's group info not exist"));
    };
    if !group.consume_broadcast_enable && members.message_model == MessageModel::Broadcasting {
        let remark =
            format!("the consumer group[{}] can not consume by broadcast way", header.consumer_group);
        return Err(forbid(forbidden_type::BROADCASTING, remark));
    }
    if context.groups.get_forbidden(&header.consumer_group, &header.topic, INDEX_PERM_READ) {
        let remark =
            format!("the consumer group[{}] is forbidden for topic[{}]", header.consumer_group, header.topic);
        return Err(forbid(forbidden_type::SUBSCRIPTION, remark));
    }
    let Some(subscription) = members.find_subscription(&header.topic) else {
        return Err(refuse(response_code::SUBSCRIPTION_NOT_EXIST, "the consumer's subscription not exist"));
    };
    if subscription.data().sub_version < header.sub_version {
        return Err(refuse(response_code::SUBSCRIPTION_NOT_LATEST, "the consumer's subscription not latest"));
    }
    Ok(subscription)
}
