//! `GET_MAX_OFFSET`, `GET_MIN_OFFSET`, `SEARCH_OFFSET_BY_TIMESTAMP`, `GET_EARLIEST_MSG_STORETIME`. An unknown queue is an
//! empty one: clients do not look at the code.

use crate::broker_context::BrokerContext;
use crate::processor::{Processor, Refusal, success};
use crate::remoting::headers::{
    GetMaxOffsetRequestHeader, OffsetResponseHeader, QueueRequestHeader, SearchOffsetRequestHeader,
    TimestampResponseHeader,
};
use crate::remoting::{Channel, RemotingCommand, Reply, request_code};
use std::sync::Arc;
use store_core::BoundaryType;

/// The processor.
pub struct QueueOffsetProcessor {
    context: Arc<BrokerContext>,
}

impl QueueOffsetProcessor {
    /// A processor over the broker's parts.
    pub fn new(context: &Arc<BrokerContext>) -> Self {
        Self { context: Arc::clone(context) }
    }

    fn max(&self, request: &RemotingCommand) -> Result<u64, Refusal> {
        let header: GetMaxOffsetRequestHeader = request.decode_header()?;
        Ok(self.context.store.offsets(&header.topic, header.queue_id).max)
    }

    fn min(&self, request: &RemotingCommand) -> Result<u64, Refusal> {
        let header: QueueRequestHeader = request.decode_header()?;
        Ok(self.context.store.offsets(&header.topic, header.queue_id).min)
    }

    fn by_time(&self, request: &RemotingCommand) -> Result<u64, Refusal> {
        let header: SearchOffsetRequestHeader = request.decode_header()?;
        let upper = header.boundary_type.is_some_and(|boundary| boundary.eq_ignore_ascii_case("upper"));
        let boundary = if upper { BoundaryType::Upper } else { BoundaryType::Lower };
        Ok(self.context.store.offset_by_time(&header.topic, header.queue_id, header.timestamp, boundary))
    }

    fn earliest(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let header: QueueRequestHeader = request.decode_header()?;
        let store = &self.context.store;
        let min = store.offsets(&header.topic, header.queue_id).min;
        let timestamp = store.store_time(&header.topic, header.queue_id, min).unwrap_or(-1);
        Ok(success(request).with_header(&TimestampResponseHeader { timestamp }).into())
    }
}

impl Processor for QueueOffsetProcessor {
    fn process(&self, _channel: &Arc<Channel>, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let offset = match request.code {
            request_code::GET_MAX_OFFSET => self.max(request)?,
            request_code::GET_MIN_OFFSET => self.min(request)?,
            request_code::SEARCH_OFFSET_BY_TIMESTAMP => self.by_time(request)?,
            _ => return self.earliest(request),
        };
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        Ok(success(request).with_header(&OffsetResponseHeader { offset }).into())
    }
}
