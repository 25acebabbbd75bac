//! `CONSUMER_SEND_MSG_BACK`, retries that a consumer sends by itself, and dead letters.

use crate::in_process::{StoredMessage, TestBroker, TestClient, pulled, requests};
use broker_proc::remoting::headers::{ConsumerSendMsgBackRequestHeader, SendMessageRequestHeader};
use broker_proc::remoting::protocol::SubscriptionGroupConfig;
use broker_proc::remoting::{RemotingCommand, request_code, response_code};
use std::time::Duration;
use store_core::message_id;

const RETRY: &str = "%RETRY%group";
const DEAD: &str = "%DLQ%group";

fn back(message: &StoredMessage, delay_level: i32) -> ConsumerSendMsgBackRequestHeader {
    ConsumerSendMsgBackRequestHeader {
        offset: message.physical_offset,
        group: "group".to_owned(),
        delay_level,
        origin_msg_id: None,
        origin_topic: Some(message.topic.clone()),
        unit_mode: false,
        max_reconsume_times: None,
        broker_name: None,
    }
}

/// The message at `offset` of queue 0, waited for.
async fn message_at(client: &TestClient, topic: &str, offset: i64) -> StoredMessage {
    client.until_dispatched(topic, 0, offset + 1).await;
    let (_, mut messages) = client.pull(&requests::pull_header("reader", topic, 0, offset), 0).await;
    messages.remove(0)
}

async fn sent(client: &TestClient, topic: &str) -> StoredMessage {
    let properties = requests::properties(&[("TAGS", "TagA"), ("KEYS", "k"), ("UNIQ_KEY", "U1")]);
    client.send(topic, 0, "again", &properties).await;
    message_at(client, topic, 0).await
}

#[tokio::test]
async fn a_message_handed_back_comes_again_later() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let original = sent(&client, "Work").await;
    client.ok(requests::send_back(&back(&original, 0))).await;
    let waiting = message_at_level(&client, 3, 0).await;
    assert_eq!((waiting.property("REAL_TOPIC"), waiting.property("REAL_QID")), (RETRY, "0"));
    assert_eq!(client.max_offset(RETRY, 0).await, 0, "not due yet");

    let pull = client.start(requests::pull_with(&requests::waiting_pull_header("group", RETRY, 0, 0, "*")));
    broker.skip(Duration::from_secs(10));
    let (_, messages) = pulled(&pull.await.unwrap(), response_code::SUCCESS);
    let first = &messages[0];
    assert_eq!((first.topic.as_str(), first.body.as_str(), first.reconsume_times), (RETRY, "again", 1));
    assert_eq!((first.born_timestamp, first.born_host), (original.born_timestamp, original.born_host));
    let kept = ["TAGS", "KEYS", "UNIQ_KEY", "CLUSTER"].map(|name| first.property(name));
    assert_eq!(kept, ["TagA", "k", "U1", "TestCluster"]);
    let origin = message_id::encode(&original.store_host, u64::try_from(original.physical_offset).unwrap());
    let added = ["RETRY_TOPIC", "ORIGIN_MESSAGE_ID", "DELAY", "WAIT"].map(|name| first.property(name));
    assert_eq!(added, ["Work", origin.as_str(), "3", "false"]);

    client.ok(requests::send_back(&back(first, 0))).await;
    message_at_level(&client, 4, 0).await;
    broker.skip(Duration::from_secs(30));
    let second = message_at(&client, RETRY, 1).await;
    assert_eq!(second.reconsume_times, 2);
    let kept = ["RETRY_TOPIC", "ORIGIN_MESSAGE_ID", "DELAY"].map(|name| second.property(name));
    assert_eq!(kept, ["Work", origin.as_str(), "4"], "it is still the first message's");
    broker.stop().await;
}

/// A message that waits for its delay.
async fn message_at_level(client: &TestClient, level: i32, offset: i64) -> StoredMessage {
    client.until_dispatched("SCHEDULE_TOPIC_XXXX", level - 1, offset + 1).await;
    let header = requests::pull_header("reader", "SCHEDULE_TOPIC_XXXX", level - 1, offset);
    let (_, mut messages) = client.pull(&header, 0).await;
    messages.remove(0)
}

#[tokio::test]
async fn the_level_asked_for_counts() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let original = sent(&client, "Work").await;
    client.ok(requests::send_back(&back(&original, 7))).await;
    assert_eq!(message_at_level(&client, 7, 0).await.property("DELAY"), "7");
    client.ok(requests::send_back(&back(&original, 99))).await;
    assert_eq!(message_at_level(&client, 18, 0).await.property("DELAY"), "18");
    broker.stop().await;
}

#[tokio::test]
async fn used_up_retries_and_negative_levels_make_dead_letters() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let original = sent(&client, "Work").await;
    client.ok(requests::send_back(&back(&original, -1))).await;
    let dead = message_at(&client, DEAD, 0).await;
    assert_eq!((dead.body.as_str(), dead.reconsume_times, dead.property("DELAY")), ("again", 1, ""));
    assert_eq!(dead.property("RETRY_TOPIC"), "Work");
    assert_eq!(broker.context().topics.select_topic_config(DEAD).unwrap().write_queue_nums, 1);

    let used_up = ConsumerSendMsgBackRequestHeader { max_reconsume_times: Some(0), ..back(&original, 0) };
    client.ok(requests::send_back(&used_up)).await;
    message_at(&client, DEAD, 1).await;

    let group =
        SubscriptionGroupConfig { group_name: "group".to_owned(), retry_max_times: 1, ..Default::default() };
    let update = RemotingCommand::request(request_code::UPDATE_AND_CREATE_SUBSCRIPTIONGROUP);
    client.ok(update.with_json_body(&group).unwrap()).await;
    client.ok(requests::send_back(&back(&dead, 0))).await;
    assert_eq!(message_at(&client, DEAD, 2).await.reconsume_times, 2);
    broker.stop().await;
}

#[tokio::test]
async fn numbers_of_retries_do_not_run_over() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    for (offset, reconsume_times) in (0..).zip([i32::MAX, i32::MAX - 1]) {
        let header = SendMessageRequestHeader { reconsume_times, ..requests::send_header("Work", 0) };
        client.ok(requests::send_with(request_code::SEND_MESSAGE, &header, "x")).await;
        let message = message_at(&client, "Work", offset).await;
        let header =
            ConsumerSendMsgBackRequestHeader { max_reconsume_times: Some(i32::MAX), ..back(&message, 0) };
        client.ok(requests::send_back(&header)).await;
    }
    assert_eq!(message_at(&client, DEAD, 0).await.reconsume_times, i32::MAX);
    assert_eq!(message_at_level(&client, 18, 0).await.reconsume_times, i32::MAX);
    broker.stop().await;
}

#[tokio::test]
async fn what_cannot_be_handed_back() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let original = sent(&client, "Work").await;
    for offset in [original.physical_offset + 1, i64::MAX, -1] {
        let header = ConsumerSendMsgBackRequestHeader { offset, ..back(&original, 0) };
        let remark = format!("look message by offset failed, {offset}");
        assert_eq!(client.outcome(requests::send_back(&header)).await, (response_code::SYSTEM_ERROR, remark));
    }
    let header = ConsumerSendMsgBackRequestHeader { group: "bad group".to_owned(), ..back(&original, 0) };
    let (code, remark) = client.outcome(requests::send_back(&header)).await;
    assert_eq!(code, response_code::SUBSCRIPTION_GROUP_NOT_EXIST);
    assert!(remark.starts_with("subscription group not exist, bad group"), "{remark}");

    let no_retries =
        SubscriptionGroupConfig { group_name: "group".to_owned(), retry_queue_nums: 0, ..Default::default() };
    let update = RemotingCommand::request(request_code::UPDATE_AND_CREATE_SUBSCRIPTIONGROUP);
    client.ok(update.with_json_body(&no_retries).unwrap()).await;
    client.ok(requests::send_back(&back(&original, -1))).await;
    assert!(broker.context().topics.select_topic_config(DEAD).is_none(), "answered and not stored");
    broker.stop().await;
}

#[tokio::test]
async fn a_consumer_that_sends_its_retries_by_itself() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let resend = |reconsume_times, max_reconsume_times| {
        let properties = requests::properties(&[("DELAY", "3"), ("RETRY_TOPIC", "Work")]);
        let header = SendMessageRequestHeader {
            properties: Some(properties),
            reconsume_times,
            max_reconsume_times,
            ..requests::send_header(RETRY, 0)
        };
        requests::send_with(request_code::SEND_MESSAGE, &header, "resent")
    };
    client.ok(resend(16, Some(16))).await;
    message_at_level(&client, 3, 0).await;
    client.ok(resend(17, Some(16))).await;
    let dead = message_at(&client, DEAD, 0).await;
    assert_eq!((dead.body.as_str(), dead.reconsume_times, dead.property("DELAY")), ("resent", 17, "-1"));
    client.ok(resend(17, None)).await;
    message_at(&client, DEAD, 1).await;
    let mut old_client = resend(17, Some(100));
    old_client.version = 120;
    client.ok(old_client).await;
    message_at(&client, DEAD, 2).await;
    let header = requests::send_header("%RETRY%|", 0);
    client.ok(requests::send_with(request_code::SEND_MESSAGE, &header, "x")).await;
    broker.stop().await;
}
