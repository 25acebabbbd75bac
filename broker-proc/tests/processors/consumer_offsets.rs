//! `QUERY_CONSUMER_OFFSET`, `UPDATE_CONSUMER_OFFSET`, and the offset a pull carries.

use crate::in_process::{TestBroker, TestClient, requests};
use broker_proc::remoting::headers::{
    PullMessageRequestHeader, QueryConsumerOffsetRequestHeader, QueryConsumerOffsetResponseHeader,
    pull_sys_flag,
};
use broker_proc::remoting::{RemotingCommand, request_code, response_code};

/// Offset of the group `group` in queue 0 of `topic`, or code and remark of the refusal.
async fn query(
    client: &TestClient,
    topic: &str,
    set_zero_if_not_found: Option<bool>,
) -> Result<i64, (i32, String)> {
    let header = QueryConsumerOffsetRequestHeader {
        consumer_group: "group".to_owned(),
        topic: topic.to_owned(),
        queue_id: 0,
        set_zero_if_not_found,
    };
    let answer =
        client.call(RemotingCommand::request_with(request_code::QUERY_CONSUMER_OFFSET, &header)).await;
    match answer.code {
        0 => Ok(answer.decode_header::<QueryConsumerOffsetResponseHeader>().unwrap().offset),
        code => Err((code, answer.remark.unwrap_or_default())),
    }
}

#[tokio::test]
async fn where_a_new_group_begins() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.ok(requests::create_topic("Begin", 1)).await;
    let first_boot = "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first";
    for topic in ["Unknown", "Begin"] {
        let expected = (response_code::QUERY_NOT_FOUND, first_boot.to_owned());
        assert_eq!(query(&client, topic, None).await, Err(expected), "{topic} has no message");
    }
    client.send("Begin", 0, "x", "").await;
    client.until_dispatched("Begin", 0, 1).await;
    assert_eq!(query(&client, "Begin", None).await, Ok(0));
    assert_eq!(query(&client, "Begin", Some(true)).await, Ok(0));
    let not_zero = "Not found, do not set to zero, maybe this group boot first";
    assert_eq!(
        query(&client, "Begin", Some(false)).await,
        Err((response_code::QUERY_NOT_FOUND, not_zero.to_owned()))
    );
    broker.stop().await;
}

#[tokio::test]
async fn offsets_are_kept_as_they_are_committed() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.ok(requests::create_topic("Kept", 1)).await;
    let no_group = (response_code::SUBSCRIPTION_GROUP_NOT_EXIST, "Group group not exist!".to_owned());
    assert_eq!(client.outcome(requests::commit("group", "Kept", 0, 5)).await, no_group);
    client.ok(requests::heartbeat("c1", &[], vec![requests::consumer("group", vec![])])).await;
    let no_topic = (response_code::TOPIC_NOT_EXIST, "Topic Unknown not exist!".to_owned());
    assert_eq!(client.outcome(requests::commit("group", "Unknown", 0, 5)).await, no_topic);
    for offset in [5, 3, 0] {
        client.ok(requests::commit("group", "Kept", 0, offset)).await;
        assert_eq!(query(&client, "Kept", Some(false)).await, Ok(offset), "backwards too");
    }
    client.ok(requests::commit("group", "Kept", 0, -1)).await;
    assert_eq!(query(&client, "Kept", Some(false)).await, Ok(0), "-1 says nothing");
    for field in ["queueId", "commitOffset"] {
        let mut request = requests::commit("group", "Kept", 0, 5);
        request.ext_fields.as_mut().unwrap().remove(field);
        assert_eq!(client.outcome(request).await.0, response_code::INVALID_PARAMETER, "{field}");
    }
    client.oneway(requests::commit("group", "Kept", 0, 9)).await;
    // Requests of one connection are served in order.
    assert_eq!(query(&client, "Kept", Some(false)).await, Ok(9));
    broker.stop().await;
}

#[tokio::test]
async fn a_pull_commits_the_offset_it_carries() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.send("Carried", 0, "x", "").await;
    client.until_dispatched("Carried", 0, 1).await;
    let without =
        PullMessageRequestHeader { commit_offset: 7, ..requests::pull_header("group", "Carried", 0, 0) };
    client.pull(&without, 0).await;
    assert!(query(&client, "Carried", Some(false)).await.is_err(), "the flag is not set");
    let sys_flag = pull_sys_flag::SUBSCRIPTION | pull_sys_flag::COMMIT_OFFSET;
    client.pull(&PullMessageRequestHeader { sys_flag, ..without }, 0).await;
    assert_eq!(query(&client, "Carried", Some(false)).await, Ok(7));
    broker.stop().await;
}
