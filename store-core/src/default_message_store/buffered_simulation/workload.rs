//! What is done to the store, from a seed.

use super::oracle::Oracle;
use super::stepped_store::SteppedStore;
use crate::config::{FlushDiskType, MessageStoreConfig};
use std::time::Duration;
use store_logic::message::Message;
use store_logic::sim::SimWorld;

/// Puts and steps of a run.
pub(super) const STEPS: u64 = 80;
/// Services by their number in the inventory, those with most to do more often.
const OFTEN: [u64; 10] = [1, 2, 2, 2, 3, 3, 3, 4, 4, 7];
/// The same where there is a committer.
const OFTEN_WITH_COMMITTER: [u64; 10] = [1, 2, 2, 3, 3, 3, 4, COMMITTER, COMMITTER, COMMITTER];
/// The committer's number.
pub(super) const COMMITTER: u64 = 9;
pub(super) const TOPIC: &str = "T";
pub(super) const QUEUES: i32 = 2;

/// What kind of store a run is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setup {
    flush: FlushDiskType,
    pool: bool,
    /// Whatever counts as acknowledged must be there, also where nothing was synced.
    pub(super) promises_all: bool,
}

impl Setup {
    pub(super) const SYNC: Self = Self { flush: FlushDiskType::SyncFlush, pool: false, promises_all: true };
    pub(super) const ASYNC: Self =
        Self { flush: FlushDiskType::AsyncFlush, pool: false, promises_all: false };
    pub(super) const SYNC_POOL: Self = Self { pool: true, ..Self::SYNC };
    pub(super) const ASYNC_POOL: Self = Self { pool: true, ..Self::ASYNC };

    /// The same, where what counts as acknowledged must be there although nothing was synced.
    pub(super) fn promising_all(self) -> Self {
        Self { promises_all: true, ..self }
    }

    fn has_committer(self) -> bool {
        self.pool && self.flush == FlushDiskType::AsyncFlush
    }
}

/// Small files, so that a short run fills several of each kind.
pub(super) fn config(setup: Setup) -> MessageStoreConfig {
    let mut config = MessageStoreConfig::new("/store");
    config.commit_log.mapped_file_size_commit_log = 4096;
    // Nobody steps the maker of files while a put waits for one.
    config.commit_log.preallocate = false;
    config.consume_queue.mapped_file_size_consume_queue = 200;
    config.consume_queue.flush_consume_queue_thorough_interval = 20;
    config.index.max_hash_slot_num = 8;
    config.index.max_index_num = 24;
    config.flush.flush_disk_type = setup.flush;
    config.pool.transient_store_pool_enable = setup.pool;
    config.pool.transient_store_pool_size = 2;
    config.pool.commit_commit_log_thorough_interval = 15;
    config.flush.flush_commit_log_thorough_interval = 30;
    config
}

pub(super) struct Workload {
    state: u64,
    put: u64,
    often: [u64; 10],
}

impl Workload {
    pub(super) fn new(seed: u64, setup: Setup) -> Self {
        let often = if setup.has_committer() { OFTEN_WITH_COMMITTER } else { OFTEN };
        Self { state: seed.wrapping_mul(0x2545_F491_4F6C_DD1D) | 1, put: 0, often }
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    pub(super) fn run(&mut self, world: &SimWorld, store: &mut SteppedStore, oracle: &mut Oracle) {
        for _ in 0..STEPS {
            self.step(world, store, oracle);
        }
    }

    /// A put, a step of a service, or some time.
    pub(super) fn step(&mut self, world: &SimWorld, store: &mut SteppedStore, oracle: &mut Oracle) {
        match self.next() % 8 {
            0..=2 => self.put(store, oracle),
            3 => world.clock().pass(Duration::from_millis(self.next() % 20)),
            _ => store.step(self.often[(self.next() % self.often.len() as u64) as usize]),
        }
        oracle.look_at_answers(world);
    }

    pub(super) fn put(&mut self, store: &mut SteppedStore, oracle: &mut Oracle) {
        let queue_id = (self.next() % QUEUES as u64) as i32;
        let body = vec![self.put as u8; 1 + (self.next() % 500) as usize];
        let key = format!("key{}", self.put);
        self.put += 1;
        let properties = String::from_utf8(properties_of(&key)).expect("UTF-8");
        let ticket = store.shared.put(&[message(queue_id, &body, &properties)]);
        oracle.note_put(queue_id, body, key, ticket);
    }
}

/// Properties of the message with this key.
pub(super) fn properties_of(key: &str) -> Vec<u8> {
    format!("KEYS\u{1}{key}\u{2}").into_bytes()
}

pub(super) fn message<'a>(queue_id: i32, body: &'a [u8], properties: &'a str) -> Message<'a> {
    Message {
        topic: TOPIC,
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
