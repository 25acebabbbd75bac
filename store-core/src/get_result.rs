//! What a read found.

use store_logic::MappedSlice;

/// Messages of one queue, from some offset on.
#[derive(Debug)]
pub struct GetResult {
    /// Why this much.
    pub status: GetMessageStatus,
    /// Records in queue order, as stored.
    pub messages: Vec<MappedSlice>,
    /// Messages in them: more than records where there are inner batches.
    pub message_count: u64,
    /// Sum of their bytes.
    pub total_bytes: u64,
    /// Where to read next.
    pub next_begin_offset: u64,
    /// Smallest offset of the queue.
    pub min_offset: u64,
    /// Offset behind the last message of the queue.
    pub max_offset: u64,
    /// The data lies so far behind the end of the log that a replica should serve it.
    pub suggest_pulling_from_slave: bool,
}

/// Status of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GetMessageStatus {
    /// There are messages.
    Found,
    /// Messages were looked at, none passed the filter.
    NoMatchedMessage,
    /// The record's log file has just been deleted.
    MessageWasRemoving,
    /// A place of the queue without units.
    OffsetFoundNull,
    /// Behind the end by more than one.
    OffsetOverflowBadly,
    /// Exactly at the end: wait for the next message.
    OffsetOverflowOne,
    /// Before the first message held.
    OffsetTooSmall,
    /// No such queue.
    NoMatchedLogicQueue,
    /// The queue never held a message.
    NoMessageInQueue,
}

impl GetMessageStatus {
    /// Apache's name of it, which answers carry as remark.
    pub fn name(self) -> &'static str {
        match self {
            Self::Found => "FOUND",
            Self::NoMatchedMessage => "NO_MATCHED_MESSAGE",
            Self::MessageWasRemoving => "MESSAGE_WAS_REMOVING",
            Self::OffsetFoundNull => "OFFSET_FOUND_NULL",
            Self::OffsetOverflowBadly => "OFFSET_OVERFLOW_BADLY",
            Self::OffsetOverflowOne => "OFFSET_OVERFLOW_ONE",
            Self::OffsetTooSmall => "OFFSET_TOO_SMALL",
            Self::NoMatchedLogicQueue => "NO_MATCHED_LOGIC_QUEUE",
            Self::NoMessageInQueue => "NO_MESSAGE_IN_QUEUE",
        }
    }
}
