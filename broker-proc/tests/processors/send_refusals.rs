//! Sends that are refused, with the code and the remark clients know.

use crate::in_process::{TestBroker, requests};
use broker_proc::remoting::headers::SendMessageRequestHeader;
use broker_proc::remoting::{request_code, response_code};

#[tokio::test]
async fn topics_that_are_not_to_be_sent_to() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let unknown_model = SendMessageRequestHeader {
        default_topic: "NoSuchTopic".to_owned(),
        ..requests::send_header("Unknown", 0)
    };
    let not_inherited = SendMessageRequestHeader {
        default_topic: "SELF_TEST_TOPIC".to_owned(),
        ..requests::send_header("Unknown", 0)
    };
    for header in [unknown_model, not_inherited] {
        let refused = client.outcome(requests::send_with(request_code::SEND_MESSAGE_V2, &header, "x")).await;
        let remark = "topic[Unknown] not exist, apply first please!".to_owned();
        assert_eq!(refused, (response_code::TOPIC_NOT_EXIST, remark), "{}", header.default_topic);
    }
    let too_long = "t".repeat(128);
    for topic in ["", "  ", "bad topic", "a/b", "prix€", too_long.as_str()] {
        let (code, remark) = client.outcome(requests::send(topic, 0, "x", "")).await;
        assert_eq!(code, response_code::INVALID_PARAMETER, "{topic:?}: {remark}");
        assert!(remark.starts_with("The specified topic"), "{remark}");
    }
    for topic in ["SCHEDULE_TOPIC_XXXX", "RMQ_SYS_TRANS_HALF_TOPIC", "OFFSET_MOVED_EVENT"] {
        let refused = client.outcome(requests::send(topic, 0, "x", "")).await;
        let remark = format!("Sending message to topic[{topic}] is forbidden.");
        assert_eq!(refused, (response_code::NO_PERMISSION, remark));
    }
    broker.stop().await;
}

#[tokio::test]
async fn nothing_is_made_when_topics_are_not_made_by_sends() {
    let broker = TestBroker::with("autoCreateTopicEnable=false\n").await;
    let client = broker.client();
    let (code, _) = client.outcome(requests::send("NotMade", 0, "x", "")).await;
    assert_eq!(code, response_code::TOPIC_NOT_EXIST);
    assert!(broker.context().topics.select_topic_config("NotMade").is_none());
    client.ok(requests::create_topic("NotMade", 1)).await;
    client.send("NotMade", 0, "x", "").await;
    broker.stop().await;
}

#[tokio::test]
async fn a_queue_that_the_topic_does_not_have() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.ok(requests::create_topic("Narrow", 2)).await;
    client.send("Narrow", 1, "x", "").await;
    for queue_id in [2, i32::MAX] {
        let (code, remark) = client.outcome(requests::send("Narrow", queue_id, "x", "")).await;
        assert_eq!(code, response_code::INVALID_PARAMETER);
        assert!(remark.starts_with(&format!("request queueId[{queue_id}] is illegal, ")), "{remark}");
        assert!(remark.contains(" Producer: 127.0.0.1:"), "{remark}");
    }
    assert_eq!(client.max_offset("Narrow", 2).await, 0);
    broker.stop().await;
}

#[tokio::test]
async fn messages_that_are_too_large() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let body = |len: usize| "b".repeat(len);
    client.send("Large", 0, &body(65_536), "").await;
    let (code, remark) = client.outcome(requests::send("Large", 0, &body(65_537), "")).await;
    assert_eq!(code, response_code::MESSAGE_ILLEGAL, "{remark}");
    let properties = requests::properties(&[("long", &body(32_767))]);
    let (code, remark) = client.outcome(requests::send("Large", 0, "x", &properties)).await;
    assert_eq!(code, response_code::MESSAGE_ILLEGAL, "{remark}");
    client.send("Large", 0, "x", &requests::properties(&[("long", &body(32_000))])).await;
    client.until_dispatched("Large", 0, 2).await;
    broker.stop().await;
}

#[tokio::test]
async fn a_header_with_holes_is_named() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    for (code, field) in [(request_code::SEND_MESSAGE, "queueId"), (request_code::SEND_MESSAGE_V2, "e")] {
        let mut request = requests::send_with(code, &requests::send_header("Holes", 0), "x");
        request.ext_fields.as_mut().unwrap().remove(field);
        let (missing, remark) = client.outcome(request.clone()).await;
        assert_eq!(missing, response_code::SYSTEM_ERROR);
        assert!(remark.ends_with(&format!("the field {field} is missing")), "{remark}");
        let (malformed, remark) = client.outcome(request.with_field(field, "one")).await;
        assert_eq!(malformed, response_code::SYSTEM_ERROR);
        assert!(remark.ends_with("must be a 32-bit integer, found `one`"), "{remark}");
    }
    broker.stop().await;
}

#[tokio::test]
async fn a_compacted_topic_needs_keys() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let header = broker_proc::remoting::headers::CreateTopicRequestHeader {
        attributes: Some("+cleanup.policy=COMPACTION".to_owned()),
        ..requests::topic_header("Compacted", 1)
    };
    let create = request_code::UPDATE_AND_CREATE_TOPIC;
    client.ok(broker_proc::remoting::RemotingCommand::request_with(create, &header)).await;
    let refused = client.outcome(requests::send("Compacted", 0, "x", "")).await;
    assert_eq!(refused, (response_code::MESSAGE_ILLEGAL, "Required message key is missing".to_owned()));
    client.send("Compacted", 0, "x", &requests::properties(&[("KEYS", "k")])).await;
    broker.stop().await;
}

#[tokio::test]
async fn sends_before_the_time_that_is_set() {
    let broker = TestBroker::with("startAcceptSendRequestTimeStamp=99999999999999\n").await;
    let refused = broker.client().outcome(requests::send("Early", 0, "x", "")).await;
    let remark = "broker unable to service, until 99999999999999".to_owned();
    assert_eq!(refused, (response_code::SYSTEM_ERROR, remark));
    broker.stop().await;
}
