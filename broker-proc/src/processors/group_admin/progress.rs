//! Progress of a group: `GET_CONSUME_STATS` shows it, `INVOKE_BROKER_TO_RESET_OFFSET` moves it.

use crate::broker_context::BrokerContext;
use crate::processor::{Refusal, success};
use crate::remoting::headers::{GetConsumeStatsRequestHeader, ResetOffsetRequestHeader};
use crate::remoting::protocol::{ConsumeStats, MessageQueue, OffsetWrapper, ResetOffsetBody};
use crate::remoting::{RemotingCommand, Reply, response_code};
use std::collections::{BTreeMap, BTreeSet};
use store_core::BoundaryType;

pub(super) fn consume_stats(context: &BrokerContext, request: &RemotingCommand) -> Result<Reply, Refusal> {
    let header: GetConsumeStatsRequestHeader = request.decode_header()?;
    let mut offset_table = BTreeMap::new();
    for topic in topics_asked_for(context, &header) {
        let Some(config) = context.topics.select_topic_config(&topic) else { continue };
        for queue_id in 0..config.read_queue_nums {
            let progress = queue_progress(context, &header.consumer_group, &topic, queue_id);
            offset_table.insert(message_queue(context, &topic, queue_id), progress);
        }
    }
    Ok(success(request).with_json_body(&ConsumeStats { offset_table, consume_tps: 0.0 })?.into())
}

fn topics_asked_for(context: &BrokerContext, header: &GetConsumeStatsRequestHeader) -> BTreeSet<String> {
    if let Some(list) = header.topic_list.as_deref().filter(|list| !list.is_empty()) {
        return list.split(';').filter(|topic| !topic.is_empty()).map(str::to_owned).collect();
    }
    if let Some(topic) = header.topic.as_deref().filter(|topic| !topic.is_empty()) {
        return BTreeSet::from([topic.to_owned()]);
    }
    let mut topics = context.offsets.topics_of_group(&header.consumer_group);
    if let Some(group) = context.consumers.group_info(&header.consumer_group) {
        topics.retain(|topic| group.find_subscription(topic).is_some());
    }
    topics
}

fn queue_progress(context: &BrokerContext, group: &str, topic: &str, queue_id: i32) -> OffsetWrapper {
    let range = context.store.offsets(topic, queue_id);
    let consumed = context.offsets.query_offset(group, topic, queue_id).unwrap_or(0);
    let last = u64::try_from(consumed).ok().and_then(|next| next.checked_sub(1));
    let last_timestamp =
        last.and_then(|offset| context.store.store_time(topic, queue_id, offset)).unwrap_or(0);
    OffsetWrapper {
        broker_offset: i64::try_from(range.max).unwrap_or(i64::MAX),
        consumer_offset: consumed,
        pull_offset: context.offsets.query_pull_offset(group, topic, queue_id).unwrap_or(consumed),
        last_timestamp,
    }
}

fn message_queue(context: &BrokerContext, topic: &str, queue_id: i32) -> MessageQueue {
    MessageQueue { topic: topic.to_owned(), broker_name: context.config.broker_name.clone(), queue_id }
}

pub(super) fn reset_offset(context: &BrokerContext, request: &RemotingCommand) -> Result<Reply, Refusal> {
    let header: ResetOffsetRequestHeader = request.decode_header()?;
    let Some(topic) = context.topics.select_topic_config(&header.topic) else {
        let remark = format!("Topic {} does not exist", header.topic);
        return Err(Refusal::new(response_code::TOPIC_NOT_EXIST, remark));
    };
    if context.groups.get(&header.group).is_none() {
        let remark = format!("Group {} does not exist", header.group);
        return Err(Refusal::new(response_code::SUBSCRIPTION_GROUP_NOT_EXIST, remark));
    }
    let queues = match header.queue_id {
        queue_id if queue_id < 0 => 0..topic.read_queue_nums,
        queue_id => queue_id..queue_id.saturating_add(1),
    };
    let mut targets = BTreeMap::new();
    for queue_id in queues {
        targets.insert(queue_id, target_offset(context, &header, queue_id)?);
    }
    let mut offset_table = BTreeMap::new();
    for (queue_id, offset) in targets {
        context.offsets.assign_reset_offset(&header.topic, &header.group, queue_id, offset, context.now());
        offset_table.insert(message_queue(context, &header.topic, queue_id), offset);
    }
    Ok(success(request).with_json_body(&ResetOffsetBody { offset_table })?.into())
}

fn target_offset(
    context: &BrokerContext,
    header: &ResetOffsetRequestHeader,
    queue_id: i32,
) -> Result<i64, Refusal> {
    let range = context.store.offsets(&header.topic, queue_id);
    let (min, max) = (range.min, range.max);
    if let Some(offset) = header.offset.filter(|offset| *offset >= 0 && header.queue_id >= 0) {
        let inside = u64::try_from(offset).is_ok_and(|offset| (min..=max + 1).contains(&offset));
        if !inside {
            let remark = format!("Target offset {offset} not in consume queue range [{min}-{max}]");
            return Err(Refusal::new(response_code::SYSTEM_ERROR, remark));
        }
        return Ok(offset);
    }
    let offset = if header.timestamp < 0 {
        max
    } else {
        context.store.offset_by_time(&header.topic, queue_id, header.timestamp, BoundaryType::Lower)
    };
    Ok(i64::try_from(offset).unwrap_or(i64::MAX))
}
