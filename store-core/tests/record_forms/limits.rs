use crate::messages::message;
use crate::see;
use crate::test_store::{TestStore, small_config};
use store_core::{Message, MessageStore, PutMessageStatus};

fn roomy(root: &std::path::Path) -> store_core::config::MessageStoreConfig {
    let mut config = small_config(root);
    config.commit_log.mapped_file_size_commit_log = 1 << 20;
    config
}

#[test]
fn field_F75_properties_reach_their_limit_and_not_beyond() {
    let dir = tempfile::tempdir().unwrap();
    let text = |len: usize| format!("k\u{1}{}", "v".repeat(len - 2));
    let (longest, longer) = (text(32_767), text(32_768));
    let mut store = TestStore::open(roomy(dir.path())).unwrap();
    let put = store.put_with("T", "b", &longest);
    assert_eq!(see(&store, put.wrote_offset, |view| view.properties.to_owned()), longest);

    let end = store.store.log_positions().end;
    fn with(properties: &str) -> Message<'_> {
        Message { properties, ..message("T", 0, b"b") }
    }
    for refused in
        [store.store.put(&with(&longer)), store.store.put_batch(&[with(&longest), with(&longer), with("")])]
    {
        let refused = refused.wait();
        assert_eq!(refused.status, PutMessageStatus::PropertiesSizeExceeded, "{:?}", refused.remark);
        assert!(refused.remark.unwrap().contains("at most 32767 bytes, found 32768"));
    }
    assert_eq!(store.store.log_positions().end, end, "nothing of it was written");
    store.stop();

    // What the store adds counts: a CRC of 20 bytes and the separator before it, and offsets in light queues.
    let mut config = roomy(dir.path());
    config.commit_log.enabled_append_prop_crc = true;
    config.multi_dispatch.enable_lmq = true;
    config.multi_dispatch.enable_multi_dispatch = true;
    let mut store = TestStore::open(config).unwrap();
    let put = store.put_with("T", "b", &text(32_767 - 21));
    assert_eq!(see(&store, put.wrote_offset, |view| view.properties.len()), 32_767);
    let names = "INNER_MULTI_DISPATCH\u{1}%LMQ%a\u{2}";
    let added = 20 + "INNER_MULTI_QUEUE_OFFSET".len() + 3;
    let filled = |len: usize| format!("{names}{}\u{2}", text(len - names.len() - 1));
    let put = store.put_with("T", "b", &filled(32_767 - added));
    assert_eq!(see(&store, put.wrote_offset, |view| view.properties.len()), 32_767);
    let end = store.store.log_positions().end;
    for properties in [text(32_767 - 20), filled(32_767 - added + 1)] {
        let refused = store.store.put(&with(&properties)).wait();
        assert_eq!(refused.status, PutMessageStatus::PropertiesSizeExceeded, "{:?}", refused.remark);
    }
    assert_eq!(store.store.log_positions().end, end);
    let put = store.put_with("T", "b", names);
    assert!(see(&store, put.wrote_offset, |view| view
        .properties
        .contains("INNER_MULTI_QUEUE_OFFSET\u{1}1\u{2}")));
}

#[test]
fn field_F76_long_topics_make_records_of_version_2() {
    let dir = tempfile::tempdir().unwrap();
    let retry = format!("%RETRY%{}", "g".repeat(193));
    let wide = "é".repeat(64);
    let topics = ["t".repeat(127), "t".repeat(128), "t".repeat(255), retry, wide];
    let mut store = TestStore::open(roomy(dir.path())).unwrap();
    for (topic, version) in topics.iter().zip([1, 2, 2, 2, 2]) {
        let put = store.put(topic, 0, "b");
        let length = if version == 1 { 91 } else { 92 };
        assert_eq!(put.wrote_bytes as usize, length + topic.len() + 1, "{topic}");
        let seen = see(&store, put.wrote_offset, |view| (view.version, view.topic.to_owned()));
        assert_eq!(seen, (version, topic.clone()));
    }
    for topic in ["t".repeat(256), "é".repeat(128)] {
        let refused = store.store.put(&message(&topic, 0, b"b")).wait();
        assert_eq!(refused.status, PutMessageStatus::MessageIllegal);
        assert!(refused.remark.unwrap().contains("at most 255 bytes"));
    }
    store.settle();
    drop(store);

    // A recovery reads the mixed log. With the key off no new one is taken, those that are there stay.
    let mut config = roomy(dir.path());
    config.commit_log.auto_message_version_on_topic_len = false;
    let mut store = TestStore::open(config).unwrap();
    assert_eq!(
        (store.store.recovery_report().records, store.store.recovery_report().cut.is_none()),
        (5, true)
    );
    let end = store.store.log_positions().end;
    for topic in &topics[1..] {
        assert_eq!(store.read_all(topic, 0), [(0, "b".to_owned())], "{topic}");
        let refused = store.store.put(&message(topic, 0, b"b")).wait();
        assert_eq!(refused.status, PutMessageStatus::MessageIllegal);
        assert!(refused.remark.unwrap().contains("at most 127 bytes, found"));
    }
    assert_eq!(store.store.log_positions().end, end, "nothing was written");
    store.put(&topics[0], 0, "b");
    for topic in &topics {
        assert_eq!(store.store.delete_topics(&[topic]).unwrap(), 1, "any topic that is there can be deleted");
    }
}
