//! A log that is long enough for its checksums to be compared on a thread of their own.

use super::BESIDE_FROM;
use crate::config::MessageStoreConfig;
use crate::default_message_store::open::{Recovered, open_recovered};
use std::path::Path;
use store_logic::OpenMode;
use store_logic::message::Message;
use store_logic::sim::SimWorld;

const MESSAGES: u64 = 400;

fn open(world: &SimWorld) -> Recovered {
    let mut config = MessageStoreConfig::new("/store");
    config.commit_log.mapped_file_size_commit_log = 2 * BESIDE_FROM;
    config.commit_log.preallocate = false;
    config.consume_queue.mapped_file_size_consume_queue = 20_000;
    (config.index.max_hash_slot_num, config.index.max_index_num) = (40, 4000);
    open_recovered(&world.env(), config).expect("opens")
}

/// A killed store whose last messages are in no queue, and where its records stand. Nothing of it was ever synced.
fn killed() -> (SimWorld, Vec<u64>) {
    let world = SimWorld::new(1, 1_700_000_000_000);
    let shared = open(&world).shared;
    let mut places = Vec::new();
    for number in 0..MESSAGES {
        let key = format!("KEYS\u{1}k{number}\u{2}");
        let message = Message {
            topic: "T",
            queue_id: (number % 2) as i32,
            flag: 0,
            sys_flag: 0,
            born_timestamp: 1,
            born_host: "127.0.0.1:1".parse().expect("an address"),
            store_host: "127.0.0.1:10911".parse().expect("an address"),
            reconsume_times: 0,
            prepared_transaction_offset: 0,
            body: &[7; 1000],
            properties: &key,
        };
        let put = shared.put(&[message]);
        let appended = put.provisional().and_then(|result| result.appended.clone());
        places.push(appended.expect("stored").wrote_offset);
        if number == MESSAGES - 10 {
            while shared.dispatch_some().expect("dispatched") {}
        }
    }
    (world.restart_after_kill(), places)
}

#[test]
fn a_long_log_is_read_once_and_missing_units_are_put() {
    let (world, places) = killed();
    assert!(places[MESSAGES as usize - 1] > BESIDE_FROM);
    let opened = open(&world);
    let (report, queues) = (&opened.report, &opened.shared.queues);
    assert_eq!((report.records, report.units_rebuilt, &report.cut), (MESSAGES, 9, &None));
    assert_eq!(queues.get("T", 0).map(|handle| handle.queue.max_offset()), Some(MESSAGES / 2));
    assert_eq!(opened.shared.index.as_ref().and_then(|index| index.entries().ok()), Some(MESSAGES));
}

#[test]
fn a_wrong_body_is_noticed_beside_the_look_and_ends_the_log() {
    for wrong in [MESSAGES - 1, MESSAGES - 20] {
        let (world, places) = killed();
        let at = places[wrong as usize];
        let path = format!("/store/commitlog/{:020}", at / (2 * BESIDE_FROM) * (2 * BESIDE_FROM));
        let file = world.env().disk().open(Path::new(&path), OpenMode::ReadWrite).expect("a file");
        file.write_all_at(&[8], at % (2 * BESIDE_FROM) + 500).expect("written");
        let opened = open(&world);
        assert_eq!((opened.report.records, opened.report.log_end), (wrong, at));
        assert!(opened.report.cut.as_ref().is_some_and(|cut| cut.contains("CRC")), "{:?}", opened.report);
        let units = opened.shared.count_units();
        assert_eq!(units, wrong, "none of what was cut");
    }
}
