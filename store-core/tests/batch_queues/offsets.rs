//! Queue offsets, reads, searches by time, deletion.

use crate::{expected, fill, inner, open, put_inner, records};
use store_core::{BoundaryType, GetMessageStatus, MessageStore, QueueOffsets};

#[test]
fn a_batch_takes_as_many_offsets_as_it_has_messages() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path());
    let end = fill(&mut store, 0, 30);
    assert_eq!(store.store.offsets("Batch", 0), QueueOffsets { min: 0, max: end });
    assert_eq!(records(&store), expected(0, 30, 0));
    assert_eq!(store.store.offsets("Other", 0).max, 30);
    assert_eq!(store.query("Batch", "k").len(), 22, "inner batches by their key");
    let arrivals = store.arrivals.queues();
    let last = arrivals.iter().rev().find(|(topic, _)| topic == "Batch");
    assert_eq!(last, Some(&("Batch".to_owned(), end)), "a reader that waits is told of the whole batch");
    assert!(dir.path().join("batchconsumequeue/Batch/0").exists());
    assert!(!dir.path().join("consumequeue/Batch").exists());
    store.stop();
}

#[test]
fn a_read_in_the_middle_of_a_batch_gives_the_whole_record() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path());
    put_inner(&mut store, "first", 5);
    put_inner(&mut store, "second", 3);
    store.settle();
    let read = |offset, most| {
        let got = store.get("Batch", 0, offset, most);
        (got.status, got.messages.len(), got.message_count, got.next_begin_offset)
    };
    let found = GetMessageStatus::Found;
    assert_eq!(read(0, 1), (found, 1, 5, 5), "the first record always fits");
    assert_eq!(read(4, 32), (found, 2, 8, 8));
    assert_eq!(read(3, 7), (found, 1, 5, 5), "5 + 3 messages are more than 7");
    assert_eq!(read(7, 32), (found, 1, 3, 8));
    assert_eq!(read(8, 32).0, GetMessageStatus::OffsetOverflowOne);
    assert_eq!(read(9, 32), (GetMessageStatus::OffsetOverflowBadly, 0, 0, 8));
    let info = store.store.runtime_info();
    assert_eq!(info["putMessageTimesTotal"], "8", "messages, not records");
    let units: Vec<_> = (0..9).map(|offset| store.store.queue_unit("Batch", 0, offset)).collect();
    assert!(units[0].is_some() && units[..5].iter().all(|unit| *unit == units[0]));
    assert!(units[5] != units[0] && units[5] == units[7] && units[8].is_none());
    assert!(store.store.store_time("Batch", 0, 6).is_some());
    store.stop();
}

#[test]
fn offsets_by_time_are_those_of_first_messages() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path());
    let end = fill(&mut store, 0, 8);
    let at = |time, boundary| store.store.offset_by_time("Batch", 0, time, boundary);
    let first = store.store.store_time("Batch", 0, 0).unwrap();
    let last = store.store.store_time("Batch", 0, end as i64 as u64 - 1).unwrap();
    assert_eq!(at(first, BoundaryType::Lower), 0);
    assert_eq!(at(last + 1, BoundaryType::Lower), end);
    assert_eq!(at(last + 1, BoundaryType::Upper), end - 4, "the last batch");
    assert_eq!(at(first - 1, BoundaryType::Upper), 0);
    store.stop();
}

#[test]
fn an_ordinary_batch_is_records_of_one_message() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path());
    put_inner(&mut store, "inner", 3);
    let plain = ["a", "b", "c"].map(|body| crate::message("Batch", 0, body.as_bytes()));
    let appended = store.put_batch(&plain);
    assert_eq!((appended.logics_offset, appended.message_count, appended.batch_offsets.len()), (3, 3, 3));
    store.settle();
    let found: Vec<_> = records(&store).into_iter().map(|(base, count, _)| (base, count)).collect();
    assert_eq!(found, [(0, 3), (3, 1), (4, 1), (5, 1)]);
    store.stop();
}

#[test]
fn a_deleted_topic_begins_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path());
    fill(&mut store, 0, 10);
    assert_eq!(store.store.delete_topics(&["Batch"]).unwrap(), 1);
    assert!(!dir.path().join("batchconsumequeue/Batch").exists());
    assert_eq!(
        store.store.put(&inner("Batch", "anew", &crate::count_of(2))).wait().appended.unwrap().logics_offset,
        0
    );
    store.stop();
    let store = open(dir.path());
    assert_eq!(records(&store), [(0, 2, "anew".to_owned())], "records of the old topic do not come back");
    store.stop();
}
