//! `QUERY_MESSAGE` (by key) and `VIEW_MESSAGE_BY_ID` (by log position).

use crate::broker_context::BrokerContext;
use crate::processor::{Processor, Refusal, success};
use crate::remoting::headers::{
    QueryMessageRequestHeader, QueryMessageResponseHeader, UNIQUE_KEY_QUERY, ViewMessageRequestHeader,
};
use crate::remoting::{Body, Channel, RemotingCommand, Reply, request_code, response_code};
use bytes::Bytes;
use std::sync::Arc;
use store_core::QueryRequest;

/// The processor.
pub struct QueryMessageProcessor {
    context: Arc<BrokerContext>,
}

impl QueryMessageProcessor {
    /// A processor over the broker's parts.
    pub fn new(context: &Arc<BrokerContext>) -> Self {
        Self { context: Arc::clone(context) }
    }

    fn query(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let header: QueryMessageRequestHeader = request.decode_header()?;
        let unique = request.field(UNIQUE_KEY_QUERY).is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let default = self.context.config.default_query_max_num as usize;
        let asked = usize::try_from(header.max_num).unwrap_or(0);
        let found = self.context.store.query(&QueryRequest {
            topic: &header.topic,
            key: &header.key,
            max_messages: if unique { default } else { asked },
            begin: header.begin_timestamp,
            end: header.end_timestamp,
        });
        if found.messages.is_empty() {
            let remark = "can not find message, maybe time range not correct";
            let answer = Refusal::new(response_code::QUERY_NOT_FOUND, remark).answer(request);
            return Ok(answer.with_header(&QueryMessageResponseHeader::default()).into());
        }
        let fields = QueryMessageResponseHeader {
            index_last_update_timestamp: found.index_last_update_timestamp,
            index_last_update_phyoffset: i64::try_from(found.index_last_update_phy_offset)
                .unwrap_or(i64::MAX),
        };
        let records = found.messages.into_iter().map(Bytes::from_owner).collect();
        Ok(success(request).with_header(&fields).with_body(Body::from_parts(records)).into())
    }

    fn view(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let header: ViewMessageRequestHeader = request.decode_header()?;
        let found =
            u64::try_from(header.offset).ok().and_then(|offset| self.context.store.message_at(offset));
        let record = found.ok_or_else(|| {
            let remark = format!("can not find message by the offset, {}", header.offset);
            Refusal::new(response_code::SYSTEM_ERROR, remark)
        })?;
        Ok(success(request).with_body(Bytes::from_owner(record)).into())
    }
}

impl Processor for QueryMessageProcessor {
    fn process(&self, _channel: &Arc<Channel>, request: &RemotingCommand) -> Result<Reply, Refusal> {
        match request.code {
            request_code::VIEW_MESSAGE_BY_ID => self.view(request),
            _ => self.query(request),
        }
    }
}
