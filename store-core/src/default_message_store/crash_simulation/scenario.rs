//! What is done to the store in a run: the kinds of runs there are.

use super::stepped_store::service;
use crate::config::{FlushDiskType, MessageStoreConfig};
use store_logic::message::{Message, sys_flag};
use store_logic::{QueueType, QueueTypes};

pub(super) const TOPICS: [&str; 2] = ["T", "Other"];
pub(super) const QUEUES: i32 = 2;

/// One kind of run. Weights say how often something is done beside something else.
#[derive(Debug, Clone)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) flush: FlushDiskType,
    pub(super) steps: u64,
    /// Bytes of a log file.
    pub(super) log_file: u64,
    /// Log files are made ahead of need.
    pub(super) ahead: bool,
    /// Write buffers stand in front of the log files.
    pub(super) buffered: bool,
    pub(super) topics: usize,
    /// The first topic has batch queues, and what is put there together becomes one record.
    pub(super) inner: bool,
    /// Services that are stepped, those with most to do more often.
    pub(super) services: &'static [usize],
    pub(super) weights: Weights,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Weights {
    pub(super) step: usize,
    pub(super) put: usize,
    pub(super) batch: usize,
    pub(super) tick: usize,
    /// Time until files expire.
    pub(super) days: usize,
    pub(super) delete_topic: usize,
    pub(super) kill: usize,
    pub(super) stop: usize,
    pub(super) power_cut: usize,
}

const USUAL: Weights = Weights {
    step: 50,
    put: 36,
    batch: 0,
    tick: 14,
    days: 0,
    delete_topic: 0,
    kill: 0,
    stop: 0,
    power_cut: 0,
};

const WITHOUT_CLEANING: &[usize] = &[
    service::INDEX,
    service::FLUSH,
    service::FLUSH,
    service::FLUSH,
    service::REPUT,
    service::REPUT,
    service::REPUT,
    service::FLUSH_QUEUES,
    service::FLUSH_QUEUES,
];

const WITH_CLEANING: &[usize] = &[
    service::INDEX,
    service::FLUSH,
    service::FLUSH,
    service::FLUSH,
    service::REPUT,
    service::REPUT,
    service::FLUSH_QUEUES,
    service::CLEAN_LOG,
    service::CLEAN_LOG,
    service::CLEAN_QUEUES,
];

const WITH_COMMITTER: &[usize] = &[
    service::INDEX,
    service::FLUSH,
    service::FLUSH,
    service::REPUT,
    service::REPUT,
    service::FLUSH_QUEUES,
    service::COMMIT,
    service::COMMIT,
    service::COMMIT,
];

impl Scenario {
    const fn new(name: &'static str, flush: FlushDiskType, weights: Weights) -> Self {
        Self {
            name,
            flush,
            steps: 90,
            log_file: 8192,
            ahead: false,
            buffered: false,
            topics: 1,
            inner: false,
            services: WITHOUT_CLEANING,
            weights,
        }
    }

    /// Rolls of log, queues and index, with SYNC_FLUSH.
    pub(super) fn rolls() -> Self {
        Self { log_file: 4096, ..Self::new("rolls", FlushDiskType::SyncFlush, USUAL) }
    }

    /// Batches over several topics and queues, log files made ahead of need.
    pub(super) fn batches() -> Self {
        let weights = Weights { put: 14, batch: 16, ..USUAL };
        Self { steps: 50, ahead: true, topics: 2, ..Self::new("batches", FlushDiskType::SyncFlush, weights) }
    }

    /// Inner batches and restarts: queues whose records hold several messages.
    pub(super) fn inner_batches() -> Self {
        let weights =
            Weights { put: 14, batch: 24, days: 1, delete_topic: 1, kill: 2, stop: 2, power_cut: 2, ..USUAL };
        Self {
            log_file: 4096,
            topics: 2,
            inner: true,
            services: WITH_CLEANING,
            ..Self::new("inner batches", FlushDiskType::SyncFlush, weights)
        }
    }

    /// ASYNC_FLUSH.
    pub(super) fn background_flush() -> Self {
        let weights = Weights { batch: 4, kill: 1, ..USUAL };
        Self { topics: 2, ..Self::new("background flush", FlushDiskType::AsyncFlush, weights) }
    }

    /// Deletion of expired files.
    pub(super) fn expiry() -> Self {
        let weights = Weights { days: 2, kill: 1, ..USUAL };
        Self {
            log_file: 4096,
            services: WITH_CLEANING,
            ..Self::new("expiry", FlushDiskType::SyncFlush, weights)
        }
    }

    /// Topics are deleted and come back.
    pub(super) fn topic_deletion() -> Self {
        let weights = Weights { delete_topic: 5, ..USUAL };
        Self { topics: 2, ..Self::new("topic deletion", FlushDiskType::SyncFlush, weights) }
    }

    /// The process is killed, stopped, or loses its power in the middle, and goes on.
    pub(super) fn restarts() -> Self {
        let weights = Weights { kill: 3, stop: 3, power_cut: 3, ..USUAL };
        Self { topics: 2, ..Self::new("restarts", FlushDiskType::SyncFlush, weights) }
    }

    /// Everything together, with ASYNC_FLUSH.
    pub(super) fn everything() -> Self {
        let weights = Weights { batch: 6, days: 1, delete_topic: 2, kill: 2, stop: 2, power_cut: 2, ..USUAL };
        Self {
            topics: 2,
            services: WITH_CLEANING,
            ..Self::new("everything", FlushDiskType::AsyncFlush, weights)
        }
    }

    /// Write buffers, with either flush mode; what a kill may lose differs.
    pub(super) fn write_buffers(flush: FlushDiskType) -> Self {
        let weights = Weights { kill: 1, stop: 1, ..USUAL };
        Self { steps: 60, log_file: 4096, ..Self::new("write buffers", flush, weights) }.with_buffers()
    }

    /// A short run that is repeated with a fault at every operation.
    pub(super) fn short(flush: FlushDiskType) -> Self {
        let weights = Weights { kill: 1, stop: 2, batch: 4, ..USUAL };
        Self { steps: 40, log_file: 4096, topics: 2, ..Self::new("short", flush, weights) }
    }

    /// The same with write buffers in front of the log files.
    pub(super) fn with_buffers(self) -> Self {
        let has_committer = self.flush == FlushDiskType::AsyncFlush;
        let services = if has_committer { WITH_COMMITTER } else { self.services };
        Self { buffered: true, services, ..self }
    }

    /// Small files, so that a short run fills several of each kind.
    pub(super) fn config(&self) -> MessageStoreConfig {
        let mut config = MessageStoreConfig::new("/store");
        config.commit_log.mapped_file_size_commit_log = self.log_file;
        config.commit_log.preallocate = self.ahead;
        config.consume_queue.mapped_file_size_consume_queue = 200;
        config.consume_queue.mapper_file_size_batch_consume_queue = 230;
        if self.inner {
            config.queue_types =
                QueueTypes::new(
                    |topic| {
                        if topic == TOPICS[0] { QueueType::BatchCq } else { QueueType::SimpleCq }
                    },
                );
        }
        config.consume_queue.flush_consume_queue_thorough_interval = 20;
        config.index.max_hash_slot_num = 8;
        config.index.max_index_num = 14;
        config.flush.flush_disk_type = self.flush;
        config.pool.transient_store_pool_enable = self.buffered;
        config.pool.transient_store_pool_size = 2;
        config.pool.commit_commit_log_thorough_interval = 15;
        config.flush.flush_commit_log_thorough_interval = 30;
        config.flush.flush_commit_log_least_pages = 2;
        config.clean.delete_when = (0..24).collect();
        config
    }
}

/// Body of message number `id`: it can be told from the number alone.
pub(super) fn body_of(id: u64) -> Vec<u8> {
    let len = 8 + (id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize % 700;
    let mut body = id.to_be_bytes().to_vec();
    body.resize(len, id as u8 | 1);
    body
}

/// Number of the message with this body; `None` when no message has it.
pub(super) fn id_of(body: &[u8]) -> Option<u64> {
    let id = u64::from_be_bytes(*body.first_chunk::<8>()?);
    (body_of(id) == body).then_some(id)
}

pub(super) fn key_of(id: u64) -> String {
    format!("key{id}")
}

pub(super) fn properties_of(id: u64) -> String {
    format!("KEYS\u{1}{}\u{2}TAGS\u{1}tag{}\u{2}", key_of(id), id % 3)
}

/// Properties of an inner batch of `count` messages, as they are put.
pub(super) fn inner_properties_of(id: u64, count: usize) -> String {
    format!("INNER_NUM\u{1}{count}\u{2}{}", properties_of(id))
}

/// An inner batch.
pub(super) fn inner_batch<'a>(
    topic: &'a str,
    queue_id: i32,
    body: &'a [u8],
    properties: &'a str,
) -> Message<'a> {
    let sys_flag = sys_flag::INNER_BATCH | sys_flag::NEED_UNWRAP;
    Message { sys_flag, ..message(topic, queue_id, body, properties) }
}

pub(super) fn message<'a>(topic: &'a str, queue_id: i32, body: &'a [u8], properties: &'a str) -> Message<'a> {
    Message {
        topic,
        queue_id,
        flag: 0,
        sys_flag: 0,
        born_timestamp: 1,
        born_host: "127.0.0.1:1".parse().expect("an address"),
        store_host: "127.0.0.1:10911".parse().expect("an address"),
        reconsume_times: 0,
        prepared_transaction_offset: 0,
        body,
        properties,
    }
}
