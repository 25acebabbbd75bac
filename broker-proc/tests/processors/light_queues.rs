//! Light message queues, from the send to the pull.

use crate::in_process::{TestBroker, requests};
use broker_proc::remoting::{request_code, response_code};

const SERVED: &str = "enableLmq=true\nenableMultiDispatch=true\nmaxLmqConsumeQueueNum=2\n";

#[tokio::test]
async fn messages_are_pulled_from_the_light_queues_they_name() {
    let broker = TestBroker::with(SERVED).await;
    let client = broker.client();
    let to = |names: &str| requests::properties(&[("TAGS", "t"), ("INNER_MULTI_DISPATCH", names)]);
    client.send("Parent", 0, "first", &to("%LMQ%a,%LMQ%b")).await;
    client.send("Parent", 1, "second", &to("%LMQ%a")).await;
    client.until_dispatched("%LMQ%a", 0, 2).await;
    client.until_dispatched("%LMQ%b", 0, 1).await;
    for (queue, expected) in [("%LMQ%a", &["first", "second"][..]), ("%LMQ%b", &["first"])] {
        let (fields, messages) = client.pull(&requests::pull_header("readers", queue, 0, 0), 0).await;
        let bodies: Vec<_> = messages.iter().map(|message| message.body.as_str()).collect();
        assert_eq!(bodies, expected, "{queue}: nobody has configured it");
        assert_eq!(fields.max_offset, expected.len() as i64);
    }

    for (names, code, words) in [
        ("%LMQ%a,%LMQ%c", response_code::SYSTEM_ERROR, "at most 2 light queues (maxLmqConsumeQueueNum)"),
        ("%LMQ%a,Parent", response_code::MESSAGE_ILLEGAL, "expected names of light queues"),
    ] {
        let mut header = requests::send_header("Parent", 0);
        header.properties = Some(to(names));
        let refused = requests::send_with(request_code::SEND_MESSAGE, &header, b"x".to_vec());
        let (found, remark) = client.outcome(refused).await;
        assert_eq!(found, code, "{remark}");
        assert!(remark.contains(words), "{remark}");
    }
    broker.stop().await;
}

#[tokio::test]
async fn progress_in_light_queues_survives_a_restart() {
    let broker = TestBroker::with(SERVED).await;
    let client = broker.client();
    let names = requests::properties(&[("INNER_MULTI_DISPATCH", "%LMQ%a")]);
    for _ in 0..3 {
        client.send("Parent", 0, "body", &names).await;
    }
    client.until_dispatched("%LMQ%a", 0, 3).await;
    let now = broker.context().now();
    for group in ["%LMQ%g", "g"] {
        broker.context().offsets.commit_offset(group, "%LMQ%a", 0, 2, now);
    }
    let broker = broker.restart().await;
    for group in ["%LMQ%g", "g"] {
        assert_eq!(broker.context().offsets.query_offset(group, "%LMQ%a", 0), Some(2), "{group}");
    }
    broker.client().until_dispatched("%LMQ%a", 0, 3).await;
    broker.stop().await;
}

#[tokio::test]
async fn without_the_keys_a_light_queue_is_no_topic() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let names = requests::properties(&[("INNER_MULTI_DISPATCH", "%LMQ%a")]);
    client.send("Parent", 0, "first", &names).await;
    client.until_dispatched("Parent", 0, 1).await;
    let pull = requests::pull_with(&requests::pull_header("readers", "%LMQ%a", 0, 0));
    assert_eq!(client.outcome(pull).await.0, response_code::TOPIC_NOT_EXIST);
    broker.stop().await;
}
