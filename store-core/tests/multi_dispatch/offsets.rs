//! Offsets are given once, without holes, and are found again after any stop.

use crate::messages::message;
use crate::test_store::{TestStore, small_config};
use crate::{bodies, config, offset_in, open, settle, to, with};
use std::fs;
use store_core::record_format::{Decoded, decode};
use store_core::{MessageStore, properties, sys_flag};

#[test]
fn a_message_stands_in_every_queue_it_names() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path());
    store.put_with("T", "one", &to("%LMQ%a,%LMQ%b"));
    store.put_with("U", "two", &to("%LMQ%b"));
    store.put("T", 0, "three");
    store.put("%LMQ%b", 0, "four");
    store.put_with("T", "five", &to("%LMQ%b,%LMQ%a"));
    settle(&store);
    assert_eq!(bodies(&store, "%LMQ%a"), ["one", "five"]);
    assert_eq!(bodies(&store, "%LMQ%b"), ["one", "two", "four", "five"]);
    assert_eq!(bodies(&store, "T"), ["one", "three", "five"]);
    let arrived = store.arrivals.queues();
    let in_a = arrived.iter().filter(|arrival| arrival.0 == "%LMQ%a");
    assert_eq!(in_a.map(|arrival| arrival.1).collect::<Vec<_>>(), [1, 2], "those who wait are told");
}

#[test]
fn a_batch_names_light_queues_message_by_message() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = config(dir.path());
    config.commit_log.enabled_append_prop_crc = true;
    let mut store = TestStore::open(config).unwrap();
    let (ab, b) = (to("%LMQ%a,%LMQ%b"), to("%LMQ%b"));
    // Without the last separator: what the store adds must not run into it.
    let b = b.trim_end_matches('\u{2}');
    let batch = [
        with(message("T", 0, b"one"), &ab),
        message("T", 0, b"two"),
        with(message("T", 0, b"three"), b),
        with(message("T", 0, b"four"), &ab),
    ];
    let put = store.put_batch(&batch);
    settle(&store);
    assert_eq!(bodies(&store, "%LMQ%a"), ["one", "four"]);
    assert_eq!(bodies(&store, "%LMQ%b"), ["one", "three", "four"]);
    assert_eq!(bodies(&store, "T"), ["one", "two", "three", "four"]);
    let last = store.store.message_at(put.batch_offsets[3]).unwrap();
    assert_eq!(put.batch_offsets[3] + last.len() as u64, put.wrote_offset + put.wrote_bytes);
}

#[test]
fn offsets_go_on_after_a_stop_and_after_a_crash() {
    let dir = tempfile::tempdir().unwrap();
    let mut expected = Vec::new();
    for round in 0..4 {
        let mut store = open(dir.path());
        for number in 0..30 {
            let body = format!("{round}/{number}");
            store.put_with("T", &body, &to("%LMQ%a,%LMQ%b"));
            expected.push(body);
        }
        settle(&store);
        assert_eq!(bodies(&store, "%LMQ%a"), expected);
        if round % 2 == 0 {
            store.stop();
        } else {
            drop(store);
            fs::remove_dir_all(dir.path().join("consumequeue/%LMQ%b")).unwrap();
        }
    }
    let store = open(dir.path());
    assert_eq!(bodies(&store, "%LMQ%b"), expected, "a lost light queue is built again");
}

#[test]
fn what_a_client_brings_is_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let forged = "INNER_MULTI_QUEUE_OFFSET\u{1}77,x\u{2}INNER_MULTI_DISPATCH\u{1}%LMQ%a,%LMQ%b\u{2}";
    let mut store = open(dir.path());
    store.put_with("T", "one", forged);
    settle(&store);
    assert_eq!(bodies(&store, "%LMQ%b"), ["one"]);
    store.stop();

    // Neither while light queues are not served: a start that serves them would take it for the store's own.
    for (lmq, dispatch) in [(false, false), (true, false), (false, true)] {
        let mut config = small_config(dir.path());
        config.multi_dispatch.enable_lmq = lmq;
        config.multi_dispatch.enable_multi_dispatch = dispatch;
        let mut store = TestStore::open(config).unwrap();
        let put = store.put_with("T", "two", forged);
        settle(&store);
        let record = store.store.message_at(put.wrote_offset).unwrap();
        let Ok(Decoded::Record(view)) = decode(&record, true) else { panic!("no record") };
        assert_eq!(view.properties, "INNER_MULTI_DISPATCH\u{1}%LMQ%a,%LMQ%b\u{2}");
        store.stop();
    }
    fs::write(dir.path().join("abort"), "").unwrap();
    let store = open(dir.path());
    assert_eq!(bodies(&store, "%LMQ%b"), ["one"]);
}

#[test]
fn what_nobody_may_see_takes_no_offset() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path());
    let names = to("%LMQ%a");
    let half = with(message("T", 0, b"prepared"), &names);
    let half = store_core::Message { sys_flag: sys_flag::TRANSACTION_PREPARED, ..half };
    for sent in [
        half,
        with(message("RMQ_SYS_TRANS_HALF_TOPIC", 0, b"half"), &names),
        with(message("%RETRY%g", 0, b"retry"), &names),
        with(message("SCHEDULE_TOPIC_XXXX", 1, b"later"), &names),
    ] {
        let put = store.put_batch(&[sent]);
        let record = store.store.message_at(put.wrote_offset).unwrap();
        let Ok(Decoded::Record(view)) = decode(&record, true) else { panic!("no record") };
        assert_eq!(properties::get(view.properties, "INNER_MULTI_QUEUE_OFFSET"), None, "{}", view.topic);
    }
    store.put_with("T", "seen", &names);
    settle(&store);
    assert_eq!(bodies(&store, "%LMQ%a"), ["seen"]);
}

/// Batches to one queue, single messages to the same queue and to light queues, from many threads at once.
#[test]
fn field_F47_no_offset_is_given_twice() {
    const THREADS: usize = 16;
    const ROUNDS: usize = 60;
    let dir = tempfile::tempdir().unwrap();
    let mut config = config(dir.path());
    config.commit_log.mapped_file_size_commit_log = 1 << 20;
    config.consume_queue.mapped_file_size_consume_queue = 20_000;
    config.index.max_hash_slot_num = 1000;
    config.index.max_index_num = 10_000;
    let store = TestStore::open(config).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let store = &store.store;
            scope.spawn(move || {
                let (both, one) = (to("%LMQ%a,%LMQ%b"), to("%LMQ%b"));
                for _ in 0..ROUNDS {
                    let plain = message("T", 0, b"x");
                    let put = match thread % 3 {
                        0 => store.put_batch(&[(); 10].map(|()| plain.clone())),
                        1 => store.put(&with(plain, &both)),
                        _ => store.put_batch(&[with(plain.clone(), &one), plain.clone(), with(plain, &both)]),
                    };
                    assert!(put.wait().is_stored());
                }
            });
        }
    });
    settle(&store);
    let threads = |kind| (0..THREADS).filter(|thread| thread % 3 == kind).count();
    let messages = ROUNDS * (10 * threads(0) + threads(1) + 3 * threads(2));
    let in_a = ROUNDS * (threads(1) + threads(2));
    let in_b = ROUNDS * (threads(1) + 2 * threads(2));
    for (topic, count) in [("T", messages), ("%LMQ%a", in_a), ("%LMQ%b", in_b)] {
        // Reading the queues checks each offset against its record, and that there is no hole.
        assert_eq!(bodies(&store, topic).len(), count, "{topic}");
    }
    let mut seen = (vec![0; messages], vec![0; in_a], vec![0; in_b]);
    for queue_offset in 0..messages as u64 {
        let unit = store.store.queue_unit("T", 0, queue_offset).unwrap();
        let record = store.store.message_at(unit.phy_offset).unwrap();
        let Ok(Decoded::Record(view)) = decode(&record, true) else { panic!("no record") };
        seen.0[view.queue_offset as usize] += 1;
        for (name, seen) in [("%LMQ%a", &mut seen.1), ("%LMQ%b", &mut seen.2)] {
            if let Some(offset) = offset_in(view.properties, name) {
                seen[offset as usize] += 1;
            }
        }
    }
    assert!([seen.0, seen.1, seen.2].concat().iter().all(|times| *times == 1), "a permutation each");
}
