//! Topics as administrators make, change, list and delete them.

use crate::in_process::{TestBroker, TestClient, requests};
use broker_proc::remoting::headers::{
    CreateTopicRequestHeader, GetAllTopicConfigRequestHeader, GetAllTopicConfigResponseHeader,
    GetTopicConfigRequestHeader,
};
use broker_proc::remoting::protocol::{
    CreateTopicListRequestBody, TopicConfig, TopicConfigAndMappingSerializeWrapper,
    TopicConfigAndQueueMapping, TopicFilterType, TopicList, TopicStatsTable,
};
use broker_proc::remoting::{RemotingCommand, request_code, response_code};

fn create(header: &CreateTopicRequestHeader) -> RemotingCommand {
    RemotingCommand::request_with(request_code::UPDATE_AND_CREATE_TOPIC, header)
}

async fn config(client: &TestClient, topic: &str) -> TopicConfig {
    let header = GetTopicConfigRequestHeader { topic: topic.to_owned(), lo: None };
    let answer = client.ok(RemotingCommand::request_with(request_code::GET_TOPIC_CONFIG, &header)).await;
    answer.decode_body::<TopicConfigAndQueueMapping>().unwrap().topic_config
}

#[tokio::test]
async fn made_changed_and_made_again_as_it_is() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let version = || broker.context().topics.data_version();
    let header = CreateTopicRequestHeader {
        read_queue_nums: 3,
        write_queue_nums: 2,
        topic_filter_type: "MULTI_TAG".to_owned(),
        order: true,
        attributes: Some("+message.type=FIFO".to_owned()),
        ..requests::topic_header("Made", 1)
    };
    client.ok(create(&header)).await;
    let made = config(&client, "Made").await;
    assert_eq!((made.read_queue_nums, made.write_queue_nums, made.perm, made.order), (3, 2, 6, true));
    assert_eq!(made.topic_filter_type, TopicFilterType::MultiTag);
    assert_eq!(made.attributes["message.type"], "FIFO");
    let before = version();
    client.ok(create(&CreateTopicRequestHeader { attributes: None, ..header.clone() })).await;
    assert_eq!(version(), before, "nothing changed");
    client.ok(create(&CreateTopicRequestHeader { perm: 4, ..header })).await;
    assert_eq!(version().counter, before.counter + 1);
    assert_eq!(config(&client, "Made").await.perm, 4);
    broker.stop().await;
}

#[tokio::test]
async fn what_is_no_topic_is_refused() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let header = |topic: &str| requests::topic_header(topic, 1);
    let mixed =
        CreateTopicRequestHeader { attributes: Some("+message.type=MIXED".to_owned()), ..header("Fine") };
    let cases = [
        (header("bad topic"), "The specified topic: bad topic, contains illegal characters"),
        (header(""), "The specified topic is blank."),
        (header("TBW102"), "The topic[TBW102] is conflict with system topic."),
        (header("rmq_sys_mine"), "The topic[rmq_sys_mine] is conflict with system topic."),
        (mixed, "MIXED message type is not supported."),
        (
            CreateTopicRequestHeader { read_queue_nums: i32::MAX, ..header("Fine") },
            "readQueueNums[2147483647]",
        ),
        (CreateTopicRequestHeader { perm: 8, ..header("Fine") }, "perm[8]"),
    ];
    for (header, expected) in cases {
        let (code, remark) = client.outcome(create(&header)).await;
        assert_eq!(code, response_code::INVALID_PARAMETER, "{remark}");
        assert!(remark.starts_with(expected), "{remark}");
    }
    let unknown = CreateTopicRequestHeader { attributes: Some("+no.such=1".to_owned()), ..header("Fine") };
    assert_eq!(client.outcome(create(&unknown)).await.0, response_code::SYSTEM_ERROR);
    assert!(broker.context().topics.select_topic_config("Fine").is_none());
    let list = CreateTopicListRequestBody {
        topic_config_list: ["Listed", "bad topic", "NotReached"]
            .map(|topic| TopicConfig { topic_name: topic.to_owned(), ..Default::default() })
            .into(),
    };
    let request = RemotingCommand::request(request_code::UPDATE_AND_CREATE_TOPIC_LIST);
    let refused = client.outcome(request.with_json_body(&list).unwrap()).await;
    assert_eq!(refused.0, response_code::INVALID_PARAMETER);
    assert!(broker.context().topics.select_topic_config("NotReached").is_none());
    broker.stop().await;
}

#[tokio::test]
async fn field_F43_deleted_with_its_messages_and_offsets() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.send("Doomed", 0, "x", "").await;
    client.until_dispatched("Doomed", 0, 1).await;
    client.ok(requests::heartbeat("c1", &[], vec![requests::consumer("group", vec![])])).await;
    client.ok(requests::commit("group", "Doomed", 0, 1)).await;
    client.ok(requests::topic(request_code::DELETE_TOPIC_IN_BROKER, "Doomed")).await;
    let header = GetTopicConfigRequestHeader { topic: "Doomed".to_owned(), lo: None };
    let gone = client.outcome(RemotingCommand::request_with(request_code::GET_TOPIC_CONFIG, &header)).await;
    assert_eq!(gone, (response_code::TOPIC_NOT_EXIST, "No topic in this broker. topic: Doomed".to_owned()));
    assert_eq!(client.max_offset("Doomed", 0).await, 0);
    assert_eq!(broker.context().offsets.query_offset("group", "Doomed", 0), None);
    client.ok(requests::topic(request_code::DELETE_TOPIC_IN_BROKER, "Doomed")).await;
    for (topic, remark) in [
        ("", "The specified topic is blank."),
        ("SCHEDULE_TOPIC_XXXX", "The topic[SCHEDULE_TOPIC_XXXX] is conflict with system topic."),
    ] {
        let refused = client.outcome(requests::topic(request_code::DELETE_TOPIC_IN_BROKER, topic)).await;
        assert_eq!(refused, (response_code::INVALID_PARAMETER, remark.to_owned()));
    }
    let sent = client.send("Doomed", 0, "new", "").await;
    assert_eq!(sent.queue_offset, 0, "made anew");
    client.until_dispatched("Doomed", 0, 1).await;
    let (_, messages) = client.pull(&requests::pull_header("readers", "Doomed", 0, 0), 0).await;
    assert_eq!(messages[0].body, "new");
    broker.stop().await;
}

async fn page(client: &TestClient, header: &GetAllTopicConfigRequestHeader) -> (i32, Vec<String>) {
    let answer = client.ok(RemotingCommand::request_with(request_code::GET_ALL_TOPIC_CONFIG, header)).await;
    let total = answer.decode_header::<GetAllTopicConfigResponseHeader>().unwrap().total_topic_num;
    let body: TopicConfigAndMappingSerializeWrapper = answer.decode_body().unwrap();
    (total, body.topic_config_table.into_keys().collect())
}

#[tokio::test]
async fn the_whole_table_at_once_and_in_pages() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.ok(requests::create_topic("Listed", 1)).await;
    let everything = GetAllTopicConfigRequestHeader::default();
    let (total, all) = page(&client, &everything).await;
    assert_eq!(usize::try_from(total).unwrap(), all.len());
    for topic in ["Listed", "TBW102", "BenchmarkTest", "TestCluster", "test-broker", "SCHEDULE_TOPIC_XXXX"] {
        assert!(all.iter().any(|name| name == topic), "{topic} in {all:?}");
    }
    let version = broker.context().topics.data_version();
    let version = store_core::java_json::to_string_pretty(&version).unwrap();
    let mut collected = Vec::new();
    while collected.len() < all.len() {
        let header = GetAllTopicConfigRequestHeader {
            topic_seq: Some(i32::try_from(collected.len()).unwrap()),
            data_version: Some(version.clone()),
            max_topic_num: Some(5),
        };
        let (_, part) = page(&client, &header).await;
        assert!((1..=5).contains(&part.len()));
        collected.extend(part);
    }
    assert_eq!(collected, all);
    broker.stop().await;
}

#[tokio::test]
async fn ranges_of_the_queues_of_a_topic() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let header = CreateTopicRequestHeader { read_queue_nums: 3, ..requests::topic_header("Stats", 2) };
    client.ok(create(&header)).await;
    for _ in 0..2 {
        client.send("Stats", 1, "x", "").await;
    }
    client.until_dispatched("Stats", 1, 2).await;
    let answer = client.ok(requests::topic(request_code::GET_TOPIC_STATS_INFO, "Stats")).await;
    let stats: TopicStatsTable = answer.decode_body().unwrap();
    let ranges: Vec<_> = stats
        .offset_table
        .iter()
        .map(|(queue, range)| {
            (queue.queue_id, range.min_offset, range.max_offset, range.last_update_timestamp > 0)
        })
        .collect();
    assert_eq!(ranges, [(0, 0, 0, false), (1, 0, 2, true), (2, 0, 0, false)]);
    assert!(
        stats.offset_table.keys().all(|queue| queue.topic == "Stats" && queue.broker_name == "test-broker")
    );
    let unknown = client.outcome(requests::topic(request_code::GET_TOPIC_STATS_INFO, "Unknown")).await;
    assert_eq!(unknown.0, response_code::TOPIC_NOT_EXIST);
    broker.stop().await;
}

#[tokio::test]
async fn the_topics_of_the_system() {
    let broker = TestBroker::start().await;
    let answer =
        broker.client().ok(RemotingCommand::request(request_code::GET_SYSTEM_TOPIC_LIST_FROM_BROKER)).await;
    let topics = answer.decode_body::<TopicList>().unwrap().topic_list;
    for topic in
        ["TBW102", "TestCluster", "test-broker", "rmq_sys_REVIVE_LOG_TestCluster", "TestCluster_REPLY_TOPIC"]
    {
        assert!(topics.iter().any(|name| name == topic), "{topic} in {topics:?}");
    }
    broker.stop().await;
}
