//! `LOCK_BATCH_MQ`, `UNLOCK_BATCH_MQ`: two orderly consumers and their queues.

use crate::in_process::{TestBroker, TestClient, requests};
use broker_proc::remoting::protocol::{LockBatchRequestBody, LockBatchResponseBody, MessageQueue};
use broker_proc::remoting::{RemotingCommand, request_code};
use std::time::Duration;

fn body(client_id: &str, queues: &[i32]) -> LockBatchRequestBody {
    let queue = |queue_id: &i32| MessageQueue {
        topic: "Ordered".to_owned(),
        broker_name: "test-broker".to_owned(),
        queue_id: *queue_id,
    };
    LockBatchRequestBody {
        consumer_group: "group".to_owned(),
        client_id: client_id.to_owned(),
        only_this_broker: false,
        mq_set: queues.iter().map(queue).collect(),
    }
}

fn request(code: i32, client_id: &str, queues: &[i32]) -> RemotingCommand {
    RemotingCommand::request(code).with_json_body(&body(client_id, queues)).unwrap()
}

/// The queues that `id` holds of those it asks for.
async fn lock(client: &TestClient, id: &str, queues: &[i32]) -> Vec<i32> {
    let answer = client.ok(request(request_code::LOCK_BATCH_MQ, id, queues)).await;
    let held: LockBatchResponseBody = answer.decode_body().unwrap();
    held.lock_ok_mq_set.into_iter().map(|queue| queue.queue_id).collect()
}

#[tokio::test]
async fn a_queue_is_held_by_one_client_until_given_up_or_forgotten() {
    let broker = TestBroker::start().await;
    let (first, second) = (broker.client(), broker.client());
    assert_eq!(lock(&first, "c1", &[0, 1]).await, [0, 1]);
    assert_eq!(lock(&second, "c2", &[0, 1, 2]).await, [2]);
    assert_eq!(lock(&first, "c1", &[0, 1, 2]).await, [0, 1]);

    let foreign = request(request_code::UNLOCK_BATCH_MQ, "c2", &[0]);
    assert!(second.ok(foreign).await.body.is_empty());
    assert_eq!(lock(&second, "c2", &[0]).await, [0; 0], "only its holder gives a queue up");
    first.oneway(request(request_code::UNLOCK_BATCH_MQ, "c1", &[0])).await;
    // Served before the next request of the same connection.
    assert_eq!(lock(&first, "c1", &[1]).await, [1]);
    assert_eq!(lock(&second, "c2", &[0, 1]).await, [0]);

    broker.skip(Duration::from_secs(61));
    assert_eq!(lock(&second, "c2", &[1]).await, [1], "not renewed for a minute");
    broker.stop().await;
}

#[tokio::test]
async fn a_retry_of_a_group_that_holds_queues_is_a_dead_letter() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.send("%RETRY%group", 0, "not in order", "").await;
    client.until_dispatched("%RETRY%group", 0, 1).await;
    lock(&client, "c1", &[0]).await;
    client.send("%RETRY%group", 0, "in order", "").await;
    client.until_dispatched("%DLQ%group", 0, 1).await;
    assert_eq!(client.max_offset("%RETRY%group", 0).await, 1);
    let (_, messages) = client.pull(&requests::pull_header("readers", "%DLQ%group", 0, 0), 0).await;
    assert_eq!((messages[0].body.as_str(), messages[0].property("DELAY")), ("in order", "-1"));
    broker.stop().await;
}
