//! Offsets of queues: `SEARCH_OFFSET_BY_TIMESTAMP`, `GET_MAX_OFFSET`, `GET_MIN_OFFSET`,
//! `GET_EARLIEST_MSG_STORETIME`.

use super::remoting_header;

remoting_header! {
    /// `SEARCH_OFFSET_BY_TIMESTAMP`.
    pub struct SearchOffsetRequestHeader {
        /// Topic of the queue.
        "topic" topic: String,
        /// Queue.
        "queueId" queue_id: i32,
        /// Store time to look for, in milliseconds since 1970.
        "timestamp" timestamp: i64,
        /// `LOWER` (default) or `UPPER`: which side of the time is wanted.
        "boundaryType" boundary_type: Option<String>,
    }
}

remoting_header! {
    /// `GET_MAX_OFFSET`.
    pub struct GetMaxOffsetRequestHeader {
        /// Topic of the queue.
        "topic" topic: String,
        /// Queue.
        "queueId" queue_id: i32,
        /// Sent by newer clients and ignored.
        "committed" committed: bool = true,
    }
}

remoting_header! {
    /// `GET_MIN_OFFSET` and `GET_EARLIEST_MSG_STORETIME`.
    pub struct QueueRequestHeader {
        /// Topic of the queue.
        "topic" topic: String,
        /// Queue.
        "queueId" queue_id: i32,
    }
}

remoting_header! {
    /// Answer to the first three. The Go client reads it without looking at the code.
    pub struct OffsetResponseHeader {
        /// The offset.
        "offset" offset: i64,
    }
}

remoting_header! {
    /// Answer to `GET_EARLIEST_MSG_STORETIME`.
    pub struct TimestampResponseHeader {
        /// Store time in milliseconds since 1970, −1 for an empty queue.
        "timestamp" timestamp: i64,
    }
}
