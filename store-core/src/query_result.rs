//! What a key query found.

use store_logic::MappedSlice;

/// Records that carry a key.
#[derive(Debug, Default)]
pub struct QueryResult {
    /// Records, oldest first.
    pub messages: Vec<MappedSlice>,
    /// Store time of the newest entry of the index.
    pub index_last_update_timestamp: i64,
    /// Record of the newest entry of the index.
    pub index_last_update_phy_offset: u64,
}
