/// Settings of the key index.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexConfig {
    /// Build index files (`messageIndexEnable`). Default true.
    pub message_index_enable: bool,
    /// Hash slots of one file (`maxHashSlotNum`). Default 5,000,000. Not stored in the file: must not change.
    pub max_hash_slot_num: u32,
    /// Entries of one file, entry 0 unused (`maxIndexNum`). Default 20,000,000. Not stored in the file: must not change.
    pub max_index_num: u32,
    /// Most log positions one key query returns (`maxMsgsNumBatch`). Default 64.
    pub max_msgs_num_batch: u32,
    /// Also index `topic#T#TAGS` as Apache 5.5.0 does (earlier releases write no such entry). Default true.
    pub index_tags: bool,
}

impl Default for IndexConfig {
    fn default() -> Self {
        Self {
            message_index_enable: true,
            max_hash_slot_num: 5_000_000,
            max_index_num: 20_000_000,
            max_msgs_num_batch: 64,
            index_tags: true,
        }
    }
}
