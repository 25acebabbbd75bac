/// Settings of the queue files.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsumeQueueConfig {
    /// Bytes of one queue file (`mappedFileSizeConsumeQueue`), a multiple of 20. Default 6,000,000 (300,000 units).
    pub mapped_file_size_consume_queue: u64,
    /// Bytes of one file of a batch queue (`mapperFileSizeBatchConsumeQueue`), a multiple of 46. Default 13,800,000
    /// (300,000 units).
    pub mapper_file_size_batch_consume_queue: u64,
    /// New queue units get an extension with the store time of their record (`enableConsumeQueueExt`). Default false.
    pub enable_consume_queue_ext: bool,
    /// Bytes of one extension file (`mappedFileSizeConsumeQueueExt`). Default 48 MiB.
    pub mapped_file_size_consume_queue_ext: u64,
    /// Milliseconds between two flushes (`flushIntervalConsumeQueue`). Default 1000.
    pub flush_interval_consume_queue: u64,
    /// Dirty 4 KiB pages worth a flush (`flushConsumeQueueLeastPages`). Default 2.
    pub flush_consume_queue_least_pages: u32,
    /// Milliseconds after which everything is flushed (`flushConsumeQueueThoroughInterval`). Default 60,000.
    pub flush_consume_queue_thorough_interval: u64,
}

impl Default for ConsumeQueueConfig {
    fn default() -> Self {
        Self {
            mapped_file_size_consume_queue: 6_000_000,
            mapper_file_size_batch_consume_queue: 13_800_000,
            enable_consume_queue_ext: false,
            mapped_file_size_consume_queue_ext: 48 << 20,
            flush_interval_consume_queue: 1000,
            flush_consume_queue_least_pages: 2,
            flush_consume_queue_thorough_interval: 60_000,
        }
    }
}
