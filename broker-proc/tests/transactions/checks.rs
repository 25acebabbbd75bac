use crate::in_process::{TestBroker, eventually};
use crate::producer::{
    COMMIT, EAGER, GIVEN_UP_TOPIC, HALF_TOPIC, Producer, ROLL_BACK, TOPIC, UNKNOWN, bodies, checked_to, end,
    messages,
};
use broker_proc::remoting::headers::ResumeCheckHalfMessageRequestHeader;
use broker_proc::remoting::{RemotingCommand, request_code};
use std::time::Duration;
use store_core::sys_flag;

/// More than `transactionTimeOut` of the settings.
const TIME_OUT: Duration = Duration::from_secs(61);

/// Waits until the checks have passed the first `count` places of the half topic, and no more.
async fn until_checked(broker: &TestBroker, count: i64) {
    eventually("the checks to pass the half topic", || checked_to(broker.context()) == count).await;
}

/// Waits until nothing in the half topic is left to be checked.
async fn until_all_checked(broker: &TestBroker) {
    let store = &broker.context().store;
    eventually("the checks to pass the whole half topic", || {
        checked_to(broker.context()).unsigned_abs() == store.offsets(HALF_TOPIC, 0).max
    })
    .await;
}

#[tokio::test]
async fn a_silent_producer_is_asked_and_its_answer_counts() {
    let broker = TestBroker::with(EAGER).await;
    let producer = Producer::connect(&broker).await;
    let done = producer.half(&broker, "done", &[]).await;
    let open = producer.half(&broker, "open", &[]).await;
    producer.client.ok(end(&done, COMMIT)).await;
    producer.client.oneway(end(&open, UNKNOWN)).await;
    until_checked(&broker, 1).await;
    broker.skip(TIME_OUT);

    let (question, record) = producer.asked().await;
    assert_eq!(question.topic.as_deref(), Some(HALF_TOPIC));
    assert_eq!(
        (question.msg_id.as_deref(), question.transaction_id.as_deref()),
        (Some("UNIQUE-open"), Some("UNIQUE-open"))
    );
    assert_eq!(question.broker_name.as_deref(), Some("test-broker"));
    assert_eq!(question.tran_state_table_offset, 2, "the copy, not the first half message");
    assert_eq!((record.topic.as_str(), record.queue_id, record.body.as_str()), (TOPIC, 1, "open"));
    assert_eq!((record.queue_offset, record.physical_offset), (2, question.commit_log_offset));
    assert_eq!((record.property("TRANSACTION_CHECK_TIMES"), record.property("PGROUP")), ("1", "pg_tx"));
    assert_eq!(record.flag, 77);

    producer.answer(&question, COMMIT).await;
    assert_eq!(bodies(&producer.client, TOPIC, 1, 2).await, ["done", "open"]);
    until_all_checked(&broker).await;
    let questions = producer.client.pushed_so_far().await;
    assert!(questions.iter().all(|question| question.field("msgId") == Some("UNIQUE-open")), "{questions:?}");
    broker.stop().await;
}

#[tokio::test]
async fn a_commit_that_crosses_a_check_makes_one_message() {
    let broker = TestBroker::with(EAGER).await;
    let producer = Producer::connect(&broker).await;
    let slow = producer.half(&broker, "slow", &[]).await;
    broker.skip(TIME_OUT);
    let (question, _) = producer.asked().await;
    producer.client.ok(end(&slow, COMMIT)).await;
    producer.answer(&question, COMMIT).await;
    producer.answer(&question, ROLL_BACK).await;
    assert_eq!(bodies(&producer.client, TOPIC, 1, 1).await, ["slow"]);
    until_all_checked(&broker).await;
    let broker = broker.restart().await;
    let producer = Producer::connect(&broker).await;
    until_all_checked(&broker).await;
    assert_eq!(bodies(&producer.client, TOPIC, 1, 1).await, ["slow"]);
    assert!(producer.client.pushed_so_far().await.is_empty());
    broker.stop().await;
}

#[tokio::test]
async fn what_is_asked_about_too_often_is_given_up() {
    let broker = TestBroker::with(&format!("{EAGER}transactionCheckMax=2\n")).await;
    let producer = Producer::connect(&broker).await;
    producer.half(&broker, "lost", &[]).await;
    broker.skip(TIME_OUT);
    for times in ["1", "2"] {
        let (question, record) = producer.asked().await;
        assert_eq!(record.property("TRANSACTION_CHECK_TIMES"), times);
        producer.answer(&question, UNKNOWN).await;
    }
    let given_up = messages(&producer.client, GIVEN_UP_TOPIC, 0, 1).await.remove(0);
    assert_eq!((given_up.body.as_str(), given_up.flag, given_up.sys_flag), ("lost", 77, 0));
    assert_eq!((given_up.property("REAL_TOPIC"), given_up.property("REAL_QID")), (TOPIC, "1"));
    assert_eq!(given_up.property("TRANSACTION_CHECK_TIMES"), "2");
    until_checked(&broker, 3).await;
    assert_eq!(producer.client.max_offset(HALF_TOPIC, 0).await, 3, "the half message and two copies");
    assert!(producer.client.pushed_so_far().await.is_empty());
    broker.stop().await;
}

#[tokio::test]
async fn what_was_given_up_can_be_checked_again() {
    let broker = TestBroker::with(&format!("{EAGER}transactionCheckMax=1\n")).await;
    let producer = Producer::connect(&broker).await;
    let half = producer.half(&broker, "again", &[]).await;
    let resume = |msg_id: String| {
        let header = ResumeCheckHalfMessageRequestHeader { topic: None, msg_id: Some(msg_id) };
        RemotingCommand::request(request_code::RESUME_CHECK_HALF_MESSAGE).with_header(&header)
    };
    for wrong in ["", "nonsense", half.msg_id.as_str()] {
        let (code, remark) = producer.client.outcome(resume(wrong.to_owned())).await;
        assert_eq!((code, remark.contains("msgId")), (1, true), "{wrong}: {remark}");
    }
    broker.skip(TIME_OUT);
    let (question, _) = producer.asked().await;
    producer.answer(&question, UNKNOWN).await;
    let given_up = messages(&producer.client, GIVEN_UP_TOPIC, 0, 1).await.remove(0);
    let host = broker.context().store_host;
    let id = store_core::message_id::encode(&host, given_up.physical_offset.unsigned_abs());
    producer.client.ok(resume(id)).await;
    let (question, record) = producer.asked().await;
    assert_eq!((record.body.as_str(), record.property("TRANSACTION_CHECK_TIMES")), ("again", "1"));
    producer.answer(&question, COMMIT).await;
    assert_eq!(bodies(&producer.client, TOPIC, 1, 1).await, ["again"]);
    until_all_checked(&broker).await;
    broker.stop().await;
}

/// A body that claims to be compressed and is not: the broker has no reason to look into it.
#[tokio::test]
async fn field_F81_compressed_bodies_come_out_as_they_went_in() {
    let broker = TestBroker::with(EAGER).await;
    let producer = Producer::connect(&broker).await;
    let zstd = sys_flag::COMPRESSED | 0x200;
    let odd = producer.half_with(&broker, zstd | sys_flag::TRANSACTION_PREPARED, "no zstd at all", &[]).await;
    for copies in 1..=2 {
        broker.skip(TIME_OUT);
        let (question, record) = producer.asked().await;
        assert_eq!((record.body.as_str(), record.sys_flag), ("no zstd at all", zstd), "copy {copies}");
        producer.answer(&question, UNKNOWN).await;
    }
    producer.client.ok(end(&odd, COMMIT)).await;
    let committed = messages(&producer.client, TOPIC, 1, 1).await.remove(0);
    assert_eq!(
        (committed.body.as_str(), committed.sys_flag),
        ("no zstd at all", zstd | sys_flag::TRANSACTION_COMMIT)
    );
    until_all_checked(&broker).await;
    broker.stop().await;
}

#[tokio::test]
async fn checks_go_on_after_a_restart() {
    let broker = TestBroker::with(EAGER).await;
    let producer = Producer::connect(&broker).await;
    let committed = producer.half(&broker, "committed", &[]).await;
    producer.half(&broker, "open", &[]).await;
    let rolled_back = producer.half(&broker, "rolled back", &[]).await;
    producer.client.ok(end(&committed, COMMIT)).await;
    producer.client.ok(end(&rolled_back, ROLL_BACK)).await;
    let broker = broker.restart().await;
    let producer = Producer::connect(&broker).await;
    broker.skip(TIME_OUT);
    let (question, record) = producer.asked().await;
    assert_eq!((record.body.as_str(), record.property("TRANSACTION_CHECK_TIMES")), ("open", "1"));
    producer.answer(&question, COMMIT).await;
    assert_eq!(bodies(&producer.client, TOPIC, 1, 2).await, ["committed", "open"]);
    let (others, _): (Vec<_>, Vec<_>) = producer
        .client
        .pushed_so_far()
        .await
        .into_iter()
        .partition(|question| question.field("msgId") != Some("UNIQUE-open"));
    assert!(others.is_empty(), "finished transactions are not asked about: {others:?}");
    broker.stop().await;
}

#[tokio::test]
async fn many_transactions_are_all_finished() {
    const COUNT: i64 = 1500;
    let broker = TestBroker::with(EAGER).await;
    let producer = Producer::connect(&broker).await;
    for number in 0..COUNT {
        let sent = producer.half(&broker, &number.to_string(), &[]).await;
        producer.client.oneway(end(&sent, if number % 3 == 0 { ROLL_BACK } else { COMMIT })).await;
    }
    producer.client.until_dispatched(TOPIC, 1, 1000).await;
    broker.skip(TIME_OUT);
    until_checked(&broker, COUNT).await;
    let broker = broker.restart().await;
    let producer = Producer::connect(&broker).await;
    let store = &broker.context().store;
    let ops = store.offsets("RMQ_SYS_TRANS_OP_HALF_TOPIC", 0).max;
    assert!((1..100).contains(&ops), "{ops} op records");
    assert_eq!(producer.client.max_offset(HALF_TOPIC, 0).await, COUNT, "no copies");
    broker.stop().await;
}
