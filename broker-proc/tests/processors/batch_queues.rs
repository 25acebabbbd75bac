//! Topics with batch queues (`queue.type=BatchCQ`), from the send to the pull.

use crate::in_process::{TestBroker, TestClient, requests};
use broker_proc::processors::decode_batch;
use broker_proc::remoting::headers::{SendMessageRequestHeader, SendMessageResponseHeader};
use broker_proc::remoting::{RemotingCommand, request_code, response_code};
use store_core::{message_id, properties, sys_flag};

fn create(topic: &str) -> RemotingCommand {
    let mut header = requests::topic_header(topic, 1);
    header.attributes = Some("+queue.type=BatchCQ".to_owned());
    RemotingCommand::request_with(request_code::UPDATE_AND_CREATE_TOPIC, &header)
}

fn batch(topic: &str, id: &str, bodies: &[&str]) -> RemotingCommand {
    let entries: Vec<_> = bodies.iter().map(|body| (*body, "TAGS\u{1}t\u{2}")).collect();
    let header = SendMessageRequestHeader {
        batch: true,
        properties: (!id.is_empty()).then(|| requests::properties(&[("UNIQ_KEY", id), ("own", "1")])),
        ..requests::send_header(topic, 0)
    };
    requests::send_with(request_code::SEND_BATCH_MESSAGE, &header, requests::batch_body(&entries))
}

async fn sent(client: &TestClient, request: RemotingCommand) -> SendMessageResponseHeader {
    client.ok(request).await.decode_header().unwrap()
}

#[tokio::test]
async fn a_batch_becomes_one_record_that_takes_an_offset_for_each_message() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.ok(create("Bcq")).await;
    let first = sent(&client, batch("Bcq", "U1", &["a", "b", "c"])).await;
    assert_eq!((first.queue_offset, first.batch_uniq_id.as_deref()), (0, Some("U1")));
    assert_eq!(first.transaction_id.as_deref(), Some("U1"));
    let place = message_id::decode(&first.msg_id).expect("one id of one record").1;
    client.send("Bcq", 0, "single", "").await;
    let second = sent(&client, batch("Bcq", "U2", &["d", "e"])).await;
    assert_eq!(second.queue_offset, 4);
    client.until_dispatched("Bcq", 0, 6).await;

    let (fields, stored) = client.pull(&requests::pull_header("readers", "Bcq", 0, 1), 0).await;
    assert_eq!((fields.min_offset, fields.max_offset, fields.next_begin_offset), (0, 6, 6));
    let offsets: Vec<_> = stored.iter().map(|message| message.queue_offset).collect();
    assert_eq!(offsets, [0, 3, 4], "the whole batch, although its second message was asked for");
    let inner = &stored[0];
    let bits = sys_flag::INNER_BATCH | sys_flag::NEED_UNWRAP;
    assert_eq!((inner.sys_flag & bits, inner.physical_offset as u64), (bits, place));
    let names = ["INNER_NUM", "INNER_BASE", "UNIQ_KEY", "own"].map(|name| inner.property(name).to_owned());
    assert_eq!(names, ["3", "0", "U1", "1"]);
    assert_ne!(inner.property("CLUSTER"), "");
    let entries = decode_batch(inner.body.as_bytes()).unwrap();
    let bodies: Vec<_> = entries.iter().map(|entry| (entry.body, entry.properties)).collect();
    assert_eq!(bodies, [&b"a"[..], b"b", b"c"].map(|body| (body, "TAGS\u{1}t\u{2}")));
    assert_eq!((stored[1].body.as_str(), stored[1].sys_flag & bits), ("single", 0));
    assert_eq!(properties::get(&stored[2].properties, "INNER_BASE"), Some("4"));
    broker.stop().await;
}

#[tokio::test]
async fn the_kind_of_a_topic_is_known_after_a_restart() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.ok(create("Bcq")).await;
    // No queue of it has been made when the broker stops.
    let broker = broker.restart().await;
    let client = broker.client();
    assert_eq!(sent(&client, batch("Bcq", "U1", &["a", "b"])).await.queue_offset, 0);
    client.until_dispatched("Bcq", 0, 2).await;
    let broker = broker.restart().await;
    let client = broker.client();
    assert_eq!(sent(&client, batch("Bcq", "U2", &["c"])).await.queue_offset, 2);
    client.until_dispatched("Bcq", 0, 3).await;
    broker.stop().await;
}

#[tokio::test]
async fn a_batch_without_an_id_becomes_ordinary_records() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.ok(create("Bcq")).await;
    let answer = sent(&client, batch("Bcq", "", &["a", "b"])).await;
    assert_eq!((answer.queue_offset, answer.batch_uniq_id), (0, None));
    assert_eq!(answer.msg_id.split(',').count(), 2);
    client.until_dispatched("Bcq", 0, 2).await;
    let (_, stored) = client.pull(&requests::pull_header("readers", "Bcq", 0, 0), 0).await;
    let bodies: Vec<_> = stored.iter().map(|message| message.body.as_str()).collect();
    assert_eq!(bodies, ["a", "b"]);
    broker.stop().await;
}

#[tokio::test]
async fn a_client_cannot_pass_off_a_message_as_a_batch() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.ok(create("Bcq")).await;
    let counted = requests::properties(&[("INNER_NUM", "5")]);
    for topic in ["Bcq", "Plain"] {
        let (code, remark) = client.outcome(requests::send(topic, 0, "x", &counted)).await;
        assert_eq!(code, response_code::MESSAGE_ILLEGAL, "{remark}");
    }
    let mut delayed = batch("Bcq", "U1", &["a"]);
    let header = SendMessageRequestHeader {
        batch: true,
        properties: Some(requests::properties(&[("UNIQ_KEY", "U"), ("DELAY", "1")])),
        ..requests::send_header("Bcq", 0)
    };
    delayed =
        requests::send_with(request_code::SEND_BATCH_MESSAGE, &header, delayed.body.to_bytes().to_vec());
    assert_eq!(client.outcome(delayed).await.0, response_code::MESSAGE_ILLEGAL);
    broker.stop().await;
}
