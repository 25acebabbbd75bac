/// Settings of the light message queues (LMQ), in which one record may stand besides its own queue.
#[derive(Debug, Clone, PartialEq)]
pub struct MultiDispatchConfig {
    /// Give messages offsets in the light queues they name (`enableLmq`). Default false.
    pub enable_lmq: bool,
    /// Put records into the light queues in which they have offsets (`enableMultiDispatch`). Default false.
    pub enable_multi_dispatch: bool,
    /// Most light queues a put may lead to (`maxLmqConsumeQueueNum`). Default 20,000.
    pub max_lmq_consume_queue_num: u64,
}

impl MultiDispatchConfig {
    /// Light queues are served: both keys say so. An offset without a unit, or a unit without an offset, would be wrong at
    /// the next start.
    pub fn is_on(&self) -> bool {
        self.enable_lmq && self.enable_multi_dispatch
    }
}

impl Default for MultiDispatchConfig {
    fn default() -> Self {
        Self { enable_lmq: false, enable_multi_dispatch: false, max_lmq_consume_queue_num: 20_000 }
    }
}
