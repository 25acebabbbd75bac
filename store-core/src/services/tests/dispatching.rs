use super::HandStore;
use crate::service::{Service, Step};
use crate::services::reput_message_service::ReputMessageService;
use crate::{Arrival, MessageArrivingListener, PutMessageStatus, QueryRequest};
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct Arrived(Mutex<Vec<(String, u64, i64)>>);

impl MessageArrivingListener for Arrived {
    fn arriving(&self, arrival: &Arrival<'_>) {
        self.0.lock().unwrap().push((arrival.topic.to_owned(), arrival.next_offset, arrival.tags_code));
    }
}

fn listening_store() -> (HandStore, Arc<Arrived>) {
    let store = HandStore::open(|_| {});
    let arrived = Arc::new(Arrived::default());
    assert!(store.listen(Arc::clone(&arrived) as Arc<dyn MessageArrivingListener>));
    (store, arrived)
}

#[test]
fn messages_come_up_in_log_order_whatever_their_queue() {
    let (store, arrived) = listening_store();
    let mut service = ReputMessageService::new(Arc::clone(&store));
    assert!(matches!(service.step(), Step::Wait(_)));
    let mut expected = Vec::new();
    for number in 0..60_u64 {
        let topic = ["A", "B", "C"][number as usize % 3];
        let put = store.put(topic);
        expected.push((topic.to_owned(), put.logics_offset + 1, 0));
    }
    assert!(store.log.files().file_count() > 2, "over several files");
    while service.step() == Step::Again {}
    assert_eq!(*arrived.0.lock().unwrap(), expected);
    assert_eq!(store.dispatch_behind_bytes(), 0);
    for topic in ["A", "B", "C"] {
        assert_eq!(store.max_offset(topic), 20);
    }
}

#[test]
fn invisible_records_take_no_place() {
    let (store, arrived) = listening_store();
    let body = b"half";
    for transaction in [crate::sys_flag::TRANSACTION_PREPARED, crate::sys_flag::TRANSACTION_ROLLBACK] {
        let mut message = super::message("T", body, "UNIQ_KEY\u{1}u\u{2}");
        message.sys_flag = transaction;
        let put = store.recovered.shared.put(&[message]).wait().appended.unwrap();
        assert_eq!(put.logics_offset, 0);
    }
    assert_eq!(store.put("T").logics_offset, 0);
    while store.dispatch_some().unwrap() {}
    assert_eq!(store.max_offset("T"), 1);
    assert_eq!(arrived.0.lock().unwrap().len(), 1);
    let request = QueryRequest { topic: "T", key: "u", max_messages: 9, begin: 0, end: i64::MAX };
    assert_eq!(store.query(&request).messages.len(), 1, "prepared records are indexed, rolled back ones not");
}

#[test]
fn nothing_overtakes_a_record_that_cannot_be_dispatched() {
    let (store, arrived) = listening_store();
    let mut service = ReputMessageService::new(Arc::clone(&store));
    let blocked = store.paths.consume_queue().join("Blocked");
    store.put("Before");
    store.put("Blocked");
    store.put("Behind");
    std::fs::write(&blocked, b"a file where a directory should be").unwrap();
    for _ in 0..3 {
        service.step();
    }
    assert_eq!(arrived.0.lock().unwrap().len(), 1);
    assert_eq!((store.max_offset("Before"), store.max_offset("Behind")), (1, 0));
    let refused = store.send("Other", "").wait();
    assert_eq!(refused.status, PutMessageStatus::ServiceNotAvailable);
    assert!(refused.remark.unwrap().contains("dispatch failed"));

    std::fs::remove_file(&blocked).unwrap();
    while service.step() == Step::Again {}
    assert_eq!((store.max_offset("Blocked"), store.max_offset("Behind")), (1, 1));
}

#[test]
fn records_of_a_deleted_topic_that_wait_for_dispatch_go_with_it() {
    let (store, arrived) = listening_store();
    for _ in 0..3 {
        store.put("T");
    }
    while store.dispatch_some().unwrap() {}
    store.put("T");
    assert_eq!(store.delete_topics(&["T", "never-seen"]).unwrap(), 1);
    assert_eq!(store.put("T").logics_offset, 0, "a new queue of the name begins at 0");
    while store.dispatch_some().unwrap() {}
    assert_eq!(store.max_offset("T"), 1);
    assert_eq!(arrived.0.lock().unwrap().last().unwrap().1, 1);
}

/// Panics once, at the fifth message.
struct Stumbling(Arrived);

impl MessageArrivingListener for Stumbling {
    fn arriving(&self, arrival: &Arrival<'_>) {
        assert!(arrival.next_offset != 5, "a listener stumbles");
        self.0.arriving(arrival);
    }
}

#[test]
fn field_F25_dispatch_goes_on_behind_a_listener_that_panics() {
    let store = HandStore::open(|_| {});
    let listener = Arc::new(Stumbling(Arrived::default()));
    assert!(store.listen(Arc::clone(&listener) as Arc<dyn MessageArrivingListener>));
    for _ in 0..10 {
        store.put("T");
    }
    let mut service = ReputMessageService::new(Arc::clone(&store));
    while service.step() == Step::Again {}
    assert_eq!((store.max_offset("T"), store.dispatch_behind_bytes()), (10, 0));
    let told: Vec<u64> = listener.0.0.lock().unwrap().iter().map(|arrived| arrived.1).collect();
    assert_eq!(told, [1, 2, 3, 4, 6, 7, 8, 9, 10]);
    assert_eq!(store.runtime_info()["arrivalPanics"], "1", "and it can be seen");
    assert!(store.send("T", "").wait().is_stored());
}
