use crate::copies::files;
use crate::messages::message;
use crate::test_store::{TestStore, offset_and_body, small_config};
use std::sync::Arc;
use store_core::GetMessageStatus::{self, *};
use store_core::{
    BoundaryType, GetRequest, GetResult, Message, MessageFilter, MessageStore, QueueOffsets, message_id,
};

fn status_and_next(got: &GetResult) -> (GetMessageStatus, u64, usize) {
    (got.status, got.next_begin_offset, got.messages.len())
}

#[test]
fn the_status_table() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    assert_eq!(status_and_next(&store.get("T", 0, 0, 32)), (NoMessageInQueue, 0, 0));
    assert_eq!(status_and_next(&store.get("T", 0, -1, 32)), (NoMessageInQueue, 0, 0));
    for _ in 0..5 {
        store.put("T", 0, "b");
    }
    store.settle();
    for (offset, expected) in [
        (-1, (OffsetTooSmall, 0, 0)),
        (i64::MIN, (OffsetTooSmall, 0, 0)),
        (0, (Found, 5, 5)),
        (4, (Found, 5, 1)),
        (5, (OffsetOverflowOne, 5, 0)),
        (6, (OffsetOverflowBadly, 5, 0)),
        (i64::MAX, (OffsetOverflowBadly, 5, 0)),
    ] {
        let got = store.get("T", 0, offset, 32);
        assert_eq!(status_and_next(&got), expected, "get at {offset}");
        assert_eq!((got.min_offset, got.max_offset), (0, 5));
    }
    assert_eq!(status_and_next(&store.get("T", 1, 0, 32)), (NoMessageInQueue, 0, 0));
    let names = [Found, NoMatchedMessage, OffsetOverflowOne, NoMessageInQueue].map(GetMessageStatus::name);
    assert_eq!(names, ["FOUND", "NO_MATCHED_MESSAGE", "OFFSET_OVERFLOW_ONE", "NO_MESSAGE_IN_QUEUE"]);
}

#[test]
fn field_F34_a_page_ends_at_its_limits() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = small_config(dir.path());
    config.commit_log.mapped_file_size_commit_log = 1 << 20;
    config.consume_queue.mapped_file_size_consume_queue = 2000;
    let mut store = TestStore::open(config).unwrap();
    for _ in 0..150 {
        store.put("Small", 0, "b");
    }
    for _ in 0..6 {
        store.put("Large", 0, &"x".repeat(100_000));
    }
    store.put("Huge", 0, &"x".repeat(400_000));
    store.settle();
    assert_eq!(store.get("Small", 0, 0, 1000).messages.len(), 32, "messages of a page");
    for (asked, expected) in [(1, 1), (10, 10), (32, 32), (33, 32)] {
        let got = store.get("Small", 0, 3, asked);
        assert_eq!(
            (got.messages.len(), got.next_begin_offset),
            (expected, 3 + expected as u64),
            "{asked} asked for"
        );
    }
    assert_eq!(store.get("Small", 0, 90, 32).messages.len(), 10, "to the end of the queue file");
    assert_eq!(store.get("Small", 0, 100, 32).messages.len(), 32);
    let got = store.get("Large", 0, 0, 32);
    assert_eq!(got.messages.len(), 2, "256 KiB");
    assert_eq!(got.total_bytes, got.messages.iter().map(|record| record.len() as u64).sum::<u64>());
    assert_eq!(store.get("Huge", 0, 0, 32).messages.len(), 1, "the first one always fits");
    assert!(!got.suggest_pulling_from_slave);
}

#[test]
fn field_F34_cold_data_comes_in_smaller_pages() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = small_config(dir.path());
    config.consume_queue.mapped_file_size_consume_queue = 2000;
    config.read.access_message_in_memory_max_ratio = 0;
    let mut store = TestStore::open(config).unwrap();
    for _ in 0..50 {
        store.put("T", 0, "b");
    }
    store.settle();
    let got = store.get("T", 0, 0, 32);
    assert_eq!((got.messages.len(), got.next_begin_offset), (8, 8));
    assert!(got.suggest_pulling_from_slave);
}

struct Tag(i64);

impl MessageFilter for Tag {
    fn matches_tags_code(&self, tags_code: i64) -> bool {
        self.0 == tags_code
    }
}

struct BodyEnds(&'static str);

impl MessageFilter for BodyEnds {
    fn matches_tags_code(&self, _tags_code: i64) -> bool {
        true
    }

    fn matches_record(&self, record: &[u8]) -> bool {
        offset_and_body(record).1.ends_with(self.0)
    }
}

#[test]
fn field_F35_filters_pass_over_what_does_not_match() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = small_config(dir.path());
    config.consume_queue.mapped_file_size_consume_queue = 200_000;
    config.commit_log.mapped_file_size_commit_log = 1 << 20;
    let mut store = TestStore::open(config).unwrap();
    for number in 0..2000 {
        let tag = if number % 900 == 899 { "rare" } else { "common" };
        store.put_with("T", &format!("body {number}"), &format!("TAGS\u{1}{tag}\u{2}"));
    }
    store.settle();
    let get = |offset, filter: &dyn MessageFilter| {
        let request = GetRequest { topic: "T", queue_id: 0, offset, max_messages: 32, filter: Some(filter) };
        store.store.get(&request)
    };
    let rare = Tag(i64::from(store_core::tags_code::java_string_hash("rare")));
    // 800 units are looked through at a time.
    assert_eq!(status_and_next(&get(0, &rare)), (NoMatchedMessage, 800, 0));
    assert_eq!(status_and_next(&get(800, &rare)), (Found, 1600, 1));
    assert_eq!(status_and_next(&get(1600, &rare)), (Found, 2000, 1));
    let got = get(0, &BodyEnds("00"));
    let found: Vec<_> = got.messages.iter().map(|record| offset_and_body(record).0).collect();
    assert_eq!((found, got.next_begin_offset), (vec![100, 200, 300, 400, 500, 600, 700], 800));
    assert_eq!(status_and_next(&get(0, &BodyEnds("none"))), (NoMatchedMessage, 800, 0));
}

#[test]
fn a_view_outlives_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    store.put_batch(&[Message { properties: "k\u{1}v\u{2}", ..message("T", 0, b"kept") }]);
    store.settle();
    let record = store.get("T", 0, 0, 1).messages.remove(0);
    store.stop();
    drop(dir);
    assert_eq!(offset_and_body(&record), (0, "kept".to_owned()));
}

#[test]
fn field_F45_reads_make_no_queues() {
    let dir = tempfile::tempdir().unwrap();
    let mut test = TestStore::small(dir.path());
    test.put("Other", 0, "b");
    test.put("Deleted", 0, "b");
    test.settle();
    test.store.delete_topics(&["Deleted"]).unwrap();
    let store = &test.store;
    for topic in ["Never", "Deleted"] {
        for queue_id in 0..100 {
            assert_eq!(store.offsets(topic, queue_id), QueueOffsets::default());
            assert_eq!(status_and_next(&test.get(topic, queue_id, 0, 32)), (NoMessageInQueue, 0, 0));
            assert_eq!(store.offset_by_time(topic, queue_id, 0, BoundaryType::Lower), 0);
            assert_eq!(store.store_time(topic, queue_id, 0), None);
            assert_eq!(store.queue_unit(topic, queue_id, 0), None);
        }
        assert!(test.query(topic, "key").is_empty());
    }
    assert_eq!(store.topics(), ["Other"]);
    let store = Arc::clone(store);
    test.stop();
    assert_eq!(store.topics(), ["Other"], "nor does a flush");
    assert_eq!(files(&dir.path().join("consumequeue")), [dir.path().join("consumequeue/Other")]);
}

#[test]
fn field_F98_a_stop_changes_no_answer() {
    let dir = tempfile::tempdir().unwrap();
    let mut test = TestStore::small(dir.path());
    for _ in 0..25 {
        test.put_with("T", "b", "KEYS\u{1}k\u{2}");
    }
    test.settle();
    let answers = |test: &TestStore| {
        let store = &test.store;
        let statuses = [-1, 0, 24, 25, 26].map(|offset| status_and_next(&test.get("T", 0, offset, 32)));
        let times = [0, i64::MAX].map(|time| store.offset_by_time("T", 0, time, BoundaryType::Lower));
        (statuses, store.offsets("T", 0), times, store.store_time("T", 0, 3), test.query("T", "k").len())
    };
    let running = answers(&test);
    assert_eq!((running.1.max, running.4), (25, 25));
    let during = test.store.shutdown_with(|_| assert_eq!(answers(&test), running));
    during.unwrap();
    assert_eq!(answers(&test), running, "never an offset that is not the queue's");
}

#[test]
fn field_F115_every_place_of_a_queue_leads_to_its_own_message() {
    let dir = tempfile::tempdir().unwrap();
    let mut test = TestStore::small(dir.path());
    for number in 0..25 {
        test.put("Between", 0, "x");
        test.put("T", 0, &format!("b{number}"));
    }
    test.settle();
    let host = "127.0.0.1:10911".parse().unwrap();
    for queue_offset in 0..25 {
        let unit = test.store.queue_unit("T", 0, queue_offset).unwrap();
        let id = message_id::encode(&host, unit.phy_offset);
        let place = message_id::decode(&id).unwrap();
        assert_eq!(place, (host, unit.phy_offset));
        let record = test.store.message_at(place.1).unwrap();
        assert_eq!(record.len() as u64, u64::from(unit.size));
        assert_eq!(offset_and_body(&record), (queue_offset, format!("b{queue_offset}")));
    }
}
