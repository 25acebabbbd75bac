//! `LOCK_BATCH_MQ`, `UNLOCK_BATCH_MQ`: which orderly consumer holds which queue.

use crate::broker_context::BrokerContext;
use crate::processor::{Processor, Refusal, success};
use crate::remoting::protocol::{LockBatchRequestBody, LockBatchResponseBody};
use crate::remoting::{Channel, RemotingCommand, Reply, request_code};
use std::sync::Arc;

/// The processor.
pub struct QueueLockProcessor {
    context: Arc<BrokerContext>,
}

impl QueueLockProcessor {
    /// A processor over the broker's parts.
    pub fn new(context: &Arc<BrokerContext>) -> Self {
        Self { context: Arc::clone(context) }
    }
}

impl Processor for QueueLockProcessor {
    fn process(&self, _channel: &Arc<Channel>, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let body: LockBatchRequestBody = request.decode_body()?;
        let locks = &self.context.locks;
        if request.code == request_code::UNLOCK_BATCH_MQ {
            locks.unlock_batch(&body.consumer_group, &body.mq_set, &body.client_id);
            return Ok(success(request).into());
        }
        let lock_ok_mq_set =
            locks.try_lock_batch(&body.consumer_group, &body.mq_set, &body.client_id, self.context.now());
        Ok(success(request).with_json_body(&LockBatchResponseBody { lock_ok_mq_set })?.into())
    }
}
