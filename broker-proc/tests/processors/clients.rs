//! `HEART_BEAT` and what follows from it: lists of members, notices to them, and their end.

use crate::in_process::{TestBroker, TestClient, eventually, requests};
use broker_proc::remoting::headers::{
    ConsumerGroupRequestHeader, HeartbeatResponseHeader, ProducerGroupRequestHeader,
    UnregisterClientRequestHeader,
};
use broker_proc::remoting::protocol::{
    CheckClientRequestBody, ConsumeFromWhere, ConsumeType, ConsumerConnection,
    GetConsumerListByGroupResponseBody, MessageModel, ProducerConnection, ProducerTableInfo,
    SubscriptionData, SubscriptionGroupConfig,
};
use broker_proc::remoting::{RemotingCommand, request_code, response_code};

fn of_group(code: i32, group: &str) -> RemotingCommand {
    RemotingCommand::request_with(code, &ConsumerGroupRequestHeader { consumer_group: group.to_owned() })
}

/// Ids of the members of a group.
async fn members(client: &TestClient, group: &str) -> Vec<String> {
    let answer = client.ok(of_group(request_code::GET_CONSUMER_LIST_BY_GROUP, group)).await;
    answer.decode_body::<GetConsumerListByGroupResponseBody>().unwrap().consumer_id_list
}

/// Registers `client` under an id in the consumer group `group`.
async fn join(client: &TestClient, id: &str) -> HeartbeatResponseHeader {
    let consumer = requests::consumer("group", vec![requests::subscription("Topic", "TagA", 1)]);
    client.ok(requests::heartbeat(id, &[], vec![consumer])).await.decode_header().unwrap()
}

/// The next push must tell of a change of the group.
async fn is_notified(client: &TestClient) {
    let notice = client.pushed().await;
    assert_eq!(notice.code, request_code::NOTIFY_CONSUMER_IDS_CHANGED);
    assert!(notice.is_oneway());
    assert_eq!(notice.decode_header::<ConsumerGroupRequestHeader>().unwrap().consumer_group, "group");
}

#[tokio::test]
async fn members_are_listed_and_told_of_each_other() {
    let broker = TestBroker::start().await;
    let (first, second, onlooker) = (broker.client(), broker.client(), broker.client());
    let nobody = onlooker.outcome(of_group(request_code::GET_CONSUMER_LIST_BY_GROUP, "group")).await;
    assert_eq!(nobody, (response_code::SYSTEM_ERROR, "no consumer for this group, group".to_owned()));

    assert_eq!(join(&first, "c1").await.is_sub_change, Some(true));
    assert_eq!(
        members(&first, "group").await,
        ["c1"],
        "the caller is there as soon as its heartbeat is answered"
    );
    is_notified(&first).await;
    join(&second, "c2").await;
    assert_eq!(members(&onlooker, "group").await, ["c1", "c2"]);
    is_notified(&first).await;
    is_notified(&second).await;

    let again = join(&second, "c2").await;
    assert_eq!((again.is_sub_change, again.is_support_heart_beat_v2), (Some(false), Some(true)));
    // Pushes and answers of a connection are in order: nothing came with the second heartbeat.
    members(&second, "group").await;
    assert!(second.pushed_so_far().await.is_empty());
    assert_eq!(broker.context().topics.select_topic_config("%RETRY%group").unwrap().read_queue_nums, 1);

    let leave = UnregisterClientRequestHeader {
        client_id: "c1".to_owned(),
        consumer_group: Some("group".to_owned()),
        producer_group: None,
    };
    first.ok(RemotingCommand::request_with(request_code::UNREGISTER_CLIENT, &leave)).await;
    is_notified(&second).await;
    assert_eq!(members(&onlooker, "group").await, ["c2"]);
    broker.stop().await;
}

#[tokio::test]
async fn a_closed_connection_is_told_to_the_others() {
    let broker = TestBroker::start().await;
    let (first, second) = (broker.client(), broker.client());
    join(&first, "c1").await;
    is_notified(&first).await;
    join(&second, "c2").await;
    is_notified(&first).await;
    second.disconnect().await;
    is_notified(&first).await;
    assert_eq!(members(&first, "group").await, ["c1"]);
    first.disconnect().await;
    eventually("the group is forgotten", || broker.context().consumers.groups().is_empty()).await;
    broker.stop().await;
}

#[tokio::test]
async fn a_new_topic_of_a_group_is_a_change_and_a_new_expression_is_not() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let beat =
        |subscriptions| requests::heartbeat("c1", &[], vec![requests::consumer("group", subscriptions)]);
    let changed = async |subscriptions: Vec<SubscriptionData>| {
        let answer = client.ok(beat(subscriptions)).await;
        answer.decode_header::<HeartbeatResponseHeader>().unwrap().is_sub_change
    };
    let subscription = requests::subscription;
    assert_eq!(changed(vec![subscription("A", "*", 1)]).await, Some(true));
    assert_eq!(changed(vec![subscription("A", "TagA", 2)]).await, Some(false));
    assert_eq!(changed(vec![subscription("A", "TagA", 2), subscription("B", "*", 2)]).await, Some(true));
    assert_eq!(changed(vec![subscription("B", "*", 2)]).await, Some(true));
    let notices = client.pushed_so_far().await.len();
    assert_eq!(notices, 3);
    broker.stop().await;
}

#[tokio::test]
async fn groups_that_broadcast_or_do_not_want_it_are_not_told() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let silent = SubscriptionGroupConfig {
        group_name: "silent".to_owned(),
        notify_consumer_ids_changed_enable: false,
        ..Default::default()
    };
    let update = RemotingCommand::request(request_code::UPDATE_AND_CREATE_SUBSCRIPTIONGROUP);
    client.ok(update.with_json_body(&silent).unwrap()).await;
    let mut broadcasting = requests::consumer("broadcasting", vec![]);
    broadcasting.message_model = MessageModel::Broadcasting;
    let groups =
        vec![requests::consumer("silent", vec![]), broadcasting, requests::consumer("bad group", vec![])];
    client.ok(requests::heartbeat("c1", &[], groups)).await;
    assert_eq!(members(&client, "silent").await, ["c1"]);
    assert_eq!(members(&client, "broadcasting").await, ["c1"]);
    assert!(client.pushed_so_far().await.is_empty());
    let illegal = client.outcome(of_group(request_code::GET_CONSUMER_LIST_BY_GROUP, "bad group")).await;
    assert_eq!(illegal.0, response_code::SYSTEM_ERROR, "passed over in silence");
    broker.stop().await;
}

#[tokio::test]
async fn connections_of_groups_are_shown() {
    let broker = TestBroker::start().await;
    let (client, onlooker) = (broker.client(), broker.client());
    let offline = onlooker.outcome(of_group(request_code::GET_CONSUMER_CONNECTION_LIST, "group")).await;
    assert_eq!(
        offline,
        (response_code::CONSUMER_NOT_ONLINE, "the consumer group[group] not online".to_owned())
    );
    let producers = |group: &str| {
        let header = ProducerGroupRequestHeader { producer_group: group.to_owned() };
        RemotingCommand::request_with(request_code::GET_PRODUCER_CONNECTION_LIST, &header)
    };
    let unknown = onlooker.outcome(producers("p1")).await;
    assert_eq!(unknown, (response_code::SYSTEM_ERROR, "the producer group[p1] not exist".to_owned()));

    let consumer = requests::consumer("group", vec![requests::subscription("Topic", "TagA || TagB", 9)]);
    client.ok(requests::heartbeat("c1", &["p1", "p2"], vec![consumer])).await;
    let answer = onlooker.ok(of_group(request_code::GET_CONSUMER_CONNECTION_LIST, "group")).await;
    let shown: ConsumerConnection = answer.decode_body().unwrap();
    assert_eq!(shown.connection_set.len(), 1);
    assert_eq!(shown.connection_set[0].client_id, "c1");
    assert!(shown.connection_set[0].client_addr.starts_with("127.0.0.1:"));
    assert_eq!(shown.consume_type, ConsumeType::ConsumePassively);
    assert_eq!(shown.message_model, MessageModel::Clustering);
    assert_eq!(shown.consume_from_where, ConsumeFromWhere::ConsumeFromFirstOffset);
    let subscription = &shown.subscription_table["Topic"];
    assert_eq!(subscription.sub_version, 9);
    assert!(subscription.code_set.contains(&2_598_919), "the hash of TagA, computed by the broker");

    let shown: ProducerConnection = onlooker.ok(producers("p2")).await.decode_body().unwrap();
    assert_eq!(shown.connection_set[0].client_id, "c1");
    let all = onlooker.ok(RemotingCommand::request(request_code::GET_ALL_PRODUCER_INFO)).await;
    let all: ProducerTableInfo = all.decode_body().unwrap();
    assert_eq!(all.data.keys().map(String::as_str).collect::<Vec<_>>(), ["p1", "p2"]);
    assert!(all.data["p1"][0].remote_ip.starts_with("/127.0.0.1:"));

    let leave = UnregisterClientRequestHeader {
        client_id: "c1".to_owned(),
        producer_group: Some("p1".to_owned()),
        consumer_group: None,
    };
    client.ok(RemotingCommand::request_with(request_code::UNREGISTER_CLIENT, &leave)).await;
    assert_eq!(onlooker.outcome(producers("p1")).await.0, response_code::SYSTEM_ERROR);
    onlooker.ok(producers("p2")).await;
    broker.stop().await;
}

#[tokio::test]
async fn field_F118_heartbeats_of_other_languages_are_understood() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    // Ordinals, a version as text and no sets, as C++ writes them; codes as text and an unknown word, as Go does.
    let bodies = [
        r#"{"clientID":"cpp","consumerDataSet":[{"groupName":"g1","consumeType":1,"messageModel":1,"consumeFromWhere":4,
            "subscriptionDataSet":[{"topic":"T","subString":"TagA","subVersion":"12"}]}],"producerDataSet":[]}"#,
        r#"{"clientID":"go","consumerDataSet":[{"groupName":"g2","consumeType":"CONSUME_PASSIVELY",
            "messageModel":"CLUSTERING","consumeFromWhere":"UNKNOWN","subscriptionDataSet":[{"topic":"T",
            "subString":"TagA","tagsSet":["TagA"],"codeSet":["1"],"subVersion":12,"expressionType":"TAG"}]}]}"#,
    ];
    for (body, group) in bodies.iter().zip(["g1", "g2"]) {
        client.ok(RemotingCommand::request(request_code::HEART_BEAT).with_body(body.as_bytes())).await;
        let info = broker.context().consumers.group_info(group).unwrap();
        assert_eq!(info.message_model, MessageModel::Clustering, "{group}");
        let subscription = info.find_subscription("T").unwrap();
        assert_eq!(subscription.data().sub_version, 12, "{group}");
        assert!(subscription.matches_tags_code(Some(2_598_919)), "{group}");
        assert!(!subscription.matches_tags_code(Some(1)), "{group}: the client's own codes do not count");
    }
    broker.stop().await;
}

#[tokio::test]
async fn filters_are_checked_before_a_consumer_starts() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let check = |expression_type: &str| {
        let body = CheckClientRequestBody {
            client_id: "c1".to_owned(),
            group: "group".to_owned(),
            subscription_data: SubscriptionData {
                expression_type: expression_type.to_owned(),
                ..requests::subscription("Topic", "a > 1", 1)
            },
            namespace: None,
        };
        RemotingCommand::request(request_code::CHECK_CLIENT_CONFIG).with_json_body(&body).unwrap()
    };
    client.ok(check("TAG")).await;
    let remark = "The broker does not support consumer to filter message by SQL92".to_owned();
    assert_eq!(client.outcome(check("SQL92")).await, (response_code::SYSTEM_ERROR, remark));
    broker.stop().await;
}

#[tokio::test]
async fn a_heartbeat_of_many_groups_is_served_at_once() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let names: Vec<String> = (0..2000).map(|number| format!("many{number}")).collect();
    let consumers = names.iter().map(|name| requests::consumer(name, vec![])).collect();
    client.ok(requests::heartbeat("c1", &[], consumers)).await;
    let broker = broker.restart().await;
    for name in names {
        assert!(broker.context().groups.get(&name).is_some(), "{name} is not kept");
        assert!(broker.context().topics.select_topic_config(&format!("%RETRY%{name}")).is_some(), "{name}");
    }
    broker.stop().await;
}
