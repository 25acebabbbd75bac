//! `CONSUMER_SEND_MSG_BACK`: a message that could not be consumed comes again later, or goes to the dead letters.

use super::send_message::{make_dead_letter_topic, wait_for};
use crate::broker_context::BrokerContext;
use crate::processor::{Processor, Refusal, success};
use crate::remoting::headers::ConsumerSendMsgBackRequestHeader;
use crate::remoting::protocol::SubscriptionGroupConfig;
use crate::remoting::{Channel, RemotingCommand, Reply, mq_version, response_code};
use crate::schedule;
use crate::topic_validator::{dlq_topic, retry_topic};
use std::sync::Arc;
use store_core::properties::{Properties, names};
use store_core::record_format::{Decoded, MessageView, decode};
use store_core::{Message, PutResult, PutTicket, message_id};

const PERM_WRITE: i32 = 2;
const PERM_READ_WRITE: i32 = 6;
/// Level of the first retry; the later ones follow.
const FIRST_RETRY_LEVEL: i32 = 3;

/// The processor.
pub struct ConsumerSendMsgBackProcessor {
    context: Arc<BrokerContext>,
}

/// Where the message goes, and when.
struct Destination {
    topic: String,
    queue_id: i32,
    /// Delay level; `None`: at once.
    level: Option<i32>,
}

impl ConsumerSendMsgBackProcessor {
    /// A processor over the broker's parts.
    pub fn new(context: &Arc<BrokerContext>) -> Self {
        Self { context: Arc::clone(context) }
    }

    fn group(&self, name: &str) -> Result<Arc<SubscriptionGroupConfig>, Refusal> {
        self.context.group(name).ok_or_else(|| {
            let remark = format!("subscription group not exist, {name}");
            Refusal::new(response_code::SUBSCRIPTION_GROUP_NOT_EXIST, remark)
        })
    }

    /// The retry topic of the group, made when it is not there.
    fn retry_queue(&self, group: &SubscriptionGroupConfig) -> Result<(String, i32), Refusal> {
        let context = &self.context;
        let topic = retry_topic(&group.group_name);
        let queues = group.retry_queue_nums;
        let made = context.topics.create_topic_in_send_message_back(
            &topic,
            queues,
            PERM_READ_WRITE,
            false,
            0,
            context.now(),
        );
        if made.changed {
            context.persist(&context.topics);
            context.registration.register_soon();
        }
        if made.config.perm & PERM_WRITE == 0 {
            let remark = format!("the topic[{topic}] sending message is forbidden");
            return Err(Refusal::new(response_code::NO_PERMISSION, remark));
        }
        Ok((topic, context.random_below(queues)))
    }

    fn destination(
        &self,
        header: &ConsumerSendMsgBackRequestHeader,
        version: i32,
        group: &SubscriptionGroupConfig,
        view: &MessageView<'_>,
    ) -> Result<Destination, Refusal> {
        let (topic, queue_id) = self.retry_queue(group)?;
        let asked = header.max_reconsume_times.filter(|_| version >= mq_version::CLIENT_MAX_RECONSUME_TIMES);
        let max = asked.unwrap_or(group.retry_max_times);
        if view.reconsume_times >= max || header.delay_level < 0 {
            let topic = dlq_topic(&group.group_name);
            make_dead_letter_topic(&self.context, &topic);
            return Ok(Destination { topic, queue_id: 0, level: None });
        }
        let level = match header.delay_level {
            0 => view.reconsume_times.saturating_add(FIRST_RETRY_LEVEL),
            level => level,
        };
        Ok(Destination { topic, queue_id, level: Some(level) })
    }

    fn put_again(&self, view: &MessageView<'_>, destination: Destination) -> Result<PutTicket, Refusal> {
        let Destination { mut topic, mut queue_id, level } = destination;
        let mut properties = Properties::parse(view.properties);
        if properties.get(names::RETRY_TOPIC).is_none() {
            properties.set(names::RETRY_TOPIC, view.topic);
        }
        properties.set(names::WAIT_STORE_MSG_OK, "false");
        if properties.get(names::ORIGIN_MESSAGE_ID).is_none() {
            let phy_offset = u64::try_from(view.physical_offset).unwrap_or(0);
            properties.set(names::ORIGIN_MESSAGE_ID, &message_id::encode(&view.store_host, phy_offset));
        }
        match level {
            Some(level) => properties.set(names::DELAY_TIME_LEVEL, &level.to_string()),
            None => {
                properties.remove(names::DELAY_TIME_LEVEL);
            }
        }
        schedule::redirect_delayed(&self.context.delay_levels, &mut properties, &mut topic, &mut queue_id)?;
        let properties = properties.encode();
        Ok(self.context.store.put(&Message {
            topic: &topic,
            queue_id,
            flag: view.flag,
            sys_flag: view.sys_flag
                & !store_core::sys_flag::BORN_HOST_V6
                & !store_core::sys_flag::STORE_HOST_V6,
            born_timestamp: view.born_timestamp,
            born_host: view.born_host,
            store_host: self.context.store_host,
            reconsume_times: view.reconsume_times.saturating_add(1),
            prepared_transaction_offset: 0,
            body: view.body,
            properties: &properties,
        }))
    }
}

impl Processor for ConsumerSendMsgBackProcessor {
    fn process(&self, _channel: &Arc<Channel>, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let header: ConsumerSendMsgBackRequestHeader = request.decode_header()?;
        let group = self.group(&header.group)?;
        let config = &self.context.config;
        if config.broker_permission & PERM_WRITE == 0 {
            let remark = format!("the broker[{}] sending message is forbidden", config.broker_ip1);
            return Err(Refusal::new(response_code::NO_PERMISSION, remark));
        }
        if group.retry_queue_nums <= 0 {
            return Ok(success(request).into());
        }
        let record =
            u64::try_from(header.offset).ok().and_then(|offset| self.context.store.message_at(offset));
        let missing = || {
            let remark = format!("look message by offset failed, {}", header.offset);
            Refusal::new(response_code::SYSTEM_ERROR, remark)
        };
        let record = record.ok_or_else(missing)?;
        let Ok(Decoded::Record(view)) = decode(&record, false) else { return Err(missing()) };
        let destination = self.destination(&header, request.version, &group, &view)?;
        let ticket = self.put_again(&view, destination)?;
        let response = success(request);
        if ticket.is_done() {
            return Ok(answer(response, ticket.wait()).into());
        }
        Ok(Reply::later(async move { answer(response, wait_for(ticket).await) }))
    }
}

fn answer(mut response: RemotingCommand, result: PutResult) -> RemotingCommand {
    if !result.is_stored() {
        response.code = response_code::SYSTEM_ERROR;
        response.remark = Some(result.remark.unwrap_or_else(|| format!("{:?}", result.status)));
    }
    response
}
