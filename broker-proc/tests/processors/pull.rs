//! `PULL_MESSAGE`: what a read gives, and who may read.

use crate::in_process::{TestBroker, eventually, requests};
use broker_proc::remoting::headers::{
    CreateTopicRequestHeader, PullMessageRequestHeader, PullMessageResponseHeader, forbidden_type,
};
use broker_proc::remoting::protocol::SubscriptionGroupConfig;
use broker_proc::remoting::{RemotingCommand, request_code, response_code};

#[tokio::test]
async fn messages_come_in_order_up_to_the_number_asked_for() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    for body in ["a", "b", "c", "d", "e"] {
        client.send("Order", 0, body, "").await;
    }
    client.until_dispatched("Order", 0, 5).await;
    let header =
        PullMessageRequestHeader { max_msg_nums: 3, ..requests::pull_header("readers", "Order", 0, 1) };
    let answer = client.ok(requests::pull_with(&header)).await;
    assert_eq!(answer.remark.as_deref(), Some("FOUND"));
    let (fields, messages) = crate::in_process::pulled(&answer, response_code::SUCCESS);
    assert_eq!((fields.next_begin_offset, fields.min_offset, fields.max_offset), (4, 0, 5));
    assert_eq!(
        (fields.suggest_which_broker_id, fields.topic_sys_flag, fields.group_sys_flag),
        (0, Some(0), Some(0))
    );
    let bodies: Vec<_> = messages.iter().map(|message| message.body.as_str()).collect();
    assert_eq!(bodies, ["b", "c", "d"]);
    let offsets: Vec<_> = messages.iter().map(|message| message.queue_offset).collect();
    assert_eq!(offsets, [1, 2, 3]);
    broker.stop().await;
}

#[tokio::test]
async fn at_the_end_of_a_queue_and_beyond() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.ok(requests::create_topic("End", 2)).await;
    for _ in 0..3 {
        client.send("End", 0, "x", "").await;
    }
    client.until_dispatched("End", 0, 3).await;
    let not_found = response_code::PULL_NOT_FOUND;
    let moved = response_code::PULL_OFFSET_MOVED;
    let cases = [
        (0, 3, not_found, 3, "OFFSET_OVERFLOW_ONE"),
        (0, 4, moved, 3, "OFFSET_OVERFLOW_BADLY"),
        (0, i64::MAX, moved, 3, "OFFSET_OVERFLOW_BADLY"),
        (0, -1, moved, 0, "OFFSET_TOO_SMALL"),
        (1, 0, not_found, 0, "NO_MESSAGE_IN_QUEUE"),
        (1, 7, moved, 0, "NO_MESSAGE_IN_QUEUE"),
    ];
    for (queue_id, offset, code, next, status) in cases {
        let header = requests::pull_header("readers", "End", queue_id, offset);
        let answer = client.call(requests::pull_with(&header)).await;
        let fields: PullMessageResponseHeader = answer.decode_header().unwrap();
        let found = (answer.code, fields.next_begin_offset, answer.remark.as_deref());
        assert_eq!(found, (code, next, Some(status)), "queue {queue_id} at {offset}");
        assert!(answer.body.is_empty());
    }
    broker.stop().await;
}

#[tokio::test]
async fn what_has_been_deleted_is_skipped() {
    let settings = "mappedFileSizeCommitLog=131072\nfileReservedTime=0\ncleanResourceInterval=10\n\
                    deleteCommitLogFilesInterval=0\n\
                    deleteWhen=0;1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19;20;21;22;23\n";
    let broker = TestBroker::with(settings).await;
    let client = broker.client();
    let body = "b".repeat(50_000);
    for _ in 0..8 {
        client.send("Gone", 0, &body, "").await;
    }
    let context = broker.context();
    // A file is old when it has not been written to for a moment.
    broker.skip(std::time::Duration::from_secs(3600));
    eventually("old files are deleted", || context.store.offsets("Gone", 0).min > 0).await;
    let (fields, messages) =
        client.pull(&requests::pull_header("readers", "Gone", 0, 0), response_code::PULL_OFFSET_MOVED).await;
    assert!(messages.is_empty());
    assert!(fields.next_begin_offset > 0 && fields.next_begin_offset == fields.min_offset, "{fields:?}");
    broker.stop().await;
}

fn create_with_perm(topic: &str, perm: i32) -> RemotingCommand {
    let header = CreateTopicRequestHeader { perm, ..requests::topic_header(topic, 1) };
    RemotingCommand::request_with(request_code::UPDATE_AND_CREATE_TOPIC, &header)
}

#[tokio::test]
async fn who_may_not_read_is_told_why() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.ok(create_with_perm("WriteOnly", 2)).await;
    client.ok(create_with_perm("Readable", 6)).await;
    let stopped = SubscriptionGroupConfig {
        group_name: "stopped".to_owned(),
        consume_enable: false,
        ..Default::default()
    };
    let update = RemotingCommand::request(request_code::UPDATE_AND_CREATE_SUBSCRIPTIONGROUP);
    client.ok(update.with_json_body(&stopped).unwrap()).await;
    let cases = [
        ("bad group", "Readable", 0, 26, "subscription group [bad group] does not exist", None),
        (
            "stopped",
            "Readable",
            0,
            16,
            "subscription group no permission, stopped",
            Some(forbidden_type::GROUP),
        ),
        ("readers", "Unknown", 0, 17, "topic[Unknown] not exist, apply first please!", None),
        (
            "readers",
            "WriteOnly",
            0,
            16,
            "the topic[WriteOnly] pulling message is forbidden",
            Some(forbidden_type::TOPIC),
        ),
        (
            "readers",
            "Readable",
            1,
            29,
            "queueId[1] is illegal, topic:[Readable] topicConfig.readQueueNums:[1]",
            None,
        ),
        (
            "readers",
            "Readable",
            -1,
            29,
            "queueId[-1] is illegal, topic:[Readable] topicConfig.readQueueNums:[1]",
            None,
        ),
    ];
    for (group, topic, queue_id, code, remark, forbidden) in cases {
        let answer =
            client.call(requests::pull_with(&requests::pull_header(group, topic, queue_id, 0))).await;
        let found = answer.remark.clone().unwrap_or_default();
        assert_eq!(answer.code, code, "{group} {topic}: {found}");
        assert!(found.starts_with(remark), "{found}");
        let expected = forbidden.map(|who| who.to_string());
        assert_eq!(answer.field("forbiddenType"), expected.as_deref(), "{group} {topic}");
    }
    broker.stop().await;
}

#[tokio::test]
async fn a_broker_that_may_not_be_read() {
    let broker = TestBroker::with("brokerPermission=2\n").await;
    let client = broker.client();
    client.send("Closed", 0, "x", "").await;
    let answer = client.call(requests::pull_with(&requests::pull_header("readers", "Closed", 0, 0))).await;
    assert_eq!(answer.code, response_code::NO_PERMISSION);
    assert_eq!(answer.remark.as_deref(), Some("the broker[127.0.0.1] pulling message is forbidden"));
    assert_eq!(answer.field("forbiddenType"), Some("1"));
    broker.stop().await;
}

#[tokio::test]
async fn lite_pull_has_its_own_switch() {
    for (settings, code) in [("", 0), ("litePullMessageEnable=false\n", response_code::NO_PERMISSION)] {
        let broker = TestBroker::with(settings).await;
        let client = broker.client();
        client.send("Lite", 0, "x", "").await;
        client.until_dispatched("Lite", 0, 1).await;
        let header = requests::pull_header("readers", "Lite", 0, 0);
        let lite = RemotingCommand::request_with(request_code::LITE_PULL_MESSAGE, &header);
        assert_eq!(client.call(lite).await.code, code);
        client.pull(&header, 0).await;
        broker.stop().await;
    }
}
