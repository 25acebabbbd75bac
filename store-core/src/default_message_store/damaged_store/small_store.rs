//! The store: a dozen synced messages in two queues over two log files, and three that are not.

use crate::config::{DamagedCommitLogPolicy, FlushDiskType, MessageStoreConfig};
use crate::default_message_store::Shared;
use crate::default_message_store::open::{Recovered, open_recovered};
use crate::error::StoreError;
use crate::message_store::GetRequest;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use store_logic::commit_log::format::{Decoded, decode};
use store_logic::message::Message;
use store_logic::sim::SimWorld;
use store_logic::{Env, FileKind, OpenMode};

const NOW: i64 = 1_700_000_000_000;
/// Messages that were synced.
pub(super) const SYNCED: u64 = 12;
/// Messages behind them.
pub(super) const UNSYNCED: u64 = 3;
pub(super) const QUEUES: i32 = 2;
pub(super) const LOG_FILE: u64 = 4096;

/// A store that was killed, and where its records stand.
pub(super) struct SmallStore {
    pub(super) world: SimWorld,
    /// Position and bytes of each record, in order.
    pub(super) records: Vec<(u64, Vec<u8>)>,
}

pub(super) fn config(policy: DamagedCommitLogPolicy) -> MessageStoreConfig {
    let mut config = MessageStoreConfig::new("/store");
    config.commit_log.mapped_file_size_commit_log = LOG_FILE;
    config.commit_log.preallocate = false;
    config.commit_log.damaged_commit_log_policy = policy;
    config.consume_queue.mapped_file_size_consume_queue = 200;
    config.index.max_hash_slot_num = 4;
    config.index.max_index_num = 40;
    config.flush.flush_disk_type = FlushDiskType::AsyncFlush;
    config
}

pub(super) fn body(number: u64) -> Vec<u8> {
    // Longer at first, so that the records reach into a second file.
    vec![b'a' + number as u8; if number < 8 { 450 } else { 20 }]
}

/// Queue and queue offset of a message.
pub(super) fn place(number: u64) -> (i32, u64) {
    ((number % QUEUES as u64) as i32, number / QUEUES as u64)
}

impl SmallStore {
    pub(super) fn killed() -> Self {
        let world = SimWorld::new(1, NOW);
        let recovered = open_recovered(&world.env(), config(DamagedCommitLogPolicy::Stop)).expect("opens");
        let shared = &recovered.shared;
        let mut records = Vec::new();
        for number in 0..SYNCED + UNSYNCED {
            if number == SYNCED {
                shared.flush_log(0).expect("synced");
            }
            let stored = put(shared, number);
            records.push((stored, shared.log.record_at(stored).expect("a record").to_vec()));
            world.clock().pass(std::time::Duration::from_millis(7));
        }
        while shared.dispatch_some().expect("dispatched") {}
        shared.flush_queues(0).expect("synced");
        assert!(records.last().expect("records").0 > LOG_FILE, "over two files");
        Self { world: world.restart_after_kill(), records }
    }

    /// The same, stopped in order.
    pub(super) fn stopped() -> Self {
        let Self { world, records } = Self::killed();
        let shared = open(&world, DamagedCommitLogPolicy::Stop).expect("opens").shared;
        let stop = crate::store_notes::CleanStop {
            log_end: shared.log.max_offset(),
            units: shared.count_units(),
            index: shared.index_extent().expect("an index"),
        };
        shared.notes.set_clean_stop(Some(stop));
        shared.notes.write().expect("written");
        shared.flush_checkpoint().expect("synced");
        crate::abort_file::remove(&world.env(), &shared.paths).expect("removed");
        drop(shared);
        Self { world: world.restart_after_kill(), records }
    }

    /// A copy with some bytes changed.
    pub(super) fn with(
        &self,
        path: &str,
        at: u64,
        change: impl FnOnce(&mut Vec<u8>),
        len: usize,
    ) -> SimWorld {
        let world = self.world.restart_after_kill();
        let file = world.env().disk().open(Path::new(path), OpenMode::ReadWrite).expect("a file");
        let mut bytes = vec![0; len];
        file.read_exact_at(&mut bytes, at).expect("bytes");
        change(&mut bytes);
        file.write_all_at(&bytes, at).expect("written");
        file.sync_data().expect("synced");
        world
    }

    pub(super) fn with_bit_flipped(&self, path: &str, at: u64, bit: u8) -> SimWorld {
        self.with(path, at, |bytes| bytes[0] ^= 1 << bit, 1)
    }

    pub(super) fn end(&self) -> u64 {
        self.records.last().map_or(0, |(at, bytes)| at + bytes.len() as u64)
    }
}

pub(super) fn open(world: &SimWorld, policy: DamagedCommitLogPolicy) -> Result<Recovered, StoreError> {
    open_recovered(&world.env(), config(policy))
}

pub(super) fn log_file(phy_offset: u64) -> String {
    format!("/store/commitlog/{:020}", phy_offset / LOG_FILE * LOG_FILE)
}

fn put(shared: &Shared, number: u64) -> u64 {
    let (body, key) = (body(number), format!("KEYS\u{1}k{number}\u{2}"));
    let message = Message {
        topic: "T",
        queue_id: place(number).0,
        flag: 0,
        sys_flag: 0,
        born_timestamp: 1,
        born_host: "127.0.0.1:1".parse().expect("an address"),
        store_host: "127.0.0.1:10911".parse().expect("an address"),
        reconsume_times: 0,
        prepared_transaction_offset: 0,
        body: &body,
        properties: &key,
    };
    shared
        .put(&[message])
        .provisional()
        .and_then(|result| result.appended.clone())
        .expect("stored")
        .wrote_offset
}

/// Queue offset and body of everything that can be read, queue by queue.
pub(super) fn read_all(shared: &Shared) -> Vec<((i32, u64), Vec<u8>)> {
    let mut found = Vec::new();
    for queue_id in 0..QUEUES {
        let Some(handle) = shared.queues.get("T", queue_id) else { continue };
        let (mut next, end) = (handle.queue.min_offset(), handle.queue.max_offset());
        while next < end {
            let request =
                GetRequest { topic: "T", queue_id, offset: next as i64, max_messages: 1, filter: None };
            let got = shared.get(&request);
            assert!(got.next_begin_offset > next, "stuck at {next}");
            if let Some(record) = got.messages.first() {
                let Ok(Decoded::Record(view)) = decode(record, true) else {
                    panic!("bytes that are no record")
                };
                found.push(((queue_id, got.next_begin_offset - 1), view.body.to_vec()));
            }
            next = got.next_begin_offset;
        }
    }
    found
}

/// Every file below the store's root.
pub(super) fn contents(env: &Env) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut contents = BTreeMap::new();
    collect(env, Path::new("/store"), &mut contents);
    contents
}

fn collect(env: &Env, directory: &Path, contents: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in env.disk().read_dir(directory).expect("a directory") {
        let path = directory.join(&entry.name);
        if entry.kind == FileKind::Directory {
            collect(env, &path, contents);
            continue;
        }
        let mut bytes = vec![0; entry.len as usize];
        let file = env.disk().open(&path, OpenMode::Read).expect("a file");
        file.read_exact_at(&mut bytes, 0).expect("bytes");
        contents.insert(path, bytes);
    }
}
