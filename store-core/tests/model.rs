//! A store against a model of it: random messages, reads, stops, kills, power cuts and lost files.
//!
//! The seed of a run is printed; `STORE_MODEL_SEED=n cargo test -p store-core --test model` repeats it.

#[path = "support/copies.rs"]
mod copies;
#[path = "support/messages.rs"]
mod messages;
#[path = "model/power_cut.rs"]
mod power_cut;
#[path = "support/roomy_disk.rs"]
mod roomy_disk;
#[path = "model/store_model.rs"]
mod store_model;
#[path = "support/test_store.rs"]
mod test_store;

use copies::{copy_store, files};
use fastrand::Rng;
use messages::message;
use std::path::Path;
use store_core::config::{FlushDiskType, MessageStoreConfig};
use store_core::{Message, MessageStore};
use store_model::{ModelMessage, StoreModel};
use tempfile::TempDir;
use test_store::{TestStore, small_config};

const TOPICS: [&str; 4] = ["A", "B", "C", "%RETRY%group"];
const STEPS: usize = 120;

/// A run: the store, where it lies, and what it should hold.
struct Run {
    rng: Rng,
    directory: TempDir,
    store: Option<TestStore>,
    model: StoreModel,
}

impl Run {
    fn new(seed: u64) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let mut run =
            Self { rng: Rng::with_seed(seed), directory, store: None, model: StoreModel::default() };
        run.open();
        run
    }

    fn config(&mut self, root: &Path) -> MessageStoreConfig {
        let mut config = small_config(root);
        config.commit_log.preallocate = self.rng.bool();
        if self.rng.u8(0..4) == 0 {
            config.flush.flush_disk_type = FlushDiskType::SyncFlush;
            config.flush.sync_flush_timeout = 600_000;
        }
        // Sometimes the queues are flushed thoroughly all the time, so that the checkpoint is worth something.
        config.consume_queue.flush_consume_queue_thorough_interval =
            self.rng.choice([0, 60_000]).unwrap_or(0);
        config.consume_queue.flush_interval_consume_queue = 5;
        config
    }

    fn open(&mut self) {
        let root = self.directory.path().to_owned();
        let config = self.config(&root);
        let store = TestStore::open(config).expect("opens");
        eprintln!("opened {}", store.store.recovery_report());
        self.store = Some(store);
    }

    fn store(&mut self) -> &mut TestStore {
        self.store.as_mut().expect("a running store")
    }

    fn step(&mut self) {
        match self.rng.u8(0..100) {
            0..70 => self.put(),
            70..78 => {
                self.store().settle();
                self.check_some();
            }
            78..81 => self.delete_topic(),
            81..86 => self.stop(),
            86..94 => self.kill(),
            _ => self.cut_power(),
        }
    }

    fn put(&mut self) {
        let topic = TOPICS[self.rng.usize(0..TOPICS.len())];
        let queue_id = self.rng.i32(0..2);
        let elements = if self.rng.u8(0..6) == 0 { self.rng.usize(2..6) } else { 1 };
        let bodies: Vec<String> = (0..elements).map(|_| self.body()).collect();
        let properties: Vec<String> = (0..elements).map(|_| self.properties()).collect();
        let batch: Vec<Message<'_>> = bodies
            .iter()
            .zip(&properties)
            .map(|(body, properties)| Message { properties, ..message(topic, queue_id, body.as_bytes()) })
            .collect();
        let put = self.store().put_batch(&batch);
        let positions = if elements == 1 { vec![put.wrote_offset] } else { put.batch_offsets.clone() };
        let ends = positions.iter().skip(1).copied().chain([put.wrote_offset + put.wrote_bytes]);
        for (((body, properties), phy), end) in
            bodies.into_iter().zip(properties).zip(positions.clone()).zip(ends)
        {
            let message = ModelMessage { topic: topic.to_owned(), queue_id, body, properties, phy, end };
            let offset = self.model.put(message);
            assert!(offset >= put.logics_offset && offset < put.logics_offset + elements as u64);
        }
    }

    fn body(&mut self) -> String {
        let length = if self.rng.u8(0..20) == 0 { self.rng.usize(0..700) } else { self.rng.usize(0..30) };
        std::iter::repeat_with(|| self.rng.alphanumeric()).take(length).collect()
    }

    fn properties(&mut self) -> String {
        match self.rng.u8(0..4) {
            0 => String::new(),
            1 => format!("UNIQ_KEY\u{1}u{}\u{2}", self.rng.u32(..)),
            _ => format!("KEYS\u{1}k{} k{}\u{2}TAGS\u{1}t\u{2}", self.rng.u8(0..10), self.rng.u8(0..10)),
        }
    }

    fn delete_topic(&mut self) {
        let topic = TOPICS[self.rng.usize(0..TOPICS.len())];
        // Settled: how many arrivals there will be is not known otherwise.
        self.store().settle();
        self.store().store.delete_topics(&[topic]).expect("deleted");
        eprintln!("deleted {topic} at {}", self.model.log_end());
        self.model.delete_topic(topic);
    }

    fn stop(&mut self) {
        self.store.take().expect("a running store").stop();
        self.lose_derived_files();
        self.open();
        let report = self.store().store.recovery_report().clone();
        assert!(report.clean && report.cut.is_none(), "{report}");
        self.check_all();
    }

    /// The directory as it lies there becomes the store; the running one is left behind.
    fn kill(&mut self) {
        self.move_to_copy();
        self.lose_derived_files();
        self.open();
        let report = self.store().store.recovery_report().clone();
        assert!(!report.clean && report.cut.is_none() && report.dropped_records == 0, "{report}");
        self.check_all();
    }

    /// A kill that also takes some of what was not durable.
    fn cut_power(&mut self) {
        let durable = self.move_to_copy();
        let end = self.model.log_end();
        power_cut::lose_pages(&mut self.rng, self.directory.path(), durable, end);
        self.open();
        let report = self.store().store.recovery_report().clone();
        assert!(report.log_end >= durable.min(end), "durable up to {durable}: {report}");
        self.model.cut(report.log_end);
        self.model.accept_torn_properties(self.store.as_ref().expect("a running store"));
        self.check_all();
    }

    /// Returns up to where the log was durable, asked for after the copy: a flush meanwhile may have told it to the copy.
    fn move_to_copy(&mut self) -> u64 {
        let copy = tempfile::tempdir().expect("a directory");
        copy_store(self.directory.path(), copy.path());
        let durable = self.store().store.runtime_info()["commitLogFlushedWhere"].parse().expect("a position");
        self.store = None;
        self.directory = copy;
        durable
    }

    fn lose_derived_files(&mut self) {
        let root = self.directory.path().to_owned();
        match self.rng.u8(0..12) {
            0 => drop(std::fs::remove_dir_all(root.join("consumequeue"))),
            1 => drop(std::fs::remove_dir_all(root.join("index"))),
            2 => drop(std::fs::remove_file(root.join("checkpoint"))),
            3 => {
                for topic in files(&root.join("consumequeue")) {
                    for queue in files(&topic) {
                        let from = self.rng.usize(0..10) * 20;
                        if let Some(last) = files(&queue).pop() {
                            power_cut::zero(&last, from..200);
                        }
                    }
                }
            }
            4 => {
                if let Some(last) = files(&root.join("index")).pop() {
                    std::fs::remove_file(last).expect("deleted");
                }
            }
            _ => {}
        }
    }

    fn check_some(&mut self) {
        let topic = TOPICS[self.rng.usize(0..TOPICS.len())];
        let queue_id = self.rng.i32(0..2);
        let key = format!("k{}", self.rng.u8(0..10));
        let (store, model) = (self.store.as_ref().expect("a running store"), &self.model);
        model.check_queue(store, topic, queue_id);
        model.check_key(store, topic, &key);
    }

    /// After a start everything is dispatched.
    fn check_all(&mut self) {
        let (store, model) = (self.store.as_ref().expect("a running store"), &self.model);
        for topic in TOPICS {
            for queue_id in 0..2 {
                model.check_queue(store, topic, queue_id);
            }
            for key in 0..10 {
                model.check_key(store, topic, &format!("k{key}"));
            }
        }
    }
}

fn run(seed: u64) {
    eprintln!("STORE_MODEL_SEED={seed}");
    let mut run = Run::new(seed);
    for _ in 0..STEPS {
        run.step();
    }
    run.store().settle();
    run.check_all();
    run.stop();
}

#[test]
fn the_store_does_what_its_model_does() {
    if let Ok(seed) = std::env::var("STORE_MODEL_SEED") {
        return run(seed.parse().expect("STORE_MODEL_SEED: a number"));
    }
    for seed in 1..=6 {
        run(seed);
    }
    run(fastrand::u64(..));
}
