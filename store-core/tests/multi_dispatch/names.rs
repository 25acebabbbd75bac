//! Which names are taken, and how many of them.

use crate::messages::message;
use crate::test_store::TestStore;
use crate::{bodies, config, open, settle, to, with};
use store_core::{MessageStore, PutMessageStatus};

#[test]
fn field_F102_the_count_of_light_queues_follows_removals() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = config(dir.path());
    config.multi_dispatch.max_lmq_consume_queue_num = 150;
    let mut store = TestStore::open(config.clone()).unwrap();
    let name = |number: usize| format!("%LMQ%{number}");
    for number in 0..100 {
        store.put_with("T", "first", &to(&name(number)));
    }
    settle(&store);
    let former: Vec<String> = (0..100).map(name).collect();
    let former: Vec<&str> = former.iter().map(String::as_str).collect();
    assert_eq!(store.store.delete_topics(&former).unwrap(), 100);
    for number in 100..250 {
        store.put_with("T", "second", &to(&name(number)));
    }
    settle(&store);

    let before = store.store.log_positions().end;
    let names = to(&format!("{},%LMQ%one-more", name(200)));
    let put = store.store.put(&with(message("T", 0, b"x"), &names)).wait();
    assert_eq!(put.status, PutMessageStatus::LmqConsumeQueueNumExceeded);
    assert!(put.remark.unwrap().contains("expected at most 150 light queues"));
    assert_eq!(store.store.log_positions().end, before, "nothing was stored");
    store.put_with("T", "third", &to(&name(200)));
    settle(&store);
    assert_eq!(bodies(&store, &name(200)), ["second", "third"], "those that are there go on");
    assert_eq!(store.store.offsets(&name(7), 0).max, 0);
    drop(store);

    // What was deleted stays away, also when the records are dispatched again.
    let mut store = TestStore::open(config).unwrap();
    assert_eq!((store.store.offsets(&name(7), 0).max, bodies(&store, &name(200)).len()), (0, 2));
    assert_eq!(store.store.delete_topics(&[&name(249)]).unwrap(), 1);
    store.put_with("T", "again", &to(&name(7)));
    settle(&store);
    assert_eq!(bodies(&store, &name(7)), ["again"], "it begins anew");
}

#[test]
fn field_F102_bad_names_are_refused_and_take_no_offset() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path());
    store.put_with("T", "good", &to("%LMQ%a"));
    settle(&store);
    let before = store.store.log_positions().end;
    let long = format!("%LMQ%{}", "n".repeat(251));
    for bad in [
        "%LMQ%",
        "%LMQ%a,,%LMQ%b",
        "%LMQ%a,%LMQ%a",
        "%LMQ%a,T2",
        "%LMQ%a/b",
        "%LMQ%..\\b",
        ",",
        long.as_str(),
    ] {
        let names = to(bad);
        let put = store.store.put(&with(message("T", 0, b"x"), &names)).wait();
        assert_eq!(put.status, PutMessageStatus::MessageIllegal, "{bad}");
        assert!(put.remark.unwrap().starts_with("INNER_MULTI_DISPATCH: expected"), "{bad}");
        // A batch is refused as a whole.
        let batch = [message("T", 0, b"y"), with(message("T", 0, b"x"), &names)];
        assert!(!store.store.put_batch(&batch).wait().is_stored(), "{bad}");
    }
    let itself = to("%LMQ%a,%LMQ%b");
    assert!(!store.store.put(&with(message("%LMQ%b", 0, b"x"), &itself)).wait().is_stored());
    assert_eq!(store.store.log_positions().end, before, "nothing was stored");
    store.put_with("T", "next", &to("%LMQ%a,"));
    settle(&store);
    assert_eq!(bodies(&store, "%LMQ%a"), ["good", "next"], "no offset was lost");
}

/// Retried messages keep their properties: they had their places in light queues.
#[test]
fn field_F102_retried_messages_take_no_offset() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path());
    for number in 0..4 {
        let topic = if number % 2 == 0 { "T" } else { "%RETRY%g" };
        store.put_with(topic, &number.to_string(), &to("%LMQ%a"));
    }
    settle(&store);
    assert_eq!(bodies(&store, "%LMQ%a"), ["0", "2"]);
    drop(store);
    let mut store = open(dir.path());
    store.put_with("T", "4", &to("%LMQ%a"));
    settle(&store);
    assert_eq!(bodies(&store, "%LMQ%a"), ["0", "2", "4"]);
}

/// Apache measures the whole record of a message that goes to light queues, and only the body of any other.
#[test]
fn the_largest_record_of_a_light_queue() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = config(dir.path());
    config.commit_log.max_message_size = 200;
    let mut store = TestStore::open(config).unwrap();
    let put = |store: &TestStore, body: &[u8], properties: &str| {
        store.store.put(&with(message("T", 0, body), properties)).wait()
    };
    assert!(put(&store, &[b'x'; 200], "").is_stored());
    let before = store.store.log_positions().end;
    let refused = put(&store, &[b'x'; 100], &to("%LMQ%a"));
    assert_eq!(refused.status, PutMessageStatus::MessageIllegal);
    assert!(refused.remark.unwrap().contains("expected at most maxMessageSize=200 bytes, found "));
    assert_eq!(store.store.log_positions().end, before, "nothing was stored");
    store.put_with("T", "short", &to("%LMQ%a"));
    settle(&store);
    assert_eq!(bodies(&store, "%LMQ%a"), ["short"], "no offset was taken");
}
