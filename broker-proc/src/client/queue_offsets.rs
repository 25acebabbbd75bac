//! Questions about the offsets of one queue.

use store_core::UnixMillis;

use super::answer::Answer;
use super::{CALL_TIMEOUT, Client, ClientError};
use crate::remoting::headers::{
    GetMaxOffsetRequestHeader, OffsetResponseHeader, QueryConsumerOffsetRequestHeader,
    QueryConsumerOffsetResponseHeader, QueueRequestHeader, SearchOffsetRequestHeader,
    UpdateConsumerOffsetRequestHeader,
};
use crate::remoting::protocol::MessageQueue;
use crate::remoting::{CommandHeader, RemotingCommand, request_code, response_code};

impl Client {
    /// Offset behind the last message of a queue.
    ///
    /// # Errors
    ///
    /// [`ClientError`] when the broker cannot be asked or refuses.
    pub async fn max_offset(&self, queue: &MessageQueue) -> Result<i64, ClientError> {
        let header = GetMaxOffsetRequestHeader {
            topic: queue.topic.clone(),
            queue_id: queue.queue_id,
            ..GetMaxOffsetRequestHeader::default()
        };
        self.offset(queue, request_code::GET_MAX_OFFSET, &header).await
    }

    /// Offset of the first message that a queue still has.
    ///
    /// # Errors
    ///
    /// As [`Client::max_offset`].
    pub async fn min_offset(&self, queue: &MessageQueue) -> Result<i64, ClientError> {
        let header = QueueRequestHeader { topic: queue.topic.clone(), queue_id: queue.queue_id };
        self.offset(queue, request_code::GET_MIN_OFFSET, &header).await
    }

    /// Offset of the first message of a queue that was stored at `time` or later.
    ///
    /// # Errors
    ///
    /// As [`Client::max_offset`].
    pub async fn offset_at(&self, queue: &MessageQueue, time: UnixMillis) -> Result<i64, ClientError> {
        let header = SearchOffsetRequestHeader {
            topic: queue.topic.clone(),
            queue_id: queue.queue_id,
            timestamp: time,
            boundary_type: None,
        };
        self.offset(queue, request_code::SEARCH_OFFSET_BY_TIMESTAMP, &header).await
    }

    /// Offset that a group has committed for a queue; `None` when it has not yet.
    ///
    /// # Errors
    ///
    /// As [`Client::max_offset`].
    pub async fn committed_offset(
        &self,
        group: &str,
        queue: &MessageQueue,
    ) -> Result<Option<i64>, ClientError> {
        let header = QueryConsumerOffsetRequestHeader {
            consumer_group: group.to_owned(),
            topic: queue.topic.clone(),
            queue_id: queue.queue_id,
            set_zero_if_not_found: Some(false),
        };
        let command = RemotingCommand::request_with(request_code::QUERY_CONSUMER_OFFSET, &header);
        let addr = self.broker_address(queue).await?;
        let answer = self.ask(&addr, command, CALL_TIMEOUT).await?;
        if answer.code() == response_code::QUERY_NOT_FOUND {
            return Ok(None);
        }
        let header: QueryConsumerOffsetResponseHeader = answer.success()?.header()?;
        Ok(Some(header.offset))
    }

    /// Commits the offset of a group for a queue: everything before it is consumed.
    ///
    /// # Errors
    ///
    /// As [`Client::max_offset`].
    pub async fn commit_offset(
        &self,
        group: &str,
        queue: &MessageQueue,
        offset: i64,
    ) -> Result<(), ClientError> {
        let header = UpdateConsumerOffsetRequestHeader {
            consumer_group: group.to_owned(),
            topic: queue.topic.clone(),
            queue_id: Some(queue.queue_id),
            commit_offset: Some(offset),
        };
        let command = RemotingCommand::request_with(request_code::UPDATE_CONSUMER_OFFSET, &header);
        let addr = self.broker_address(queue).await?;
        self.ask(&addr, command, CALL_TIMEOUT).await?.success().map(drop)
    }

    async fn offset<H: CommandHeader>(
        &self,
        queue: &MessageQueue,
        code: i32,
        header: &H,
    ) -> Result<i64, ClientError> {
        let addr = self.broker_address(queue).await?;
        let answer: Answer<'_> =
            self.ask(&addr, RemotingCommand::request_with(code, header), CALL_TIMEOUT).await?.success()?;
        // A queue that was never written has the minimum −1.
        Ok(answer.header::<OffsetResponseHeader>()?.offset.max(0))
    }

    /// Address of the broker of a queue.
    ///
    /// # Errors
    ///
    /// [`ClientError::NoRoute`] and [`ClientError::NoQueue`], and when no name server answers.
    pub(super) async fn broker_address(&self, queue: &MessageQueue) -> Result<String, ClientError> {
        let route = self.route(&queue.topic).await?.ok_or_else(|| self.no_route(&queue.topic))?;
        let address = route.address(&queue.broker_name).map(str::to_owned);
        address.ok_or_else(|| ClientError::NoQueue {
            topic: queue.topic.clone(),
            what: format!("address of {}", queue.broker_name),
        })
    }
}
