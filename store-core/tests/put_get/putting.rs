use crate::messages::message;
use crate::test_store::{TestStore, small_config};
use store_core::config::BrokerRole;
use store_core::record_format::{Decoded, decode};
use store_core::{Message, MessageStore, PutMessageStatus, sys_flag};

#[test]
fn every_field_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    let sent = Message {
        topic: "主题",
        queue_id: 7,
        flag: -1,
        sys_flag: sys_flag::COMPRESSED,
        born_timestamp: 1_600_000_000_123,
        born_host: "[2001:db8::1]:4711".parse().unwrap(),
        store_host: "10.0.0.1:10911".parse().unwrap(),
        reconsume_times: 3,
        prepared_transaction_offset: 99,
        body: b"body",
        properties: "TAGS\u{1}a\u{2}x\u{1}\u{6f22}\u{2}",
    };
    let put = store.put_batch(std::slice::from_ref(&sent));
    store.settle();
    let got = store.get("主题", 7, 0, 32);
    assert_eq!((got.messages.len(), got.total_bytes), (1, put.wrote_bytes));
    let Ok(Decoded::Record(view)) = decode(&got.messages[0], true) else { panic!("no record") };
    assert_eq!((view.topic, view.queue_id, view.flag, view.body), (sent.topic, 7, -1, sent.body));
    assert_eq!(view.sys_flag, sys_flag::COMPRESSED | sys_flag::BORN_HOST_V6);
    assert_eq!((view.born_timestamp, view.store_timestamp), (sent.born_timestamp, put.store_timestamp));
    assert_eq!((view.born_host, view.store_host), (sent.born_host, sent.store_host));
    assert_eq!((view.reconsume_times, view.prepared_transaction_offset), (3, 99));
    assert_eq!((view.queue_offset, view.physical_offset), (0, put.wrote_offset as i64));
    assert_eq!(view.properties, sent.properties);
    assert_eq!(store.store.message_at(put.wrote_offset).unwrap().len() as u64, put.wrote_bytes);
    assert!(store.store.message_at(put.wrote_offset + 1).is_none());
    assert_eq!(store.store.store_time("主题", 7, 0), Some(put.store_timestamp));
    assert_eq!(store.store.store_time("主题", 7, 1), None);
}

#[test]
fn records_follow_each_other_and_do_not_cross_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    let mut end = 0;
    for number in 0..100_u64 {
        let put = store.put("T", (number % 3) as i32, "some text");
        assert_eq!(put.logics_offset, number / 3);
        assert!(put.wrote_offset == end || put.wrote_offset % 4096 == 0, "{put:?} after {end}");
        end = put.wrote_offset + put.wrote_bytes;
        assert!(end.div_ceil(4096) == put.wrote_offset / 4096 + 1 && end % 4096 <= 4096 - 8);
        assert!(put.batch_offsets.is_empty());
    }
    store.settle();
    for queue_id in 0..3 {
        assert_eq!(store.read_all("T", queue_id).len(), [34, 33, 33][queue_id as usize]);
    }
}

#[test]
fn a_batch_goes_together() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    store.put("T", 0, &"x".repeat(3200));
    let bodies: Vec<String> = (0..10).map(|number| format!("batch {number}")).collect();
    let batch: Vec<_> = bodies.iter().map(|body| message("T", 0, body.as_bytes())).collect();
    let put = store.put_batch(&batch);
    assert_eq!((put.logics_offset, put.wrote_offset), (1, 4096), "it did not fit behind the first one");
    assert_eq!(put.batch_offsets.len(), 10);
    assert_eq!(put.batch_offsets[0], put.wrote_offset);
    assert!(put.batch_offsets.windows(2).all(|pair| pair[1] - pair[0] == put.wrote_bytes / 10));
    store.settle();
    let found: Vec<String> = store.read_all("T", 0).into_iter().skip(1).map(|(_, body)| body).collect();
    assert_eq!(found, bodies);
    assert_eq!(store.put("T", 0, "next").logics_offset, 11);

    let too_much = vec![message("T", 0, &[b'x'; 500]); 8];
    let refused = store.store.put_batch(&too_much).wait();
    assert_eq!((refused.status, refused.appended), (PutMessageStatus::MessageIllegal, None));
    for batch in [vec![], vec![message("T", 0, b"a"), message("T", 1, b"b")]] {
        let refused = store.store.put_batch(&batch).wait();
        assert_eq!((refused.status, refused.appended), (PutMessageStatus::MessageIllegal, None));
    }
    assert_eq!(store.put("T", 0, "next").logics_offset, 12, "refused ones took no offset");
}

#[test]
fn limits_are_exact_and_name_themselves() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = small_config(dir.path());
    config.commit_log.max_message_size = 3000;
    config.commit_log.mapped_file_size_commit_log = 64 << 10;
    let mut store = TestStore::open(config).unwrap();
    let refuse = |store: &TestStore, message: Message<'_>, status, words: &str| {
        let put = store.store.put(&message).wait();
        assert_eq!((put.status, put.appended), (status, None));
        assert!(put.remark.as_ref().is_some_and(|remark| remark.contains(words)), "{:?}", put.remark);
    };
    let illegal = PutMessageStatus::MessageIllegal;
    store.put("T", 0, &"x".repeat(3000));
    refuse(&store, message("T", 0, &[0; 3001]), illegal, "at most 3000 bytes, found 3001");

    let properties = format!("k\u{1}{}", "v".repeat(32_767 - 2));
    store.put_with("T", "b", &properties);
    let longer = format!("{properties}v");
    let too_long = Message { properties: &longer, ..message("T", 0, b"b") };
    refuse(&store, too_long, PutMessageStatus::PropertiesSizeExceeded, "at most 32767 bytes, found 32768");

    store.put(&"t".repeat(255), 0, "b");
    for topic in ["", ".", "..", "a/b", "a\\b", "nul\0", &"t".repeat(256), &"t".repeat(40_000)] {
        refuse(&store, message(topic, 0, b"b"), illegal, "topic");
    }
    refuse(&store, message("T", -1, b"b"), illegal, "queue -1");
    let flagged = Message { sys_flag: sys_flag::INNER_BATCH, ..message("T", 0, b"b") };
    refuse(&store, flagged, illegal, "INNER_NUM from 1 to 32767, found sysFlag 0x80 and none");
    let counted = Message { properties: "INNER_NUM\u{1}zwei\u{2}", ..message("T", 0, b"b") };
    refuse(&store, counted, illegal, "found sysFlag 0x0 and \"zwei\"");
}

#[test]
fn a_record_may_fill_a_file_to_the_last_eight_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    let fixed = store.put("T", 0, "").wrote_bytes as usize;
    let fits = "x".repeat(4096 - 8 - fixed);
    let put = store.put("T", 0, &fits);
    assert_eq!((put.wrote_offset, put.wrote_bytes), (4096, 4088));
    let refused = store.store.put(&message("T", 0, format!("{fits}x").as_bytes())).wait();
    assert_eq!(refused.status, PutMessageStatus::MessageIllegal);
    assert!(refused.remark.unwrap().contains("at most 4088 bytes, what one log file holds, found 4089"));
    assert_eq!(store.put("T", 0, "y").wrote_offset, 8192);
    store.settle();
    assert_eq!(store.read_all("T", 0).len(), 3);
}

#[test]
fn a_slave_and_a_stopped_store_refuse() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = small_config(dir.path());
    config.broker_role = BrokerRole::Slave;
    let slave = TestStore::open(config).unwrap();
    let refused = slave.store.put(&message("T", 0, b"b")).wait();
    assert_eq!((refused.status, refused.appended), (PutMessageStatus::ServiceNotAvailable, None));
    assert!(refused.remark.unwrap().contains("slave"));
    slave.stop();

    let mut store = TestStore::small(dir.path());
    store.put("T", 0, "b");
    assert_eq!(store.store.write_refusal(), None);
    store.store.shutdown().unwrap();
    store.store.shutdown().unwrap();
    let refused = store.store.put(&message("T", 0, b"b")).wait();
    assert_eq!((refused.status, refused.appended), (PutMessageStatus::ServiceNotAvailable, None));
    assert!(refused.remark.unwrap().contains("shutting down"));
    assert!(store.store.write_refusal().is_some());
    assert_eq!(store.read_all("T", 0).len(), 1, "it can still be read");
}

#[test]
fn the_counters_are_told_in_apaches_words() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    for _ in 0..5 {
        store.put("T", 0, "body");
    }
    let refused = store.store.put(&message("", 0, b"b")).wait();
    assert!(!refused.is_stored());
    store.settle();
    store.read_all("T", 0);
    store.store.shutdown().unwrap();
    let info = store.store.runtime_info();
    assert_eq!((info["putMessageTimesTotal"].as_str(), info["putMessageFailedTimes"].as_str()), ("5", "1"));
    assert_eq!((info["commitLogMinOffset"].as_str(), info["dispatchBehindBytes"].as_str()), ("0", "0"));
    assert_eq!(info["commitLogMaxOffset"], info["putMessageSizeTotal"]);
    assert!(info.contains_key("commitLogDiskRatio") && info.contains_key("consumeQueueDiskRatio"));
}
