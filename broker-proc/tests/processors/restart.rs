//! What outlives a broker, and what keeps a second one away.

use crate::in_process::{TestBroker, free_port, requests};
use broker_proc::remoting::headers::QueryConsumerOffsetRequestHeader;
use broker_proc::remoting::protocol::SubscriptionGroupConfig;
use broker_proc::remoting::{RemotingCommand, request_code};
use std::process::Command;

#[tokio::test]
async fn topics_groups_offsets_and_messages_stay() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.ok(requests::create_topic("Kept", 3)).await;
    let group =
        SubscriptionGroupConfig { group_name: "kept".to_owned(), retry_max_times: 5, ..Default::default() };
    let update = RemotingCommand::request(request_code::UPDATE_AND_CREATE_SUBSCRIPTIONGROUP);
    client.ok(update.with_json_body(&group).unwrap()).await;
    for body in ["a", "b"] {
        client.send("Kept", 2, body, &requests::properties(&[("KEYS", body)])).await;
    }
    client.until_dispatched("Kept", 2, 2).await;
    client.ok(requests::commit("kept", "Kept", 2, 1)).await;
    let topics = broker.context().topics.all_topics();

    let broker = broker.restart().await;
    assert!(broker.broker().recovery_report().clean);
    assert_eq!(broker.context().topics.all_topics(), topics);
    assert_eq!(broker.context().groups.get("kept").unwrap().retry_max_times, 5);
    let client = broker.client();
    assert_eq!(client.max_offset("Kept", 2).await, 2, "there before the first request");
    let header = QueryConsumerOffsetRequestHeader {
        consumer_group: "kept".to_owned(),
        topic: "Kept".to_owned(),
        queue_id: 2,
        set_zero_if_not_found: Some(false),
    };
    let answer = client.ok(RemotingCommand::request_with(request_code::QUERY_CONSUMER_OFFSET, &header)).await;
    assert_eq!(answer.field("offset"), Some("1"));
    let (_, messages) = client.pull(&requests::pull_header("kept", "Kept", 2, 0), 0).await;
    assert_eq!(messages.iter().map(|message| message.body.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    let sent = client.send("Kept", 2, "c", "").await;
    assert_eq!(sent.queue_offset, 2);
    broker.stop().await;
}

#[tokio::test]
async fn a_second_broker_on_the_same_store_is_refused() {
    let broker = TestBroker::start().await;
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("broker.conf");
    std::fs::write(&config, broker.settings()).unwrap();
    let mut second = Command::new(env!("CARGO_BIN_EXE_stratamq"));
    second.arg("broker").arg("-c").arg(&config).arg("--store").arg(broker.root());
    second.args(["--listen-port", &free_port().to_string(), "--namesrv-port", "0"]);
    second.env_remove("NAMESRV_ADDR").env_remove("STRATAMQ_LOG");
    let output = tokio::task::spawn_blocking(move || second.output().unwrap()).await.unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("another process (a StrataMQ or RocketMQ broker) is using this store"),
        "{message}"
    );
    assert!(message.contains(&broker.root().display().to_string()), "{message}");
    broker.client().send("Unharmed", 0, "x", "").await;
    broker.stop().await;
}
