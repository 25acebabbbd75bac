//! Messages delayed by level.

use crate::in_process::{TestBroker, pulled, requests};
use broker_proc::remoting::response_code;
use std::time::Duration;

fn delayed(level: &str) -> String {
    requests::properties(&[("DELAY", level), ("TAGS", "TagA")])
}

#[tokio::test]
async fn a_message_comes_when_its_level_is_due() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.ok(requests::create_topic("Later", 2)).await;
    client.send("Later", 1, "in a minute", &delayed("5")).await;
    let soon = client.send("Later", 1, "in a second", &delayed("1")).await;
    assert_eq!((soon.queue_id, soon.queue_offset), (1, 0), "the queue asked for, the place where it waits");
    client.until_dispatched("SCHEDULE_TOPIC_XXXX", 4, 1).await;
    client.until_dispatched("SCHEDULE_TOPIC_XXXX", 0, 1).await;

    let header = requests::waiting_pull_header("group", "Later", 1, 0, "TagA");
    let pull = client.start(requests::pull_with(&header));
    broker.skip(Duration::from_secs(1));
    let (_, messages) = pulled(&pull.await.unwrap(), response_code::SUCCESS);
    assert_eq!(messages.len(), 1, "the other one is not due");
    assert_eq!((messages[0].topic.as_str(), messages[0].queue_id), ("Later", 1));
    assert_eq!(messages[0].body, "in a second");
    let kept = ["DELAY", "REAL_TOPIC", "REAL_QID", "TAGS"].map(|name| messages[0].property(name));
    assert_eq!(kept, ["1", "Later", "1", "TagA"]);

    broker.skip(Duration::from_secs(59));
    client.until_dispatched("Later", 1, 2).await;
    let (_, messages) = client.pull(&requests::pull_header("group", "Later", 1, 1), 0).await;
    assert_eq!(messages[0].body, "in a minute");
    broker.stop().await;
}

#[tokio::test]
async fn a_message_does_not_come_before_it_is_due() {
    let broker = TestBroker::with("messageDelayLevel=0s 5s\n").await;
    let client = broker.client();
    client.send("Later", 0, "x", &delayed("2")).await;
    client.until_dispatched("SCHEDULE_TOPIC_XXXX", 1, 1).await;
    broker.skip(Duration::from_millis(4999));
    // Levels are looked at one after the other: when the second of these has come, the level above has been looked at.
    for count in 1..=2 {
        client.send("AtOnce", 0, "x", &delayed("1")).await;
        client.until_dispatched("AtOnce", 0, count).await;
    }
    assert_eq!(client.max_offset("Later", 0).await, 0);
    broker.skip(Duration::from_millis(1));
    client.until_dispatched("Later", 0, 1).await;
    broker.stop().await;
}

#[tokio::test]
async fn field_F84_levels_that_are_none() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.send("Levels", 0, "x", &delayed("0")).await;
    client.send("Levels", 0, "x", &delayed("-3")).await;
    client.until_dispatched("Levels", 0, 2).await;
    client.send("Levels", 0, "x", &delayed("77")).await;
    client.until_dispatched("SCHEDULE_TOPIC_XXXX", 17, 1).await;
    let (code, remark) = client.outcome(requests::send("Levels", 0, "x", &delayed("soon"))).await;
    assert_eq!(code, response_code::MESSAGE_ILLEGAL, "{remark}");
    broker.stop().await;
}

#[tokio::test]
async fn field_F83_what_was_delivered_is_not_delivered_again_after_a_restart() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.send("Once", 0, "first", &delayed("1")).await;
    client.send("Once", 0, "second", &delayed("2")).await;
    broker.skip(Duration::from_secs(1));
    client.until_dispatched("Once", 0, 1).await;
    let broker = broker.restart().await;
    let client = broker.client();
    broker.skip(Duration::from_secs(5));
    client.until_dispatched("Once", 0, 2).await;
    let (_, messages) = client.pull(&requests::pull_header("group", "Once", 0, 0), 0).await;
    let bodies: Vec<_> = messages.iter().map(|message| message.body.as_str()).collect();
    assert_eq!(bodies, ["first", "second"]);
    broker.stop().await;
}
