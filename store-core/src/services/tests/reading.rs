//! Reads of a queue whose beginning has expired, and of data that is not in memory any more.

use super::{FILE, HandStore, message};
use crate::GetMessageStatus::{self, *};
use crate::config::{BrokerRole, MessageStoreConfig};
use crate::service::Service;
use crate::services::clean_commit_log_service::CleanCommitLogService;
use crate::services::clean_consume_queue_service::CleanConsumeQueueService;
use crate::{GetRequest, GetResult, Message};
use std::sync::Arc;

fn get(store: &HandStore, offset: i64) -> GetResult {
    store.get(&GetRequest { topic: "T", queue_id: 0, offset, max_messages: 32, filter: None })
}

fn status_and_next(store: &HandStore, offset: u64) -> (GetMessageStatus, u64) {
    let got = get(store, offset as i64);
    assert_eq!(got.messages.is_empty(), got.status != Found);
    (got.status, got.next_begin_offset)
}

/// A store of 100 messages, so many files of whose log have expired, with the range of its queue.
fn expired(files: usize, configure: impl FnOnce(&mut MessageStoreConfig)) -> (HandStore, u64, u64) {
    let mut role = BrokerRole::AsyncMaster;
    let mut store = HandStore::open(|config| {
        config.clean.delete_file_batch_max = files as u32;
        configure(config);
        // Filled as a master.
        role = std::mem::take(&mut config.broker_role);
    });
    for _ in 0..100 {
        store.put("T");
    }
    while store.dispatch_some().unwrap() {}
    store.config_mut().broker_role = role;
    store.world.disk.set_used_percent(86);
    let mut cleaner = CleanCommitLogService::new(Arc::clone(&store));
    for _ in 0..files {
        cleaner.step();
    }
    assert_eq!(store.log.min_offset(), files as u64 * FILE);
    let mut follower = CleanConsumeQueueService::new(Arc::clone(&store));
    for _ in 0..10 {
        follower.step();
    }
    let queue = &store.queues.get("T", 0).unwrap().queue;
    let (min, max) = (queue.min_offset(), queue.max_offset());
    assert!(max == 100 && (min > 20) == (files > 0), "{min} … {max}");
    (store, min, max)
}

#[test]
fn field_F31_an_expired_offset_is_sent_to_the_first_that_is_left() {
    let (store, min, _) = expired(2, |_| {});
    for offset in [0, 10, min - 1] {
        assert_eq!(status_and_next(&store, offset), (OffsetTooSmall, min), "at {offset}");
    }
    let negative = get(&store, -1);
    assert_eq!((negative.status, negative.next_begin_offset), (OffsetTooSmall, min));
    assert_eq!(status_and_next(&store, min).0, Found);

    // A slave that does not check offsets sends nobody away.
    let (store, min, max) = expired(2, |config| config.broker_role = BrokerRole::Slave);
    assert_eq!(status_and_next(&store, 10), (OffsetTooSmall, 10));
    assert_eq!(status_and_next(&store, max + 10), (OffsetOverflowBadly, max + 10));
    assert_eq!(status_and_next(&store, min).0, Found);
    let (store, min, max) = expired(2, |config| {
        config.broker_role = BrokerRole::Slave;
        config.read.offset_check_in_slave = true;
    });
    assert_eq!(status_and_next(&store, 10), (OffsetTooSmall, min));
    assert_eq!(status_and_next(&store, max + 10), (OffsetOverflowBadly, max));
}

#[test]
fn field_F32_behind_the_end_is_sent_to_the_end_and_never_to_the_beginning() {
    for files in [0, 2] {
        let (store, min, max) = expired(files, |_| {});
        assert_eq!(status_and_next(&store, max), (OffsetOverflowOne, max), "begins at {min}");
        for offset in [max + 1, 5000, i64::MAX as u64] {
            assert_eq!(status_and_next(&store, offset), (OffsetOverflowBadly, max), "begins at {min}");
        }
    }
}

#[test]
fn field_F116_a_slave_is_advised_for_what_has_left_the_memory() {
    let mut store = HandStore::open(|config| config.consume_queue.mapped_file_size_consume_queue = 2000);
    store.shared_mut().hot_bytes = 2 * FILE;
    for _ in 0..100 {
        store.put("T");
    }
    while store.dispatch_some().unwrap() {}
    let end = store.log.max_offset();
    let queue = &store.queues.get("T", 0).unwrap().queue;
    let is_cold = |offset| end - queue.unit_at(offset).unwrap().unit.phy_offset > 2 * FILE;
    let first_hot = (0..100).find(|offset| !is_cold(*offset)).unwrap();
    assert!(first_hot > 20 && first_hot < 90);
    let old = get(&store, 0);
    assert_eq!(
        (old.suggest_pulling_from_slave, old.messages.len()),
        (true, 8),
        "old data comes in small pages"
    );
    let border = get(&store, first_hot as i64 - 3);
    assert!(!border.suggest_pulling_from_slave, "the last message read is in memory");
    let hot = get(&store, first_hot as i64);
    assert_eq!((hot.suggest_pulling_from_slave, hot.messages.len() as u64), (false, 32.min(100 - first_hot)));
    assert!(!get(&store, 99).suggest_pulling_from_slave);
    let at_end = get(&store, 100);
    assert_eq!((at_end.status, at_end.suggest_pulling_from_slave), (OffsetOverflowOne, false));
}

/// Tags of equal hash are the same to a queue; the client tells them apart.
#[test]
fn field_F80_tags_of_equal_hash_pass_together_and_the_offset_moves() {
    struct Tag(i64);
    impl crate::MessageFilter for Tag {
        fn matches_tags_code(&self, tags_code: i64) -> bool {
            self.0 == tags_code
        }
    }
    let store = HandStore::open(|config| config.consume_queue.mapped_file_size_consume_queue = 20_000);
    let put = |tag: &str| {
        let properties = if tag == "-" { String::new() } else { format!("TAGS\u{1}{tag}\u{2}") };
        let message = Message { properties: &properties, ..message("T", b"b", "") };
        assert!(store.recovered.shared.put(&[message]).wait().is_stored());
    };
    (0..50).for_each(|_| ["AaAa", "BBBB"].into_iter().for_each(put));
    (0..64).for_each(|_| put("BBBB"));
    ["-", "", "other"].into_iter().for_each(put);
    while store.dispatch_some().unwrap() {}
    let wanted = Tag(i64::from(crate::tags_code::java_string_hash("AaAa")));
    let (mut next, mut found) = (0, 0);
    while next < 167 {
        let request =
            GetRequest { topic: "T", queue_id: 0, offset: next, max_messages: 32, filter: Some(&wanted) };
        let got = store.get(&request);
        assert!(got.next_begin_offset as i64 > next, "stuck at {next}");
        next = got.next_begin_offset as i64;
        found += got.messages.len();
    }
    assert_eq!((found, next), (164, 167));
    let queue = &store.queues.get("T", 0).unwrap().queue;
    assert_eq!(
        [164, 165].map(|offset| queue.unit_at(offset).unwrap().unit.tags_code),
        [0, 0],
        "without a tag"
    );
}
