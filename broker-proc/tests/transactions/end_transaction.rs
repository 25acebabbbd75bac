use crate::in_process::requests::{create_topic, send};
use crate::in_process::{StoredMessage, TestBroker};
use crate::producer::{
    COMMIT, HALF_TOPIC, OP_TOPIC, Producer, ROLL_BACK, TOPIC, UNKNOWN, bodies, end, end_header, messages,
};
use broker_proc::remoting::headers::EndTransactionRequestHeader;
use broker_proc::remoting::{RemotingCommand, request_code};
use store_core::record_format::{Decoded, decode};
use store_core::sys_flag;

const SYSTEM_ERROR: i32 = 1;
const NO_PERMISSION: i32 = 16;
const NOT_FOUND: i32 = 19;

fn names_of(message: &StoredMessage) -> Vec<&str> {
    let mut names: Vec<&str> =
        store_core::properties::pairs(&message.properties).map(|pair| pair.0).collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn a_committed_message_appears_as_apache_stores_it() {
    let broker = TestBroker::start().await;
    let producer = Producer::connect(&broker).await;
    producer.client.ok(create_topic(TOPIC, 4)).await;
    let sent = producer.half(&broker, "one", &[("KEYS", "k")]).await;
    assert_eq!((sent.queue_id, sent.queue_offset), (1, 0), "its own queue, its place in the half topic");
    assert_eq!(sent.transaction_id.as_deref(), Some("UNIQUE-one"));

    let half = messages(&producer.client, HALF_TOPIC, 0, 1).await.remove(0);
    assert_eq!((half.sys_flag, half.flag, half.property("REAL_TOPIC")), (0, 77, TOPIC));
    assert_eq!((half.property("REAL_QID"), half.property("__transactionId__")), ("1", "UNIQUE-one"));
    assert_eq!(producer.client.max_offset(TOPIC, 1).await, 0);

    producer.client.ok(end(&sent, COMMIT)).await;
    let committed = messages(&producer.client, TOPIC, 1, 1).await.remove(0);
    assert_eq!(committed.body, "one");
    assert_eq!((committed.sys_flag, committed.flag), (sys_flag::TRANSACTION_COMMIT, 77));
    assert_eq!((committed.born_timestamp, committed.born_host), (half.born_timestamp, half.born_host));
    let kept = [
        "CLUSTER",
        "KEYS",
        "MSG_REGION",
        "PGROUP",
        "TAGS",
        "TRACE_ON",
        "TRAN_MSG",
        "UNIQ_KEY",
        "__transactionId__",
    ];
    assert_eq!(names_of(&committed), kept);
    let record = broker.context().store.message_at(committed.physical_offset.unsigned_abs()).unwrap();
    let Ok(Decoded::Record(view)) = decode(&record, true) else { panic!("no record") };
    assert_eq!(view.prepared_transaction_offset, half.physical_offset);
    broker.stop().await;
}

#[tokio::test]
async fn a_message_rolled_back_does_not_appear() {
    let broker = TestBroker::start().await;
    let producer = Producer::connect(&broker).await;
    let gone = producer.half(&broker, "gone", &[]).await;
    let kept = producer.half(&broker, "kept", &[]).await;
    producer.client.ok(end(&gone, ROLL_BACK)).await;
    producer.client.ok(end(&kept, COMMIT)).await;
    assert_eq!(bodies(&producer.client, TOPIC, 1, 1).await, ["kept"]);
    // Too late, and too often.
    producer.client.ok(end(&gone, COMMIT)).await;
    producer.client.ok(end(&kept, COMMIT)).await;
    let broker = broker.restart().await;
    let producer = Producer::connect(&broker).await;
    assert_eq!(bodies(&producer.client, TOPIC, 1, 1).await, ["kept"]);
    let op = messages(&producer.client, OP_TOPIC, 0, 1).await.remove(0);
    assert_eq!((op.body.as_str(), op.property("TAGS")), ("0,1,", "d"));
    broker.stop().await;
}

#[tokio::test]
async fn a_commit_counts_after_a_restart() {
    let broker = TestBroker::start().await;
    let producer = Producer::connect(&broker).await;
    let first = producer.half(&broker, "first", &[]).await;
    let second = producer.half(&broker, "second", &[]).await;
    let broker = broker.restart().await;
    let producer = Producer::connect(&broker).await;
    producer.client.ok(end(&second, COMMIT)).await;
    producer.client.ok(end(&first, COMMIT)).await;
    assert_eq!(bodies(&producer.client, TOPIC, 1, 2).await, ["second", "first"]);
    broker.stop().await;
}

#[tokio::test]
async fn a_commit_waits_for_the_disk_when_it_must() {
    let broker = TestBroker::with("flushDiskType=SYNC_FLUSH\n").await;
    let producer = Producer::connect(&broker).await;
    let sent = producer.half(&broker, "synced", &[]).await;
    producer.client.ok(end(&sent, COMMIT)).await;
    assert_eq!(bodies(&producer.client, TOPIC, 1, 1).await, ["synced"]);
    broker.stop().await;
}

#[tokio::test]
async fn an_undecided_producer_gets_no_answer() {
    let broker = TestBroker::start().await;
    let producer = Producer::connect(&broker).await;
    let sent = producer.half(&broker, "open", &[]).await;
    for decision in [UNKNOWN, 4, -1] {
        producer.client.oneway(end(&sent, decision)).await;
    }
    // Requests of a connection are served in order: whatever those did is done.
    assert_eq!(producer.client.max_offset(TOPIC, 1).await, 0);
    producer.client.ok(end(&sent, COMMIT)).await;
    assert_eq!(bodies(&producer.client, TOPIC, 1, 1).await, ["open"]);
    broker.stop().await;
}

#[tokio::test]
async fn decisions_about_something_else_are_refused() {
    let broker = TestBroker::start().await;
    let producer = Producer::connect(&broker).await;
    producer
        .client
        .ok(send(TOPIC, 1, "plain", "PGROUP\u{1}pg_tx\u{2}REAL_TOPIC\u{1}X\u{2}REAL_QID\u{1}0\u{2}"))
        .await;
    let sent = producer.half(&broker, "half", &[]).await;
    let right = end_header(&sent, COMMIT);
    let refused = |header: EndTransactionRequestHeader| {
        producer.client.outcome(RemotingCommand::request_with(request_code::END_TRANSACTION, &header))
    };
    let missing = (SYSTEM_ERROR, "Find prepared transaction message failed".to_owned());
    for position in [right.commit_log_offset + 1, i64::MAX, -1, 0] {
        assert_eq!(
            refused(EndTransactionRequestHeader { commit_log_offset: position, ..right.clone() }).await,
            missing
        );
    }
    let group = EndTransactionRequestHeader { producer_group: "other".to_owned(), ..right.clone() };
    assert_eq!(refused(group).await, (SYSTEM_ERROR, "The producer group wrong".to_owned()));
    let offset = EndTransactionRequestHeader { tran_state_table_offset: 1, ..right.clone() };
    assert_eq!(refused(offset).await, (SYSTEM_ERROR, "The transaction state table offset wrong".to_owned()));
    assert_eq!(refused(right).await, (0, String::new()), "none of that did any harm");
    assert_eq!(bodies(&producer.client, TOPIC, 1, 2).await, ["plain", "half"]);
    broker.stop().await;
}

#[tokio::test]
async fn half_messages_can_be_forbidden() {
    let broker = TestBroker::with("rejectTransactionMessage=true\n").await;
    let producer = Producer::connect(&broker).await;
    let answer = producer.try_half(&broker, "half", &[]).await;
    assert_eq!(answer.code, NO_PERMISSION);
    let remark = format!(
        "the broker[{}] sending transaction message is forbidden",
        broker.broker().config().broker_ip1
    );
    assert_eq!(answer.remark, Some(remark));
    broker.stop().await;
}

#[tokio::test]
async fn a_delay_counts_from_the_commit_on() {
    let broker = TestBroker::start().await;
    let producer = Producer::connect(&broker).await;
    let sent = producer.half(&broker, "later", &[("DELAY", "18")]).await;
    assert_eq!(messages(&producer.client, HALF_TOPIC, 0, 1).await.remove(0).property("REAL_TOPIC"), TOPIC);
    producer.client.ok(end(&sent, COMMIT)).await;
    let waiting = messages(&producer.client, "SCHEDULE_TOPIC_XXXX", 17, 1).await.remove(0);
    assert_eq!((waiting.property("REAL_TOPIC"), waiting.property("REAL_QID")), (TOPIC, "1"));
    let pull = crate::in_process::requests::pull_header("readers", TOPIC, 1, 0);
    producer.client.pull(&pull, NOT_FOUND).await;
    broker.stop().await;
}
