//! The services stepped by hand, on a store without threads: nothing happens unless a test makes it happen.

mod cleaning;
mod committing;
mod dispatching;
mod flushing;
mod group_commit;
mod opening;
mod putting;
mod reading;
#[path = "../../tests/support/roomy_disk.rs"]
mod roomy_disk;
mod world;

use crate::config::MessageStoreConfig;
use crate::default_message_store::Shared;
use crate::default_message_store::open::{Recovered, open_recovered};
use crate::{AppendResult, Message, PutTicket};
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use world::World;

/// Bytes of a log file.
const FILE: u64 = 4096;

/// A store without threads in a directory and a world of its own.
struct HandStore {
    recovered: Recovered,
    world: World,
    /// Last, so that it goes last.
    _directory: TempDir,
}

impl Deref for HandStore {
    type Target = Arc<Shared>;

    fn deref(&self) -> &Arc<Shared> {
        &self.recovered.shared
    }
}

impl HandStore {
    fn open(configure: impl FnOnce(&mut MessageStoreConfig)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let world = World::new();
        let mut config = small_config(directory.path());
        configure(&mut config);
        let recovered = open_recovered(&world.env(), config).unwrap();
        Self { recovered, world, _directory: directory }
    }

    /// The shared state, while nobody shares it yet.
    fn shared_mut(&mut self) -> &mut Shared {
        Arc::get_mut(&mut self.recovered.shared).expect("not shared yet")
    }

    fn config_mut(&mut self) -> &mut MessageStoreConfig {
        &mut self.shared_mut().config
    }

    fn send(&self, topic: &str, properties: &str) -> PutTicket {
        let body = [b'x'; 100];
        self.recovered.shared.put(&[message(topic, &body, properties)])
    }

    fn put(&self, topic: &str) -> AppendResult {
        self.send(topic, "KEYS\u{1}key\u{2}")
            .provisional()
            .and_then(|put| put.appended.clone())
            .expect("stored")
    }

    fn max_offset(&self, topic: &str) -> u64 {
        self.queues.get(topic, 0).map_or(0, |handle| handle.queue.max_offset())
    }
}

/// Small files: a page of log, ten queue units, ten index entries.
fn small_config(root: &Path) -> MessageStoreConfig {
    let mut config = MessageStoreConfig::new(root);
    config.commit_log.mapped_file_size_commit_log = FILE;
    config.commit_log.preallocate = false;
    config.consume_queue.mapped_file_size_consume_queue = 200;
    config.index.max_hash_slot_num = 10;
    config.index.max_index_num = 11;
    config
}

fn message<'a>(topic: &'a str, body: &'a [u8], properties: &'a str) -> Message<'a> {
    Message {
        topic,
        queue_id: 0,
        flag: 0,
        sys_flag: 0,
        born_timestamp: 1,
        born_host: ([127, 0, 0, 1], 1).into(),
        store_host: ([127, 0, 0, 1], 2).into(),
        reconsume_times: 0,
        prepared_transaction_offset: 0,
        body,
        properties,
    }
}
