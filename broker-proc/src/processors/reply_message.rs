//! `SEND_REPLY_MESSAGE`, `SEND_REPLY_MESSAGE_V2`: a consumer answers a message, and its sender gets the answer pushed.

use super::send_message::{find_topic, sys_flag_of, wait_for};
use crate::broker_context::BrokerContext;
use crate::processor::{Processor, Refusal, success};
use crate::remoting::headers::{
    ReplyMessageRequestHeader, SendMessageRequestHeader, SendMessageResponseHeader,
};
use crate::remoting::{Channel, RemotingCommand, Reply, request_code, response_code};
use bytes::Bytes;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use store_core::properties::{Properties, names};
use store_core::{Message, PutResult, PutTicket, message_id};

/// Longest wait for the asking client to take the reply; Apache's.
const PUSH_TIMEOUT: Duration = Duration::from_secs(10);
/// Property: client id of the one who asked.
const REPLY_TO_CLIENT: &str = "REPLY_TO_CLIENT";
/// Property: when the broker pushed the reply.
const PUSH_REPLY_TIME: &str = "PUSH_REPLY_TIME";

/// The processor.
pub struct ReplyMessageProcessor {
    context: Arc<BrokerContext>,
}

/// A reply that has passed the checks.
struct IncomingReply {
    header: SendMessageRequestHeader,
    properties: Properties,
    body: Bytes,
    born_host: SocketAddr,
    /// Queue it is stored in.
    queue_id: i32,
    sys_flag: i32,
}

impl ReplyMessageProcessor {
    /// A processor over the broker's parts.
    pub fn new(context: &Arc<BrokerContext>) -> Self {
        Self { context: Arc::clone(context) }
    }

    fn incoming(&self, channel: &Channel, request: &RemotingCommand) -> Result<IncomingReply, Refusal> {
        let context = &self.context;
        let header = SendMessageRequestHeader::decode_for(request.code, request.fields())?;
        let topic = find_topic(context, &header, channel.peer())?;
        if topic.changed {
            context.persist(&context.topics);
            context.registration.register_soon();
        }
        let mut properties = Properties::parse(header.properties.as_deref().unwrap_or(""));
        properties.remove(names::POP_CK);
        properties.set(names::MSG_REGION, &context.config.region_id);
        properties.set(names::TRACE_SWITCH, &context.config.trace_on.to_string());
        let queue_id = match header.queue_id {
            negative if negative < 0 => context.random_below(topic.config.write_queue_nums),
            queue_id => queue_id,
        };
        Ok(IncomingReply {
            sys_flag: sys_flag_of(&header, &topic.config),
            properties,
            body: request.body.to_bytes(),
            born_host: channel.peer(),
            queue_id,
            header,
        })
    }

    /// Stores the reply, also when it cannot be pushed.
    fn put(&self, reply: &IncomingReply) -> Option<PutTicket> {
        if !self.context.config.store_reply_message_enable {
            return None;
        }
        let properties = reply.properties.encode();
        Some(self.context.store.put(&Message {
            topic: &reply.header.topic,
            queue_id: reply.queue_id,
            flag: reply.header.flag,
            sys_flag: reply.sys_flag,
            born_timestamp: reply.header.born_timestamp,
            born_host: reply.born_host,
            store_host: self.context.store_host,
            reconsume_times: reply.header.reconsume_times,
            prepared_transaction_offset: 0,
            body: &reply.body,
            properties: &properties,
        }))
    }
}

impl Processor for ReplyMessageProcessor {
    fn process(&self, channel: &Arc<Channel>, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let reply = self.incoming(channel, request)?;
        let stored = self.put(&reply);
        let mut response = success(request)
            .with_field(names::MSG_REGION, &self.context.config.region_id)
            .with_field(names::TRACE_SWITCH, &self.context.config.trace_on.to_string());
        let context = Arc::clone(&self.context);
        Ok(Reply::later(async move {
            let pushed = push(&context, &reply).await;
            let stored = match stored {
                Some(ticket) => Some(wait_for(ticket).await),
                None => None,
            };
            if let Some(fields) = response_header(&context, &reply, stored, pushed.is_ok()) {
                response = response.with_header(&fields);
            }
            if let Err(remark) = pushed {
                response.code = response_code::SYSTEM_ERROR;
                response.remark = Some(remark);
            }
            response
        }))
    }
}

/// Pushes the reply to the client that asked, and waits until it has it.
///
/// # Errors
///
/// Why it has not, as Apache says it.
async fn push(context: &BrokerContext, reply: &IncomingReply) -> Result<(), String> {
    let Some(client_id) = reply.properties.get(REPLY_TO_CLIENT) else {
        return Err(format!("reply message properties[{REPLY_TO_CLIENT}] is null"));
    };
    let Some(channel) = context.producers.find_client(client_id) else {
        return Err(format!("push reply message fail, channel of <{client_id}> not found."));
    };
    match channel.call(push_request(context, reply), PUSH_TIMEOUT).await {
        Ok(answer) if answer.code == response_code::SUCCESS => Ok(()),
        failed => {
            tracing::warn!(?failed, "a reply was not taken by the client that asked");
            Err(format!("push reply message to {client_id} fail."))
        }
    }
}

fn push_request(context: &BrokerContext, reply: &IncomingReply) -> RemotingCommand {
    let now = context.now();
    let mut properties = reply.properties.clone();
    properties.set(PUSH_REPLY_TIME, &now.to_string());
    let header = &reply.header;
    let push = ReplyMessageRequestHeader {
        producer_group: header.producer_group.clone(),
        topic: header.topic.clone(),
        default_topic: header.default_topic.clone(),
        default_topic_queue_nums: header.default_topic_queue_nums,
        queue_id: header.queue_id,
        sys_flag: header.sys_flag,
        born_timestamp: header.born_timestamp,
        flag: header.flag,
        properties: Some(properties.encode()),
        reconsume_times: header.reconsume_times,
        unit_mode: header.unit_mode,
        born_host: reply.born_host.to_string(),
        store_host: context.store_host.to_string(),
        store_timestamp: now,
    };
    RemotingCommand::request_with(request_code::PUSH_REPLY_MESSAGE_TO_CLIENT, &push)
        .with_body(reply.body.clone())
}

/// Where the reply is stored; placeholders when it was only pushed. What the store says changes neither code nor remark.
fn response_header(
    context: &BrokerContext,
    reply: &IncomingReply,
    stored: Option<PutResult>,
    pushed: bool,
) -> Option<SendMessageResponseHeader> {
    if let Some(refused) = stored.as_ref().filter(|stored| !stored.is_stored()) {
        tracing::warn!(status = ?refused.status, remark = refused.remark, "a reply was not stored");
    }
    let (msg_id, queue_offset) = match stored.and_then(|stored| stored.appended) {
        Some(appended) => (
            message_id::encode(&context.store_host, appended.wrote_offset),
            i64::try_from(appended.logics_offset).unwrap_or(i64::MAX),
        ),
        None if pushed => ("0".to_owned(), 0),
        None => return None,
    };
    Some(SendMessageResponseHeader { msg_id, queue_id: reply.queue_id, queue_offset, ..Default::default() })
}
