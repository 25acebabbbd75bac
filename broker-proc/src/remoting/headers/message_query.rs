//! Finding messages: `QUERY_MESSAGE`, `VIEW_MESSAGE_BY_ID`.

use super::remoting_header;

/// Field beside [`QueryMessageRequestHeader`]: `true` when the key is a unique key.
pub const UNIQUE_KEY_QUERY: &str = "_UNIQUE_KEY_QUERY";

remoting_header! {
    /// `QUERY_MESSAGE`.
    pub struct QueryMessageRequestHeader {
        /// Topic to look in.
        "topic" topic: String,
        /// Key to look for.
        "key" key: String,
        /// Most messages wanted.
        "maxNum" max_num: i32,
        /// Earliest store time, in milliseconds since 1970.
        "beginTimestamp" begin_timestamp: i64,
        /// Latest store time, in milliseconds since 1970.
        "endTimestamp" end_timestamp: i64,
        /// `K` for a message key, `U` for a unique key; newer clients.
        "indexType" index_type: Option<String>,
    }
}

remoting_header! {
    /// Answer to `QUERY_MESSAGE`, also when nothing was found.
    pub struct QueryMessageResponseHeader {
        /// Store time of the last indexed message.
        "indexLastUpdateTimestamp" index_last_update_timestamp: i64,
        /// Position of the last indexed message.
        "indexLastUpdatePhyoffset" index_last_update_phyoffset: i64,
    }
}

remoting_header! {
    /// `VIEW_MESSAGE_BY_ID`.
    pub struct ViewMessageRequestHeader {
        /// Position of the message in the commit log.
        "offset" offset: i64,
        /// Topic of the message; newer clients.
        "topic" topic: Option<String>,
    }
}
