//! The service stepped by hand over a store of its own; every message is due at once.

use super::*;
use crate::config_store::tests::StdFiles;
use std::net::SocketAddr;
use std::sync::mpsc;
use store_core::config::MessageStoreConfig;
use store_core::{AppendResult, Arrival, DefaultMessageStore, LogPositions, MessageArrivingListener};
use tempfile::TempDir;

/// Tells of every message that can be read.
struct Arrivals(mpsc::Sender<()>);

impl MessageArrivingListener for Arrivals {
    fn arriving(&self, _arrival: &Arrival<'_>) {
        // The test may be over.
        let _ = self.0.send(());
    }
}

struct Bench {
    service: ScheduleMessageService,
    store: Arc<DefaultMessageStore>,
    offsets: Arc<DelayOffsets>,
    arrivals: mpsc::Receiver<()>,
    directory: TempDir,
}

impl Bench {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let levels: DelayLevels = "0s 0s".parse().unwrap();
        let mut config = MessageStoreConfig::new(directory.path().join("store"));
        config.delay_levels = levels.clone();
        config.commit_log.mapped_file_size_commit_log = 1 << 20;
        config.index.message_index_enable = false;
        let env = Env::os();
        let store = Arc::new(DefaultMessageStore::open(&env, config).unwrap());
        let (sender, arrivals) = mpsc::channel();
        store.set_arriving_listener(Arc::new(Arrivals(sender)));
        let offsets = Arc::new(DelayOffsets::default());
        let files = ConfigStore::new(directory.path().join("config"), Arc::new(StdFiles));
        let service = ScheduleMessageService::new(
            &env,
            Arc::clone(&store) as Arc<dyn MessageStore>,
            levels,
            Arc::clone(&offsets),
            files,
            Duration::ZERO,
        );
        Self { service, store, offsets, arrivals, directory }
    }

    /// Lets messages of a level wait.
    fn put(&self, level: i32, count: usize) {
        let address: SocketAddr = ([127, 0, 0, 1], 10_911).into();
        for _ in 0..count {
            let result = self.store.put(&Message {
                topic: RMQ_SYS_SCHEDULE_TOPIC,
                queue_id: queue_of_level(level),
                flag: 0,
                sys_flag: 0,
                born_timestamp: 0,
                born_host: address,
                store_host: address,
                reconsume_times: 0,
                prepared_transaction_offset: 0,
                body: b"x",
                properties: &format!("DELAY\u{1}{level}\u{2}REAL_TOPIC\u{1}T\u{2}REAL_QID\u{1}{level}\u{2}"),
            });
            assert!(result.wait().is_stored());
        }
        for _ in 0..count {
            self.arrivals.recv().unwrap();
        }
    }

    /// What a start after a crash would go on with.
    fn saved(&self) -> Vec<i64> {
        let files = ConfigStore::new(self.directory.path().join("config"), Arc::new(StdFiles));
        let read = DelayOffsets::default();
        files.load(&read, 0).unwrap();
        vec![read.next(1), read.next(2)]
    }
}

#[test]
fn a_step_delivers_one_batch_of_each_level() {
    let mut bench = Bench::new();
    bench.put(1, 70);
    bench.put(2, 40);
    let mut passed = Vec::new();
    loop {
        let step = bench.service.step();
        passed.push((bench.offsets.next(1), bench.offsets.next(2)));
        if step != Step::Again {
            break;
        }
    }
    assert_eq!(passed, [(32, 32), (64, 40), (70, 40), (70, 40)]);
    bench.store.shutdown().unwrap();
}

#[test]
fn what_is_not_durable_yet_is_saved_after_the_stop() {
    let mut bench = Bench::new();
    bench.put(2, 3);
    while bench.service.step() == Step::Again {}
    bench.service.finish();
    let LogPositions { end, durable } = bench.store.log_positions();
    let saved = bench.saved();
    assert!(saved == [0, 0] || durable == end, "saved {saved:?}, durable up to {durable} of {end}");
    bench.store.shutdown().unwrap();
    bench.service.finish();
    assert_eq!(bench.saved(), [0, 3]);
}

#[test]
fn a_failed_sync_is_no_delivery_and_said_once() {
    let bench = Bench::new();
    let appended = AppendResult {
        wrote_offset: 0,
        wrote_bytes: 100,
        logics_offset: 0,
        message_count: 1,
        store_timestamp: 0,
        batch_offsets: Vec::new(),
    };
    let answer = |status| PutResult { status, appended: Some(appended.clone()), remark: None };
    let refused = || PutResult::refused(PutMessageStatus::CreateMappedFileFailed, "no next log file");
    let service = &bench.service;
    assert!(service.is_done_with(1, answer(PutMessageStatus::FlushDiskTimeout)));
    assert_eq!(service.trouble.get(), None);
    assert!(!service.is_done_with(1, answer(PutMessageStatus::ServiceNotAvailable)));
    assert_eq!(service.trouble.get(), Some(PutMessageStatus::ServiceNotAvailable));
    assert!(!service.is_done_with(2, refused()));
    assert_eq!(service.trouble.get(), Some(PutMessageStatus::CreateMappedFileFailed));
    assert!(service.is_done_with(2, answer(PutMessageStatus::PutOk)));
    assert_eq!(service.trouble.get(), None);
}

#[test]
fn field_F82_a_progress_outside_the_queue_is_corrected() {
    let mut bench = Bench::new();
    let run = |bench: &mut Bench| while bench.service.step() == Step::Again {};
    let delivered = |bench: &Bench, queue_id| bench.store.offsets("T", queue_id).max;
    // Beyond an empty queue: the first message that comes is not to be passed over.
    bench.offsets.set(1, 90_000_000);
    bench.put(2, 5);
    // Beyond a queue: its messages were delivered by whoever got so far.
    bench.offsets.set(2, 90_000_000);
    run(&mut bench);
    assert_eq!((bench.offsets.next(1), bench.offsets.next(2)), (0, 5));
    bench.put(1, 1);
    bench.put(2, 1);
    run(&mut bench);
    assert_eq!((bench.offsets.next(1), bench.offsets.next(2)), (1, 6));
    bench.offsets.set(2, -3);
    run(&mut bench);
    bench.store.shutdown_with(|positions| bench.offsets.settle(positions)).unwrap();
    bench.service.finish();
    assert_eq!(bench.saved(), [1, 6], "kept in the file as corrected");
    assert_eq!(
        (delivered(&bench, 1), delivered(&bench, 2)),
        (1, 7),
        "one new, then all six from the beginning"
    );
}
