//! `RESUME_CHECK_HALF_MESSAGE`: a half message that was given up is checked again.

use super::end_transaction::answer;
use super::send_message::wait_for;
use crate::broker_context::BrokerContext;
use crate::processor::{Processor, Refusal, success};
use crate::remoting::headers::ResumeCheckHalfMessageRequestHeader;
use crate::remoting::{Channel, RemotingCommand, Reply, response_code};
use crate::topic_validator::{RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC, RMQ_SYS_TRANS_HALF_TOPIC};
use crate::transaction::{HALF_QUEUE, HalfMessage, property_names};
use std::sync::Arc;
use store_core::message_id;

/// The processor.
pub struct ResumeCheckHalfMessageProcessor {
    context: Arc<BrokerContext>,
}

impl ResumeCheckHalfMessageProcessor {
    /// A processor over the broker's parts.
    pub fn new(context: &Arc<BrokerContext>) -> Self {
        Self { context: Arc::clone(context) }
    }
}

impl Processor for ResumeCheckHalfMessageProcessor {
    /// Only what was given up is taken: a half message that is still checked would become two transactions.
    fn process(&self, _channel: &Arc<Channel>, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let header: ResumeCheckHalfMessageRequestHeader = request.decode_header()?;
        let id = header.msg_id.unwrap_or_default();
        let (_, position) = message_id::decode(&id)
            .ok_or_else(|| refused(format!("msgId: expected an offset id, found {id:?}")))?;
        let record = self.context.store.message_at(position);
        let given_up = record
            .as_deref()
            .and_then(|record| HalfMessage::read_from(record, RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC));
        let given_up = given_up.ok_or_else(|| {
            refused(format!("msgId {id}: no message of {RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC} is there"))
        })?;
        let mut properties = given_up.properties().clone();
        properties.set(property_names::TRANSACTION_CHECK_TIMES, "0");
        // The half messages it was a copy of are done with.
        properties.remove(property_names::TRANSACTION_PREPARED_QUEUE_OFFSET);
        let properties = properties.encode();
        let store_host = self.context.store_host;
        let message = given_up.message(RMQ_SYS_TRANS_HALF_TOPIC, HALF_QUEUE, &properties, store_host);
        let ticket = self.context.store.put(&message);
        let response = success(request);
        Ok(Reply::later(async move { answer(response, wait_for(ticket).await) }))
    }
}

fn refused(remark: String) -> Refusal {
    Refusal::new(response_code::SYSTEM_ERROR, remark)
}
