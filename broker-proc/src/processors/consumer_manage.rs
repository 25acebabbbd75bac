//! `GET_CONSUMER_LIST_BY_GROUP`, `QUERY_CONSUMER_OFFSET`, `UPDATE_CONSUMER_OFFSET`.

use crate::broker_context::BrokerContext;
use crate::consumer_offset_manager::CommitOutcome;
use crate::processor::{Processor, Refusal, success};
use crate::remoting::headers::{
    ConsumerGroupRequestHeader, QueryConsumerOffsetRequestHeader, QueryConsumerOffsetResponseHeader,
    UpdateConsumerOffsetRequestHeader,
};
use crate::remoting::protocol::GetConsumerListByGroupResponseBody;
use crate::remoting::{Channel, RemotingCommand, Reply, request_code, response_code};
use std::sync::Arc;

/// The processor.
pub struct ConsumerManageProcessor {
    context: Arc<BrokerContext>,
}

impl ConsumerManageProcessor {
    /// A processor over the broker's parts.
    pub fn new(context: &Arc<BrokerContext>) -> Self {
        Self { context: Arc::clone(context) }
    }

    fn consumer_list(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let header: ConsumerGroupRequestHeader = request.decode_header()?;
        let consumer_id_list = self.context.consumers.consumer_ids(&header.consumer_group);
        if consumer_id_list.is_empty() {
            let remark = format!("no consumer for this group, {}", header.consumer_group);
            return Err(Refusal::new(response_code::SYSTEM_ERROR, remark));
        }
        Ok(success(request).with_json_body(&GetConsumerListByGroupResponseBody { consumer_id_list })?.into())
    }

    fn query_offset(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let header: QueryConsumerOffsetRequestHeader = request.decode_header()?;
        let stored =
            self.context.offsets.query_offset(&header.consumer_group, &header.topic, header.queue_id);
        let answer =
            |offset| Ok(success(request).with_header(&QueryConsumerOffsetResponseHeader { offset }).into());
        if let Some(offset) = stored {
            return answer(offset);
        }
        let not_found = |remark: &str| Err(Refusal::new(response_code::QUERY_NOT_FOUND, remark));
        if header.set_zero_if_not_found == Some(false) {
            return not_found("Not found, do not set to zero, maybe this group boot first");
        }
        // A queue that still has its first message: a new group begins there, whatever it would choose itself.
        let range = self.context.store.offsets(&header.topic, header.queue_id);
        if range.min == 0 && range.max > 0 {
            return answer(0);
        }
        not_found("Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first")
    }

    fn update_offset(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let header: UpdateConsumerOffsetRequestHeader = request.decode_header()?;
        let context = &self.context;
        if context.groups.get(&header.consumer_group).is_none() {
            let remark = format!("Group {} not exist!", header.consumer_group);
            return Err(Refusal::new(response_code::SUBSCRIPTION_GROUP_NOT_EXIST, remark));
        }
        if context.topics.select_topic_config(&header.topic).is_none() {
            let remark = format!("Topic {} not exist!", header.topic);
            return Err(Refusal::new(response_code::TOPIC_NOT_EXIST, remark));
        }
        let missing =
            |field: &str| Refusal::new(response_code::INVALID_PARAMETER, format!("{field} is null"));
        let queue_id = header.queue_id.ok_or_else(|| missing("queueId"))?;
        let offset = header.commit_offset.ok_or_else(|| missing("commitOffset"))?;
        let outcome = context.offsets.commit_offset(
            &header.consumer_group,
            &header.topic,
            queue_id,
            offset,
            context.now(),
        );
        let answer = success(request);
        Ok(match outcome {
            CommitOutcome::DroppedByReset => answer.with_remark("Offset has been previously reset"),
            CommitOutcome::Stored | CommitOutcome::Ignored => answer,
        }
        .into())
    }
}

impl Processor for ConsumerManageProcessor {
    fn process(&self, _channel: &Arc<Channel>, request: &RemotingCommand) -> Result<Reply, Refusal> {
        match request.code {
            request_code::GET_CONSUMER_LIST_BY_GROUP => self.consumer_list(request),
            request_code::QUERY_CONSUMER_OFFSET => self.query_offset(request),
            _ => self.update_offset(request),
        }
    }
}
