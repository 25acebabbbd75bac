/// How much one read may return. "In memory" means: not further behind the end of the log than
/// `access_message_in_memory_max_ratio` percent of the machine's memory.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadConfig {
    /// Bytes, hot data (`maxTransferBytesOnMessageInMemory`). Default 256 KiB.
    pub max_transfer_bytes_on_message_in_memory: u64,
    /// Messages, hot data (`maxTransferCountOnMessageInMemory`). Default 32.
    pub max_transfer_count_on_message_in_memory: u32,
    /// Bytes, cold data (`maxTransferBytesOnMessageInDisk`). Default 64 KiB.
    pub max_transfer_bytes_on_message_in_disk: u64,
    /// Messages, cold data (`maxTransferCountOnMessageInDisk`). Default 8.
    pub max_transfer_count_on_message_in_disk: u32,
    /// Percent of memory that counts as hot (`accessMessageInMemoryMaxRatio`). Default 40.
    pub access_message_in_memory_max_ratio: u32,
    /// Queue bytes one read may look through when nothing matches (`maxFilterMessageSize`). Default 16,000 (800 units).
    pub max_filter_message_size: u32,
    /// Queue files one read may look through (`travelCqFileNumWhenGetMessage`). Default 1.
    pub travel_cq_file_num_when_get_message: u32,
    /// A slave, too, tells a reader outside its queue where to go on (`offsetCheckInSlave`). Without it a slave answers with
    /// the offset asked for, since the master may hold what it lacks. Default false.
    pub offset_check_in_slave: bool,
}

impl Default for ReadConfig {
    fn default() -> Self {
        Self {
            max_transfer_bytes_on_message_in_memory: 256 << 10,
            max_transfer_count_on_message_in_memory: 32,
            max_transfer_bytes_on_message_in_disk: 64 << 10,
            max_transfer_count_on_message_in_disk: 8,
            access_message_in_memory_max_ratio: 40,
            max_filter_message_size: 16_000,
            travel_cq_file_num_when_get_message: 1,
            offset_check_in_slave: false,
        }
    }
}
