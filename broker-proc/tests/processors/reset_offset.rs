//! `INVOKE_BROKER_TO_RESET_OFFSET`: the next pull takes the new offset up.

use crate::in_process::{TestBroker, TestClient, requests};
use broker_proc::remoting::headers::ResetOffsetRequestHeader;
use broker_proc::remoting::protocol::ResetOffsetBody;
use broker_proc::remoting::{RemotingCommand, request_code, response_code};
use std::time::Duration;

fn reset(queue_id: i32, offset: Option<i64>, timestamp: i64) -> ResetOffsetRequestHeader {
    ResetOffsetRequestHeader {
        topic: "Reset".to_owned(),
        group: "group".to_owned(),
        queue_id,
        offset,
        timestamp,
        is_force: true,
    }
}

fn request(header: &ResetOffsetRequestHeader) -> RemotingCommand {
    RemotingCommand::request_with(request_code::INVOKE_BROKER_TO_RESET_OFFSET, header)
}

/// New offsets by queue.
async fn done(client: &TestClient, header: &ResetOffsetRequestHeader) -> Vec<(i32, i64)> {
    let body: ResetOffsetBody = client.ok(request(header)).await.decode_body().unwrap();
    body.offset_table.into_iter().map(|(queue, offset)| (queue.queue_id, offset)).collect()
}

/// A topic of two queues with three messages in the first, a second apart, and a group that has consumed them all.
async fn consumed(broker: &TestBroker) -> TestClient {
    let client = broker.client();
    client.ok(requests::create_topic("Reset", 2)).await;
    client.ok(requests::heartbeat("c1", &[], vec![requests::consumer("group", vec![])])).await;
    for body in ["a", "b", "c"] {
        client.send("Reset", 0, body, "").await;
        broker.skip(Duration::from_secs(1));
    }
    client.until_dispatched("Reset", 0, 3).await;
    client.ok(requests::commit("group", "Reset", 0, 3)).await;
    client
}

#[tokio::test]
async fn the_next_pull_and_only_that_is_sent_to_the_new_offset() {
    let broker = TestBroker::start().await;
    let client = consumed(&broker).await;
    assert_eq!(done(&client, &reset(0, Some(1), -1)).await, [(0, 1)]);
    let dropped = client.ok(requests::commit("group", "Reset", 0, 3)).await;
    assert_eq!(dropped.remark.as_deref(), Some("Offset has been previously reset"));
    assert_eq!(broker.context().offsets.query_offset("group", "Reset", 0), Some(1));

    let pull = requests::pull_header("group", "Reset", 0, 3);
    let answer = client.call(requests::pull_with(&pull)).await;
    assert_eq!(answer.remark.as_deref(), Some("OFFSET_RESET"));
    let (fields, _) = crate::in_process::pulled(&answer, response_code::PULL_OFFSET_MOVED);
    assert_eq!((fields.next_begin_offset, fields.min_offset, fields.max_offset), (1, 0, 3));
    let (_, messages) = client.pull(&requests::pull_header("group", "Reset", 0, 1), 0).await;
    assert_eq!(messages.len(), 2);
    client.pull(&pull, response_code::PULL_NOT_FOUND).await;
    client.ok(requests::commit("group", "Reset", 0, 2)).await;
    assert_eq!(broker.context().offsets.query_offset("group", "Reset", 0), Some(2));
    broker.stop().await;
}

#[tokio::test]
async fn by_time_and_for_all_queues() {
    let broker = TestBroker::start().await;
    let client = consumed(&broker).await;
    let (_, messages) = client.pull(&requests::pull_header("reader", "Reset", 0, 0), 0).await;
    let second = messages[1].store_timestamp;
    assert_eq!(done(&client, &reset(-1, None, second)).await, [(0, 1), (1, 0)]);
    assert_eq!(done(&client, &reset(-1, None, -1)).await, [(0, 3), (1, 0)], "to the end");
    assert_eq!(done(&client, &reset(0, None, 0)).await, [(0, 0)], "to the beginning");
    broker.stop().await;
}

#[tokio::test]
async fn what_cannot_be_reset() {
    let broker = TestBroker::start().await;
    let client = consumed(&broker).await;
    let outcome = |header| client.outcome(request(&header));
    let outside = outcome(reset(0, Some(5), -1));
    let remark = "Target offset 5 not in consume queue range [0-3]".to_owned();
    assert_eq!(outside.await, (response_code::SYSTEM_ERROR, remark));
    let topic = outcome(ResetOffsetRequestHeader { topic: "Unknown".to_owned(), ..reset(0, Some(0), -1) });
    assert_eq!(topic.await, (response_code::TOPIC_NOT_EXIST, "Topic Unknown does not exist".to_owned()));
    let group = outcome(ResetOffsetRequestHeader { group: "unknown".to_owned(), ..reset(0, Some(0), -1) });
    let remark = "Group unknown does not exist".to_owned();
    assert_eq!(group.await, (response_code::SUBSCRIPTION_GROUP_NOT_EXIST, remark));
    assert_eq!(done(&client, &reset(i32::MAX, None, -1)).await, [], "no topic has that queue");
    assert_eq!(broker.context().offsets.query_offset("group", "Reset", 0), Some(3), "nothing was reset");
    broker.stop().await;
}
