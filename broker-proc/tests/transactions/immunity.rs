use crate::in_process::{TestBroker, eventually};
use crate::producer::{COMMIT, EAGER, HALF_TOPIC, Producer, TOPIC, bodies, checked_to, end, end_header};
use broker_proc::remoting::{RemotingCommand, request_code};
use std::time::Duration;

const ILLEGAL_OPERATION: i32 = 604;
const IMMUNE: (&str, &str) = ("CHECK_IMMUNITY_TIME_IN_SECONDS", "600");

/// Waits until the half topic has grown beyond `count`: the checks have postponed something.
async fn until_postponed(broker: &TestBroker, count: i64) {
    let store = &broker.context().store;
    eventually("a copy", || store.offsets(HALF_TOPIC, 0).max > count.unsigned_abs()).await;
}

#[tokio::test]
async fn others_do_not_wait_behind_an_immune_message() {
    let broker = TestBroker::with(EAGER).await;
    let producer = Producer::connect(&broker).await;
    let immune = producer.half(&broker, "immune", &[IMMUNE]).await;
    producer.half(&broker, "other", &[]).await;
    broker.skip(Duration::from_secs(61));
    let (question, record) = producer.asked().await;
    assert_eq!(record.body, "other");
    producer.answer(&question, COMMIT).await;
    until_postponed(&broker, 10).await;
    producer.client.ok(end(&immune, COMMIT)).await;
    assert_eq!(bodies(&producer.client, TOPIC, 1, 2).await, ["other", "immune"]);
    let end = broker.context().store.offsets(HALF_TOPIC, 0).max;
    broker.skip(Duration::from_secs(600));
    eventually("the end of the checks", || checked_to(broker.context()).unsigned_abs() >= end).await;
    assert!(
        producer
            .client
            .pushed_so_far()
            .await
            .iter()
            .all(|question| question.field("msgId") == Some("UNIQUE-other"))
    );
    broker.stop().await;
}

#[tokio::test]
async fn a_commit_of_the_first_half_message_counts_for_copies_of_another_run() {
    let broker = TestBroker::with(EAGER).await;
    let producer = Producer::connect(&broker).await;
    let immune = producer.half(&broker, "immune", &[IMMUNE]).await;
    until_postponed(&broker, 2).await;
    let broker = broker.restart().await;
    let producer = Producer::connect(&broker).await;
    producer.client.ok(end(&immune, COMMIT)).await;
    let end = broker.context().store.offsets(HALF_TOPIC, 0).max;
    broker.skip(Duration::from_secs(601));
    eventually("the end of the checks", || checked_to(broker.context()).unsigned_abs() >= end).await;
    assert_eq!(bodies(&producer.client, TOPIC, 1, 1).await, ["immune"]);
    assert!(producer.client.pushed_so_far().await.is_empty());
    broker.stop().await;
}

#[tokio::test]
async fn after_its_time_a_producer_is_asked_and_not_heard_before() {
    let broker = TestBroker::with("transactionTimeOut=60000\n").await;
    let producer = Producer::connect(&broker).await;
    let late = producer.half(&broker, "late", &[IMMUNE]).await;
    broker.skip(Duration::from_secs(601));
    let (code, remark) = producer.client.outcome(end(&late, COMMIT)).await;
    assert_eq!(code, ILLEGAL_OPERATION, "{remark}");
    let mut asked = end_header(&late, COMMIT);
    asked.from_transaction_check = true;
    producer.client.ok(RemotingCommand::request_with(request_code::END_TRANSACTION, &asked)).await;
    assert_eq!(bodies(&producer.client, TOPIC, 1, 1).await, ["late"]);
    broker.stop().await;
}
