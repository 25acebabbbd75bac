//! What is no inner batch.

use crate::{INNER, count_of, inner, open};
use store_core::{Message, MessageStore, PutMessageStatus, sys_flag};

#[test]
fn what_cannot_be_counted_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let two = count_of(2);
    let plain = Message { sys_flag: 0, ..inner("Batch", "b", &two) };
    let half = Message { sys_flag: INNER | sys_flag::TRANSACTION_PREPARED, ..plain.clone() };
    let refused = [
        vec![inner("Other", "b", &two)],
        vec![plain.clone()],
        vec![Message { topic: "Other", ..plain }],
        vec![half],
        vec![inner("Batch", "b", &two), inner("Batch", "b", &two)],
        vec![inner("Batch", "b", "")],
        vec![inner("Batch", "b", "INNER_NUM\u{1}0\u{2}")],
        vec![inner("Batch", "b", "INNER_NUM\u{1}-1\u{2}")],
        vec![inner("Batch", "b", "INNER_NUM\u{1}32768\u{2}")],
        vec![inner("Batch", "b", "INNER_NUM\u{1}many\u{2}")],
    ];
    for messages in &refused {
        let put = store.store.put_batch(messages).wait();
        assert_eq!(put.status, PutMessageStatus::MessageIllegal, "{messages:?}");
        assert!(put.remark.is_some_and(|remark| remark.contains("inner batch")), "{messages:?}");
    }
    assert_eq!(store.store.log_positions().end, 0);
    store.stop();
}

#[test]
fn the_store_alone_says_where_a_batch_begins() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path());
    let lie = format!("INNER_BASE\u{1}77\u{2}{}", count_of(2));
    assert_eq!(store.put_batch(&[inner("Batch", "b", &lie)]).logics_offset, 0);
    store.settle();
    assert_eq!(crate::records(&store), [(0, 2, "b".to_owned())]);
    store.stop();
}

#[test]
fn a_batch_without_room_for_its_base_is_refused_whole() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = crate::TestStore::open({
        let mut config = crate::config(dir.path());
        config.commit_log.mapped_file_size_commit_log = 1 << 17;
        config
    })
    .unwrap();
    let filler = "x".repeat(32_767 - 20);
    let long = format!("INNER_NUM\u{1}2\u{2}F\u{1}{filler}\u{2}");
    assert!(long.len() <= 32_767 && long.len() > 32_750);
    let put = store.store.put(&inner("Batch", "b", &long)).wait();
    assert_eq!(put.status, PutMessageStatus::PropertiesSizeExceeded, "{put:?}");
    assert_eq!(crate::put_inner(&mut store, "b", 2).logics_offset, 0);
    store.settle();
    store.stop();
}
