//! Both header encodings on one connection, each request answered in its own.

use crate::in_process::{RawClient, TestBroker, requests, stored_messages};
use broker_proc::remoting::headers::SendMessageResponseHeader;
use broker_proc::remoting::{RemotingCommand, SerializeType, request_code};

fn encoded(mut request: RemotingCommand, serialize: SerializeType) -> RemotingCommand {
    request.serialize = serialize;
    request
}

#[tokio::test]
async fn answers_come_in_the_encoding_of_the_request() {
    let broker = TestBroker::start().await;
    let mut client = RawClient::connect(&broker.address()).await;
    let encodings = [SerializeType::RocketMq, SerializeType::Json, SerializeType::RocketMq];
    for (opaque, serialize) in (0..).zip(encodings) {
        let properties = requests::properties(&[("TAGS", "标签")]);
        client.send(opaque, encoded(requests::send("Encoded", 0, "héllo", &properties), serialize)).await;
        let answer = client.receive().await.unwrap();
        assert_eq!(
            (answer.opaque, answer.code, answer.serialize),
            (opaque, 0, serialize),
            "{:?}",
            answer.remark
        );
        let sent: SendMessageResponseHeader = answer.decode_header().unwrap();
        assert_eq!(sent.queue_offset, i64::from(opaque));
        // A refusal keeps to it too.
        client.send(100 + opaque, encoded(RemotingCommand::request(4711), serialize)).await;
        let answer = client.receive().await.unwrap();
        assert_eq!((answer.opaque, answer.code, answer.serialize), (100 + opaque, 3, serialize));
    }
    broker.client().until_dispatched("Encoded", 0, 3).await;
    let pull = requests::pull_with(&requests::pull_header("readers", "Encoded", 0, 0));
    client.send(7, encoded(pull, SerializeType::RocketMq)).await;
    let answer = client.receive().await.unwrap();
    assert_eq!(answer.serialize, SerializeType::RocketMq);
    let messages = stored_messages(&answer.body);
    assert_eq!(messages.len(), 3);
    assert!(messages.iter().all(|message| message.body == "héllo" && message.property("TAGS") == "标签"));
    broker.stop().await;
}

#[tokio::test]
async fn pushes_come_in_the_encoding_the_client_uses() {
    let broker = TestBroker::start().await;
    for serialize in [SerializeType::RocketMq, SerializeType::Json] {
        let mut client = RawClient::connect(&broker.address()).await;
        let group = format!("group{}", serialize.code());
        let beat = requests::heartbeat("c1", &[], vec![requests::consumer(&group, vec![])]);
        client.send(1, encoded(beat, serialize)).await;
        let notice = client.receive().await.unwrap();
        assert_eq!(notice.code, request_code::NOTIFY_CONSUMER_IDS_CHANGED);
        assert_eq!((notice.serialize, notice.field("consumerGroup")), (serialize, Some(group.as_str())));
        let answer = client.receive().await.unwrap();
        assert!(answer.is_response() && answer.code == 0 && answer.serialize == serialize);
    }
    broker.stop().await;
}

#[tokio::test]
async fn many_requests_in_one_write_are_all_answered() {
    let broker = TestBroker::start().await;
    let mut client = RawClient::connect(&broker.address()).await;
    client.send(0, requests::create_topic("Pipelined", 1)).await;
    assert_eq!(client.receive().await.unwrap().code, 0);
    for opaque in 1..=100 {
        client.send(opaque, requests::send("Pipelined", 0, "x", "")).await;
    }
    for opaque in 1..=100 {
        let answer = client.receive().await.unwrap();
        assert_eq!((answer.opaque, answer.code), (opaque, 0));
    }
    broker.client().until_dispatched("Pipelined", 0, 100).await;
    broker.stop().await;
}
