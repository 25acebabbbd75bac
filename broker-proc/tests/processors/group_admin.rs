//! Consumer groups as administrators make, change, list and delete them, and their progress.

use crate::in_process::{TestBroker, requests};
use broker_proc::remoting::headers::{
    DeleteSubscriptionGroupRequestHeader, GetAllSubscriptionGroupRequestHeader,
    GetAllSubscriptionGroupResponseHeader, GetConsumeStatsRequestHeader, GroupRequestHeader,
    GroupTopicRequestHeader,
};
use broker_proc::remoting::protocol::{
    ConsumeStats, GroupList, QuerySubscriptionResponseBody, SubscriptionGroupConfig, SubscriptionGroupList,
    SubscriptionGroupWrapper, TopicList,
};
use broker_proc::remoting::{RemotingCommand, request_code, response_code};

fn group(name: &str) -> SubscriptionGroupConfig {
    SubscriptionGroupConfig { group_name: name.to_owned(), ..Default::default() }
}

fn update(config: &SubscriptionGroupConfig) -> RemotingCommand {
    RemotingCommand::request(request_code::UPDATE_AND_CREATE_SUBSCRIPTIONGROUP)
        .with_json_body(config)
        .unwrap()
}

fn of_group(code: i32, name: &str) -> RemotingCommand {
    RemotingCommand::request_with(code, &GroupRequestHeader { group: name.to_owned() })
}

#[tokio::test]
async fn made_changed_listed_and_deleted() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let read = |name| of_group(request_code::GET_SUBSCRIPTIONGROUP_CONFIG, name);
    let absent = (response_code::SUBSCRIPTION_GROUP_NOT_EXIST, "No group in this broker".to_owned());
    assert_eq!(client.outcome(read("made")).await, absent);
    let wanted =
        SubscriptionGroupConfig { retry_max_times: 3, consume_broadcast_enable: false, ..group("made") };
    client.ok(update(&wanted)).await;
    assert_eq!(client.ok(read("made")).await.decode_body::<SubscriptionGroupConfig>().unwrap(), wanted);
    let version = broker.context().groups.data_version();
    client.ok(update(&wanted)).await;
    assert_eq!(broker.context().groups.data_version(), version, "nothing changed");

    let list = SubscriptionGroupList { group_config_list: vec![group("l1"), group("l2")] };
    let request = RemotingCommand::request(request_code::UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST);
    client.ok(request.with_json_body(&list).unwrap()).await;
    let everything = GetAllSubscriptionGroupRequestHeader::default();
    let code = request_code::GET_ALL_SUBSCRIPTIONGROUP_CONFIG;
    let answer = client.ok(RemotingCommand::request_with(code, &everything)).await;
    let total = answer.decode_header::<GetAllSubscriptionGroupResponseHeader>().unwrap().total_group_num;
    let table = answer.decode_body::<SubscriptionGroupWrapper>().unwrap().subscription_group_table;
    assert_eq!(usize::try_from(total).unwrap(), table.len());
    for name in ["made", "l1", "l2", "TOOLS_CONSUMER", "CID_RMQ_SYS_TRANS"] {
        assert_eq!(table[name].group_name, name);
    }
    let delete = DeleteSubscriptionGroupRequestHeader { group_name: "made".to_owned(), clean_offset: false };
    client.ok(RemotingCommand::request_with(request_code::DELETE_SUBSCRIPTIONGROUP, &delete)).await;
    assert_eq!(client.outcome(read("made")).await, absent);
    broker.stop().await;
}

#[tokio::test]
async fn what_is_no_group_is_refused() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let cases = [
        (group("bad group"), "The specified group: bad group, contains illegal characters"),
        (group(""), "The specified group is blank."),
        (group(&"g".repeat(121)), "The specified group: ggg"),
        (
            SubscriptionGroupConfig { retry_queue_nums: i32::MAX, ..group("many") },
            "retryQueueNums[2147483647]",
        ),
    ];
    for (config, expected) in cases {
        let (code, remark) = client.outcome(update(&config)).await;
        assert_eq!(code, response_code::INVALID_PARAMETER, "{remark}");
        assert!(remark.starts_with(expected), "{remark}");
    }
    broker.stop().await;
}

#[tokio::test]
async fn groups_are_made_on_use_only_where_that_is_set() {
    for (settings, made) in [("", true), ("autoCreateSubscriptionGroup=false\n", false)] {
        let broker = TestBroker::with(settings).await;
        let client = broker.client();
        client.send("Use", 0, "x", "").await;
        client.until_dispatched("Use", 0, 1).await;
        let (code, _) =
            client.outcome(requests::pull_with(&requests::pull_header("used", "Use", 0, 0))).await;
        assert_eq!(code == response_code::SUBSCRIPTION_GROUP_NOT_EXIST, !made);
        assert_eq!(broker.context().groups.get("used").is_some(), made);
        client.pull(&requests::pull_header("CID_RMQ_SYS_mine", "Use", 0, 0), 0).await;
        broker.stop().await;
    }
}

#[tokio::test]
async fn progress_of_a_group() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.ok(requests::create_topic("Progress", 2)).await;
    client.ok(requests::create_topic("Idle", 1)).await;
    for _ in 0..3 {
        client.send("Progress", 0, "x", "").await;
    }
    client.until_dispatched("Progress", 0, 3).await;
    let (_, messages) = client.pull(&requests::pull_header("group", "Progress", 0, 0), 0).await;
    client.ok(requests::commit("group", "Progress", 0, 2)).await;

    let ask = |topic: Option<&str>, list: Option<&str>| {
        let header = GetConsumeStatsRequestHeader {
            consumer_group: "group".to_owned(),
            topic: topic.map(str::to_owned),
            topic_list: list.map(str::to_owned),
        };
        RemotingCommand::request_with(request_code::GET_CONSUME_STATS, &header)
    };
    let stats: ConsumeStats = client.ok(ask(None, None)).await.decode_body().unwrap();
    let rows: Vec<_> = stats
        .offset_table
        .iter()
        .map(|(queue, row)| (queue.queue_id, row.broker_offset, row.consumer_offset, row.pull_offset))
        .collect();
    assert_eq!(rows, [(0, 3, 2, 3), (1, 0, 0, 0)]);
    let first = stats.offset_table.values().next().unwrap();
    assert_eq!(first.last_timestamp, messages[1].store_timestamp, "of the last message that is consumed");
    for (request, topics) in [
        (ask(Some("Idle"), None), vec!["Idle"]),
        (ask(None, Some("Idle;Unknown;Progress")), vec!["Idle", "Progress", "Progress"]),
        (ask(Some("Unknown"), None), vec![]),
    ] {
        let stats: ConsumeStats = client.ok(request).await.decode_body().unwrap();
        assert_eq!(stats.offset_table.keys().map(|queue| queue.topic.as_str()).collect::<Vec<_>>(), topics);
    }
    broker.stop().await;
}

#[tokio::test]
async fn who_consumes_what() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.ok(requests::create_topic("Consumed", 1)).await;
    client.ok(update(&group("past"))).await;
    client.ok(requests::commit("past", "Consumed", 0, 1)).await;
    let consumer = requests::consumer("present", vec![requests::subscription("Consumed", "TagA", 4)]);
    client.ok(requests::heartbeat("c1", &[], vec![consumer])).await;

    let answer = client.ok(requests::topic(request_code::QUERY_TOPIC_CONSUME_BY_WHO, "Consumed")).await;
    assert_eq!(answer.decode_body::<GroupList>().unwrap().group_list, ["past", "present"]);
    let answer = client.ok(of_group(request_code::QUERY_TOPICS_BY_CONSUMER, "past")).await;
    let topics: TopicList = answer.decode_body().unwrap();
    assert_eq!(
        (topics.topic_list, topics.broker_addr),
        (vec!["Consumed".to_owned()], Some(broker.address()))
    );
    let header = GroupTopicRequestHeader { group: "present".to_owned(), topic: "Consumed".to_owned() };
    let code = request_code::QUERY_SUBSCRIPTION_BY_CONSUMER;
    let answer = client.ok(RemotingCommand::request_with(code, &header)).await;
    let subscription =
        answer.decode_body::<QuerySubscriptionResponseBody>().unwrap().subscription_data.unwrap();
    assert_eq!((subscription.sub_string.as_str(), subscription.sub_version), ("TagA", 4));

    let delete = DeleteSubscriptionGroupRequestHeader { group_name: "past".to_owned(), clean_offset: true };
    client.ok(RemotingCommand::request_with(request_code::DELETE_SUBSCRIPTIONGROUP, &delete)).await;
    let answer = client.ok(requests::topic(request_code::QUERY_TOPIC_CONSUME_BY_WHO, "Consumed")).await;
    assert_eq!(answer.decode_body::<GroupList>().unwrap().group_list, ["present"], "its offsets went along");
    broker.stop().await;
}
