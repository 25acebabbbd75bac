//! Sends that succeed: `SEND_MESSAGE`, `SEND_MESSAGE_V2`, with and without an answer.

use crate::in_process::{RawClient, TestBroker, requests};
use broker_proc::remoting::headers::{
    GetRouteInfoRequestHeader, OffsetResponseHeader, SendMessageRequestHeader, SendMessageResponseHeader,
};
use broker_proc::remoting::protocol::{QueueData, TopicRouteData};
use broker_proc::remoting::{RemotingCommand, request_code, response_code};
use store_core::message_id;

#[tokio::test]
async fn both_header_forms_store_the_same() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let properties =
        requests::properties(&[("TAGS", "TagA"), ("KEYS", "k1 k2"), ("UNIQ_KEY", "U1"), ("mine", "v")]);
    let header = SendMessageRequestHeader {
        properties: Some(properties),
        flag: 17,
        sys_flag: 1,
        ..requests::send_header("Forms", 2)
    };
    let codes = [request_code::SEND_MESSAGE, request_code::SEND_MESSAGE_V2];
    for (code, queue_offset) in codes.into_iter().zip(0..) {
        let answer = client.ok(requests::send_with(code, &header, "hello")).await;
        let sent: SendMessageResponseHeader = answer.decode_header().unwrap();
        assert_eq!((sent.queue_id, sent.queue_offset), (2, queue_offset));
        assert_eq!(sent.transaction_id.as_deref(), Some("U1"));
        assert_eq!(sent.msg_region.as_deref(), Some("DefaultRegion"));
        assert_eq!(sent.trace_on.as_deref(), Some("true"));
        let (host, _) = message_id::decode(&sent.msg_id).unwrap();
        assert_eq!(host.to_string(), broker.address());
    }
    client.until_dispatched("Forms", 2, 2).await;
    let (_, stored) = client.pull(&requests::pull_header("readers", "Forms", 2, 0), 0).await;
    assert_eq!(stored.len(), 2);
    for message in stored {
        assert_eq!((message.topic.as_str(), message.queue_id, message.body.as_str()), ("Forms", 2, "hello"));
        assert_eq!((message.flag, message.sys_flag, message.reconsume_times), (17, 1, 0));
        assert_eq!(message.born_timestamp, 1_700_000_000_000);
        assert!(message.born_host.ip().is_loopback() && message.born_host.to_string() != broker.address());
        assert_eq!(message.store_host.to_string(), broker.address());
        let kept = ["TAGS", "KEYS", "UNIQ_KEY", "mine"].map(|name| message.property(name));
        assert_eq!(kept, ["TagA", "k1 k2", "U1", "v"]);
        let added = ["MSG_REGION", "TRACE_ON", "CLUSTER"].map(|name| message.property(name));
        assert_eq!(added, ["DefaultRegion", "true", "TestCluster"]);
    }
    broker.stop().await;
}

#[tokio::test]
async fn what_must_not_stay_is_taken_out_and_what_is_missing_put_in() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let given =
        [("POP_CK", "handle"), ("__RMQ.TRANSIENT.x", "1"), ("CLUSTER", "another"), ("MSG_REGION", "another")];
    let sent = client.send("Props", 0, "x", &requests::properties(&given)).await;
    client.until_dispatched("Props", 0, 1).await;
    let (_, stored) = client.pull(&requests::pull_header("readers", "Props", 0, 0), 0).await;
    let found = ["POP_CK", "__RMQ.TRANSIENT.x", "CLUSTER", "MSG_REGION"].map(|name| stored[0].property(name));
    assert_eq!(found, ["", "", "TestCluster", "DefaultRegion"]);
    let unique = stored[0].property("UNIQ_KEY");
    assert_eq!(unique.len(), 32, "{unique}");
    assert_eq!(sent.transaction_id.as_deref(), Some(unique));
    broker.stop().await;
}

#[tokio::test]
async fn region_and_trace_switch_are_the_settings() {
    let broker = TestBroker::with("regionId=eu\ntraceOn=false\n").await;
    let client = broker.client();
    let sent = client.send("Region", 0, "x", "").await;
    assert_eq!((sent.msg_region.as_deref(), sent.trace_on.as_deref()), (Some("eu"), Some("false")));
    client.until_dispatched("Region", 0, 1).await;
    let (_, stored) = client.pull(&requests::pull_header("readers", "Region", 0, 0), 0).await;
    assert_eq!((stored[0].property("MSG_REGION"), stored[0].property("TRACE_ON")), ("eu", "false"));
    broker.stop().await;
}

#[tokio::test]
async fn the_broker_chooses_a_queue_when_asked_to() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let mut used = [0; 4];
    for _ in 0..64 {
        let sent = client.send("Any", -1, "x", "").await;
        used[usize::try_from(sent.queue_id).unwrap()] += 1;
    }
    assert!(used.iter().all(|count| *count > 0), "{used:?}");
    for (queue_id, count) in (0..).zip(used) {
        client.until_dispatched("Any", queue_id, count).await;
    }
    broker.stop().await;
}

#[tokio::test]
async fn a_new_topic_has_a_route_before_its_first_send_is_answered() {
    let broker = TestBroker::start().await;
    let name_server = broker.name_server_client();
    let header = GetRouteInfoRequestHeader { topic: "Fresh".to_owned(), ..Default::default() };
    let ask = || RemotingCommand::request_with(request_code::GET_ROUTEINFO_BY_TOPIC, &header);
    assert_eq!(name_server.call(ask()).await.code, response_code::TOPIC_NOT_EXIST);
    broker.client().send("Fresh", 0, "x", "").await;
    let route: TopicRouteData = name_server.ok(ask()).await.decode_body().unwrap();
    let expected = QueueData {
        broker_name: "test-broker".to_owned(),
        read_queue_nums: 4,
        write_queue_nums: 4,
        perm: 6,
        topic_sys_flag: 0,
    };
    assert_eq!(route.queue_datas, [expected]);
    assert_eq!(route.broker_datas.len(), 1);
    assert_eq!(route.broker_datas[0].cluster, "TestCluster");
    assert_eq!(route.broker_datas[0].broker_addrs.get(&0), Some(&broker.address()));
    broker.stop().await;
}

#[tokio::test]
async fn a_new_topic_has_as_many_queues_as_wished_and_allowed() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    for (topic, wish, queues) in [("Wish1", 1, 1), ("Wish100", 100, 8), ("Wish0", 0, 1)] {
        let header =
            SendMessageRequestHeader { default_topic_queue_nums: wish, ..requests::send_header(topic, 0) };
        client.ok(requests::send_with(request_code::SEND_MESSAGE, &header, "x")).await;
        let config = broker.context().topics.select_topic_config(topic).unwrap();
        assert_eq!(
            (config.read_queue_nums, config.write_queue_nums, config.perm),
            (queues, queues, 6),
            "{topic}"
        );
    }
    broker.stop().await;
}

#[tokio::test]
async fn a_oneway_send_is_stored_and_not_answered() {
    let broker = TestBroker::start().await;
    let mut client = RawClient::connect(&broker.address()).await;
    client.send(1, requests::send("Oneway", 0, "quiet", "").oneway()).await;
    // One that is refused is not answered either.
    client.send(2, requests::send("bad topic", 0, "quiet", "").oneway()).await;
    let mut opaque = 3;
    loop {
        client.send(opaque, requests::queue(request_code::GET_MAX_OFFSET, "Oneway", 0)).await;
        let answer = client.receive().await.unwrap();
        assert_eq!(answer.opaque, opaque, "an answer nobody wanted");
        if answer.decode_header::<OffsetResponseHeader>().unwrap().offset == 1 {
            break;
        }
        opaque += 1;
    }
    let (_, stored) = broker.client().pull(&requests::pull_header("readers", "Oneway", 0, 0), 0).await;
    assert_eq!(stored[0].body, "quiet");
    broker.stop().await;
}

#[tokio::test]
async fn the_fast_port_takes_sends_and_no_pulls() {
    let broker = TestBroker::start().await;
    let fast = broker.fast_client();
    fast.send("Fast", 0, "x", "").await;
    broker.client().until_dispatched("Fast", 0, 1).await;
    let refused = fast.outcome(requests::pull_with(&requests::pull_header("readers", "Fast", 0, 0))).await;
    assert_eq!(
        refused,
        (response_code::REQUEST_CODE_NOT_SUPPORTED, " request type 11 not supported".to_owned())
    );
    broker.stop().await;
}
