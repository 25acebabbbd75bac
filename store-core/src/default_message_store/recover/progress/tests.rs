//! A long recovery on the simulated disk, ended at each of its operations.

use crate::config::MessageStoreConfig;
use crate::default_message_store::open::{Recovered, open_recovered};
use crate::error::StoreError;
use crate::store_paths::StorePaths;
use std::time::Duration;
use store_logic::message::Message;
use store_logic::sim::SimWorld;
use store_logic::store_checkpoint::StoreCheckpoint;

const MESSAGES: u64 = 60;

fn config() -> MessageStoreConfig {
    let mut config = MessageStoreConfig::new("/store");
    config.commit_log.mapped_file_size_commit_log = 1024;
    config.commit_log.preallocate = false;
    config.consume_queue.mapped_file_size_consume_queue = 200;
    config.index.max_hash_slot_num = 4;
    config.index.max_index_num = 20;
    config
}

fn open(world: &SimWorld) -> Result<Recovered, StoreError> {
    open_recovered(&world.env(), config())
}

/// Killed with everything dispatched, and with a checkpoint that knows nothing.
fn killed() -> SimWorld {
    let world = SimWorld::new(1, 1_700_000_000_000);
    let shared = open(&world).expect("opens").shared;
    for number in 0..MESSAGES {
        let message = Message {
            topic: if number % 2 == 0 { "A" } else { "B" },
            queue_id: 0,
            flag: 0,
            sys_flag: 0,
            born_timestamp: 1,
            born_host: ([127, 0, 0, 1], 1).into(),
            store_host: ([127, 0, 0, 1], 2).into(),
            reconsume_times: 0,
            prepared_transaction_offset: 0,
            body: &[b'x'; 180],
            properties: "KEYS\u{1}k\u{2}",
        };
        assert!(shared.put(&[message]).provisional().is_some());
        world.clock().pass(Duration::from_secs(10));
    }
    shared.flush_log(0).expect("synced");
    drop(shared);
    let world = world.restart_after_kill();
    let env = world.env();
    let paths = StorePaths::new(&config());
    for path in [paths.flushed_mark(), paths.checkpoint()] {
        env.disk().remove_file(&path).expect("removed");
    }
    StoreCheckpoint::open(&env, &paths.checkpoint()).expect("made").flush().expect("synced");
    world.restart_after_kill()
}

fn assert_whole(recovered: &Recovered, case: &str) {
    for topic in ["A", "B"] {
        let handle = recovered.shared.queues.get(topic, 0).expect("a queue");
        let (min, max) = (handle.queue.min_offset(), handle.queue.max_offset());
        assert_eq!((min, max), (0, MESSAGES / 2), "{case}: {topic}");
    }
    let entries = recovered.shared.index.as_ref().expect("an index").entries().expect("read");
    assert_eq!(entries, MESSAGES, "{case}");
}

#[test]
fn field_F08_a_recovery_that_is_cut_off_goes_on_from_the_file_it_had_come_to() {
    let store = killed();
    let whole = store.restart_after_kill();
    let report = open(&whole).expect("opens").report;
    let (files, operations) = (report.log_end / 1024 + 1, whole.operations());
    assert!(report.scanned_from == 0 && files > 12, "{report}");
    let (mut killed_from, mut cut_from) = (0, 0);
    for operation in 0..operations {
        let cut = store.restart_after_kill();
        cut.cut_power_at(operation);
        if open(&cut).is_ok() {
            continue;
        }
        let again = |world: SimWorld, case: String| {
            let again = open(&world).unwrap_or_else(|error| panic!("{case}: {error}"));
            assert_whole(&again, &case);
            again.report.scanned_from
        };
        let from = again(cut.restart_after_kill(), format!("killed at operation {operation}"));
        assert!(from >= killed_from, "killed at operation {operation}: from {from} again, not {killed_from}");
        killed_from = from;
        cut_from = again(cut.restart_after_power_cut(), format!("power cut at operation {operation}"));
    }
    let late = report.log_end / 2;
    assert!(killed_from > late && cut_from > late, "{killed_from} and {cut_from} of {}", report.log_end);
}
