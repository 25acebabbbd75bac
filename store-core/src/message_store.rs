//! What a message store does, whichever engine is behind it.

use crate::get_result::GetResult;
use crate::put_ticket::PutTicket;
use crate::query_result::QueryResult;
use std::collections::BTreeMap;
use store_logic::MappedSlice;
use store_logic::consume_queue::BoundaryType;
use store_logic::message::Message;

/// A store of messages in queues. All calls may come from any thread at any time.
pub trait MessageStore: Send + Sync {
    /// Stores one message. The message is in the log when this returns, unless the ticket says otherwise; the ticket is
    /// answered when it is as durable as configured.
    fn put(&self, message: &Message<'_>) -> PutTicket;

    /// Stores messages of one topic and queue together: all or none, with consecutive offsets.
    fn put_batch(&self, messages: &[Message<'_>]) -> PutTicket;

    /// Reads a queue.
    fn get(&self, request: &GetRequest<'_>) -> GetResult;

    /// Finds messages by key or unique id.
    fn query(&self, request: &QueryRequest<'_>) -> QueryResult;

    /// The record at a log position (from an offset message id); `None` when no record begins there.
    fn message_at(&self, phy_offset: u64) -> Option<MappedSlice>;

    /// Smallest offset of a queue that can be read, and the offset its next message gets once it is visible.
    fn offsets(&self, topic: &str, queue_id: i32) -> QueueOffsets;

    /// Queue offset by store time; 0 for an unknown queue.
    fn offset_by_time(&self, topic: &str, queue_id: i32, timestamp: i64, boundary: BoundaryType) -> u64;

    /// Store time of the message at a queue offset; `None` when it is not there.
    fn store_time(&self, topic: &str, queue_id: i32, queue_offset: u64) -> Option<i64>;

    /// Place and filter code of the message at a queue offset, as its queue unit has them.
    fn queue_unit(
        &self,
        topic: &str,
        queue_id: i32,
        queue_offset: u64,
    ) -> Option<store_logic::consume_queue::Unit>;

    /// Forgets topics: their queues go, their records stay in the log until it expires. Returns the number of queues.
    ///
    /// # Errors
    ///
    /// Files that could not be deleted.
    fn delete_topics(&self, topics: &[&str]) -> Result<usize, store_logic::LogicError>;

    /// Topics that have a queue, in any order.
    fn topics(&self) -> Vec<String>;

    /// Lets expired log files go at any hour, for the next 20 rounds of cleaning (`deleteExpiredCommitLog`); asked again,
    /// the count begins anew.
    fn clean_by_hand(&self);

    /// How far the log reaches and how far it is durable.
    fn log_positions(&self) -> LogPositions;

    /// State in Apache's keys (`GET_BROKER_RUNTIME_INFO`).
    fn runtime_info(&self) -> BTreeMap<String, String>;

    /// Why a write would be refused now; `None` when it would not.
    fn write_refusal(&self) -> Option<String>;
}

/// Which part of a queue to read, and how much.
#[derive(Clone, Copy)]
pub struct GetRequest<'a> {
    /// Topic.
    pub topic: &'a str,
    /// Queue of the topic.
    pub queue_id: i32,
    /// First queue offset wanted.
    pub offset: i64,
    /// Most messages wanted.
    pub max_messages: u32,
    /// What passes; `None`: everything.
    pub filter: Option<&'a dyn MessageFilter>,
}

/// Decides which messages a read returns.
pub trait MessageFilter: Send + Sync {
    /// By the tag code of the queue unit, before the record is touched.
    fn matches_tags_code(&self, tags_code: i64) -> bool;

    /// By the record.
    fn matches_record(&self, _record: &[u8]) -> bool {
        true
    }
}

/// Which key to look for.
#[derive(Debug, Clone, Copy)]
pub struct QueryRequest<'a> {
    /// Topic.
    pub topic: &'a str,
    /// Key or unique id.
    pub key: &'a str,
    /// Most records wanted.
    pub max_messages: usize,
    /// Earliest store time.
    pub begin: i64,
    /// Latest store time.
    pub end: i64,
}

/// Positions in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogPositions {
    /// Behind the last record, which may not be readable yet.
    pub end: u64,
    /// Everything below is durable.
    pub durable: u64,
}

/// Range of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueOffsets {
    /// First offset that can be read.
    pub min: u64,
    /// Offset behind the last message that can be read.
    pub max: u64,
}
