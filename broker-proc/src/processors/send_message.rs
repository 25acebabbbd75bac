//! `SEND_MESSAGE`, `SEND_MESSAGE_V2`, `SEND_BATCH_MESSAGE`: the checks in Apache's order, then the store.

mod answer;
mod batch;
mod topic;

pub use batch::{BatchEntry, decode_batch};

use crate::broker_context::BrokerContext;
use crate::processor::{Processor, Refusal, success};
use crate::remoting::headers::SendMessageRequestHeader;
use crate::remoting::protocol::{TopicConfig, TopicFilterType};
use crate::remoting::{Channel, RemotingCommand, Reply, response_code};
use crate::{schedule, transaction};
pub(crate) use answer::{code_of, wait_for};
pub(crate) use topic::{find_topic, make_dead_letter_topic};

use answer::Answering;
use bytes::Bytes;
use std::net::SocketAddr;
use std::sync::Arc;
use store_core::properties::{Properties, names};
use store_core::{Message, PutTicket, sys_flag};

/// Names that begin so are for the way only and never stored.
const TRANSIENT_PREFIX: &str = "__RMQ.TRANSIENT.";

/// The processor.
pub struct SendMessageProcessor {
    context: Arc<BrokerContext>,
}

/// A send that has passed the checks.
struct Incoming {
    header: SendMessageRequestHeader,
    topic: Arc<TopicConfig>,
    body: Bytes,
    peer: SocketAddr,
    /// Version of the client.
    version: i32,
}

impl SendMessageProcessor {
    /// A processor over the broker's parts.
    pub fn new(context: &Arc<BrokerContext>) -> Self {
        Self { context: Arc::clone(context) }
    }
}

impl Processor for SendMessageProcessor {
    fn process(&self, channel: &Arc<Channel>, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let header = SendMessageRequestHeader::decode_for(request.code, request.fields())?;
        let context = &self.context;
        let found = topic::find_topic(context, &header, channel.peer())?;
        let incoming = Incoming {
            header,
            topic: found.config,
            body: request.body.to_bytes(),
            peer: channel.peer(),
            version: request.version,
        };
        let answering = Answering::new(context, success(request));
        if !found.changed {
            return Ok(store(context, incoming, answering));
        }
        // A new topic is known to the name servers before the client hears of it.
        context.persist(&context.topics);
        let context = Arc::clone(context);
        Ok(Reply::later(async move {
            context.registration.register(&context).await;
            match store(&context, incoming, answering) {
                Reply::Now(answer) => answer,
                Reply::Later(answer) => answer.await,
                Reply::None => unreachable!("every send has an answer"),
            }
        }))
    }
}

/// Puts the message or the batch, and answers when the store does.
fn store(context: &Arc<BrokerContext>, incoming: Incoming, mut answering: Answering) -> Reply {
    let put = if incoming.header.batch {
        batch::put(context, &incoming, &mut answering)
    } else {
        put_single(context, &incoming, &mut answering)
    };
    match put {
        Ok(ticket) => answering.when_stored(ticket),
        Err(refusal) => answering.refuse(refusal).into(),
    }
}

fn put_single(
    context: &BrokerContext,
    incoming: &Incoming,
    answering: &mut Answering,
) -> Result<PutTicket, Refusal> {
    let header = &incoming.header;
    let mut properties = broker_properties(context, header.properties.as_deref().unwrap_or(""));
    let mut target = topic::Target::of(context, incoming)?;
    target.divert_exhausted_retry(context, incoming, &mut properties)?;
    if properties.get(names::UNIQ_CLIENT_MESSAGE_ID_KEYIDX).is_none() {
        properties.set(names::UNIQ_CLIENT_MESSAGE_ID_KEYIDX, &context.new_unique_id());
    }
    topic::check_compaction(&incoming.topic, &properties)?;
    let half = topic::check_transaction(context, &properties, header.reconsume_times)?;
    answering.transaction_id = properties.get(names::UNIQ_CLIENT_MESSAGE_ID_KEYIDX).map(str::to_owned);
    answering.queue_id = target.queue_id;
    if half {
        // A delay counts from the commit on; that it can be served is looked at now.
        let mut at_commit = (properties.clone(), target.topic.clone(), target.queue_id);
        schedule::redirect_delayed(
            &context.delay_levels,
            &mut at_commit.0,
            &mut at_commit.1,
            &mut at_commit.2,
        )?;
        transaction::redirect_half(&mut properties, &mut target.topic, &mut target.queue_id);
    } else {
        schedule::redirect_delayed(
            &context.delay_levels,
            &mut properties,
            &mut target.topic,
            &mut target.queue_id,
        )?;
    }
    topic::check_length(&target.topic)?;
    let properties = properties.encode();
    Ok(context.store.put(&Message {
        topic: &target.topic,
        queue_id: target.queue_id,
        flag: header.flag,
        sys_flag: sys_flag_of(header, &incoming.topic),
        born_timestamp: header.born_timestamp,
        born_host: incoming.peer,
        store_host: context.store_host,
        reconsume_times: header.reconsume_times,
        prepared_transaction_offset: 0,
        body: &incoming.body,
        properties: &properties,
    }))
}

/// The client's properties as they are stored: the broker's own are put in, those that must not stay taken out.
fn broker_properties(context: &BrokerContext, text: &str) -> Properties {
    let mut properties = Properties::parse(text);
    properties.remove(names::POP_CK);
    let transient: Vec<String> = properties
        .iter()
        .filter(|(name, _)| name.starts_with(TRANSIENT_PREFIX))
        .map(|(name, _)| name.to_owned())
        .collect();
    for name in transient {
        properties.remove(&name);
    }
    properties.set(names::MSG_REGION, &context.config.region_id);
    properties.set(names::TRACE_SWITCH, if context.config.trace_on { "true" } else { "false" });
    properties.set(names::CLUSTER, &context.config.broker_cluster_name);
    properties
}

/// The client's bits; the transaction bits and the IPv6 bits are the broker's to set.
pub(crate) fn sys_flag_of(header: &SendMessageRequestHeader, topic: &TopicConfig) -> i32 {
    let clients =
        header.sys_flag & !sys_flag::TRANSACTION_MASK & !sys_flag::BORN_HOST_V6 & !sys_flag::STORE_HOST_V6;
    if topic.topic_filter_type == TopicFilterType::MultiTag {
        clients | sys_flag::MULTI_TAGS
    } else {
        clients
    }
}

/// Answer to a refused store status.
fn illegal(remark: impl Into<String>) -> Refusal {
    Refusal::new(response_code::MESSAGE_ILLEGAL, remark)
}
