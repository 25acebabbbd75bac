//! Which messages a pull gets: the tags it carries itself, or those of the group's heartbeats.

use crate::in_process::{TestBroker, TestClient, requests};
use broker_proc::remoting::headers::PullMessageRequestHeader;
use broker_proc::remoting::protocol::{MessageModel, SubscriptionGroupConfig};
use broker_proc::remoting::{RemotingCommand, request_code, response_code};

/// Three messages with the tags of two groups, the first without a tag.
async fn fill(client: &TestClient) {
    client.send("Tags", 0, "none", "").await;
    client.send("Tags", 0, "a", &requests::properties(&[("TAGS", "TagA")])).await;
    client.send("Tags", 0, "label", &requests::properties(&[("TAGS", "标签")])).await;
    client.until_dispatched("Tags", 0, 3).await;
}

async fn bodies(client: &TestClient, header: &PullMessageRequestHeader) -> Vec<String> {
    let (_, messages) = client.pull(header, response_code::SUCCESS).await;
    messages.into_iter().map(|message| message.body).collect()
}

/// A pull that carries no expression.
fn of_heartbeat(group: &str, version: i64) -> PullMessageRequestHeader {
    PullMessageRequestHeader {
        sys_flag: 0,
        subscription: None,
        sub_version: version,
        ..requests::pull_header(group, "Tags", 0, 0)
    }
}

#[tokio::test]
async fn the_expression_of_the_pull() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    fill(&client).await;
    let cases: [(&str, &[&str]); 5] = [
        ("*", &["none", "a", "label"]),
        ("", &["none", "a", "label"]),
        ("TagA", &["a"]),
        (" TagA|| 标签 ", &["a", "label"]),
        ("标签", &["label"]),
    ];
    for (expression, expected) in cases {
        let header = PullMessageRequestHeader {
            subscription: Some(expression.to_owned()),
            ..requests::pull_header("readers", "Tags", 0, 0)
        };
        assert_eq!(bodies(&client, &header).await, expected, "{expression}");
    }
    let none = PullMessageRequestHeader {
        subscription: Some("TagZ".to_owned()),
        ..requests::pull_header("readers", "Tags", 0, 0)
    };
    let (fields, _) = client.pull(&none, response_code::PULL_RETRY_IMMEDIATELY).await;
    assert_eq!(fields.next_begin_offset, 3);
    let broken = PullMessageRequestHeader { subscription: Some("||".to_owned()), ..none.clone() };
    let (code, remark) = client.outcome(requests::pull_with(&broken)).await;
    assert_eq!(code, response_code::SUBSCRIPTION_PARSE_FAILED);
    assert!(remark.starts_with("parse the consumer's subscription failed"), "{remark}");
    let sql = PullMessageRequestHeader { expression_type: Some("SQL92".to_owned()), ..none };
    let remark = "The broker does not support consumer to filter message by SQL92".to_owned();
    assert_eq!(client.outcome(requests::pull_with(&sql)).await, (response_code::SYSTEM_ERROR, remark));
    broker.stop().await;
}

#[tokio::test]
async fn the_expression_of_the_heartbeats() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    fill(&client).await;
    let outcome = |version| client.outcome(requests::pull_with(&of_heartbeat("group", version)));
    let missing = |remark: &str| (response_code::SUBSCRIPTION_NOT_EXIST, remark.to_owned());
    assert_eq!(outcome(0).await, missing("the consumer's group info not exist"));

    let beat = |expression, version| {
        let subscription = requests::subscription("Tags", expression, version);
        requests::heartbeat("c1", &[], vec![requests::consumer("group", vec![subscription])])
    };
    client.ok(beat("TagA", 5)).await;
    assert_eq!(bodies(&client, &of_heartbeat("group", 5)).await, ["a"]);
    let (code, remark) = outcome(6).await;
    assert_eq!((code, remark.as_str()), (25, "the consumer's subscription not latest"));
    client.ok(beat("标签", 5)).await;
    assert_eq!(bodies(&client, &of_heartbeat("group", 5)).await, ["a"], "not newer");
    client.ok(beat("标签", 6)).await;
    assert_eq!(bodies(&client, &of_heartbeat("group", 6)).await, ["label"]);

    let other = requests::consumer("group", vec![requests::subscription("Other", "*", 7)]);
    client.ok(requests::heartbeat("c1", &[], vec![other])).await;
    assert_eq!(outcome(0).await, missing("the consumer's subscription not exist"));
    broker.stop().await;
}

#[tokio::test]
async fn a_group_that_may_not_broadcast() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    fill(&client).await;
    let group = SubscriptionGroupConfig {
        group_name: "quiet".to_owned(),
        consume_broadcast_enable: false,
        ..Default::default()
    };
    let update = RemotingCommand::request(request_code::UPDATE_AND_CREATE_SUBSCRIPTIONGROUP);
    client.ok(update.with_json_body(&group).unwrap()).await;
    let mut consumer = requests::consumer("quiet", vec![requests::subscription("Tags", "*", 1)]);
    client.ok(requests::heartbeat("c1", &[], vec![consumer.clone()])).await;
    client.pull(&of_heartbeat("quiet", 1), response_code::SUCCESS).await;
    consumer.message_model = MessageModel::Broadcasting;
    client.ok(requests::heartbeat("c1", &[], vec![consumer])).await;
    let answer = client.call(requests::pull_with(&of_heartbeat("quiet", 1))).await;
    assert_eq!(answer.code, response_code::NO_PERMISSION);
    assert_eq!(answer.remark.as_deref(), Some("the consumer group[quiet] can not consume by broadcast way"));
    assert_eq!(answer.field("forbiddenType"), Some("4"));
    broker.stop().await;
}
