use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use super::{NameServer, NameServerOptions, NamesrvSettings, ORDER_TOPIC_CONFIG};
use crate::remoting::headers::{
    DeleteTopicFromNamesrvRequestHeader, GetKvConfigResponseHeader, GetRouteInfoRequestHeader,
    KvConfigRequestHeader, PutKvConfigRequestHeader, QueryDataVersionRequestHeader,
    QueryDataVersionResponseHeader, RegisterBrokerRequestHeader, RegisterBrokerResponseHeader,
    UnregisterBrokerRequestHeader,
};
use crate::remoting::protocol::{DataVersion, KvTable, RegisterBrokerBody, TopicConfig, TopicList};
use crate::remoting::{ClientOptions, RemotingClient, RemotingCommand, request_code, response_code};

const LONG: Duration = Duration::from_secs(30);

async fn start(settings: NamesrvSettings, now: &Arc<AtomicI64>) -> (NameServer, String) {
    let now = Arc::clone(now);
    let options = NameServerOptions {
        settings,
        clock: Arc::new(move || now.load(Ordering::SeqCst)),
        ..Default::default()
    };
    let server = NameServer::start("127.0.0.1:0".parse().unwrap(), options).await.unwrap();
    let addr = server.local_addr().to_string();
    (server, addr)
}

fn client() -> RemotingClient {
    RemotingClient::new(ClientOptions::default())
}

fn header() -> RegisterBrokerRequestHeader {
    RegisterBrokerRequestHeader {
        broker_name: "b".to_owned(),
        broker_addr: "1.2.3.4:10911".to_owned(),
        cluster_name: "C".to_owned(),
        ha_server_addr: "1.2.3.4:10912".to_owned(),
        ..Default::default()
    }
}

fn registration(mut header: RegisterBrokerRequestHeader) -> RemotingCommand {
    let mut body = RegisterBrokerBody::default();
    for name in ["T", "标签/1"] {
        let topic = TopicConfig {
            topic_name: name.to_owned(),
            read_queue_nums: 8,
            write_queue_nums: 8,
            ..Default::default()
        };
        body.topic_config_serialize_wrapper.topic_config_table.insert(name.to_owned(), topic);
    }
    let body = store_core::java_json::to_vec(&body).unwrap();
    if header.body_crc32 == 0 {
        header.body_crc32 = i32::try_from(crc32fast::hash(&body) & 0x7FFF_FFFF).unwrap();
    }
    RemotingCommand::request_with(request_code::REGISTER_BROKER, &header).with_body(body)
}

fn route_query(topic: &str, version: i32) -> RemotingCommand {
    let header = GetRouteInfoRequestHeader { topic: topic.to_owned(), accept_standard_json_only: false };
    let mut request = RemotingCommand::request_with(request_code::GET_ROUTEINFO_BY_TOPIC, &header);
    request.version = version;
    request
}

async fn text(client: &RemotingClient, addr: &str, request: RemotingCommand) -> String {
    let answer = client.call(addr, request, LONG).await.unwrap();
    assert_eq!(answer.code, response_code::SUCCESS, "{:?}", answer.remark);
    String::from_utf8(answer.body.to_bytes().to_vec()).unwrap()
}

#[tokio::test]
async fn routes_have_the_shape_that_the_version_expects() {
    let (_server, addr) = start(NamesrvSettings::default(), &Arc::default()).await;
    let client = client();
    let unknown = client.call(&addr, route_query("T", 479), LONG).await.unwrap();
    assert_eq!(unknown.code, response_code::TOPIC_NOT_EXIST);
    assert!(unknown.remark.unwrap().starts_with("No topic route info in name server for the topic: T\nSee "));
    client.call(&addr, registration(header()), LONG).await.unwrap();
    let bare = r#"{"brokerDatas":[{"brokerAddrs":{0:"1.2.3.4:10911"},"brokerName":"b","cluster":"C","enableActingMaster":false}],"filterServerTable":{},"queueDatas":[{"brokerName":"b","perm":6,"readQueueNums":8,"topicSysFlag":0,"writeQueueNums":8}]}"#;
    let quoted = bare.replace("{0:", "{\"0\":");
    assert_eq!(text(&client, &addr, route_query("T", 400)).await, bare);
    assert_eq!(text(&client, &addr, route_query("标签/1", 401)).await, quoted);
    let standard = route_query("T", 121).with_field("acceptStandardJsonOnly", "true");
    assert_eq!(text(&client, &addr, standard).await, quoted);
    let cluster = text(&client, &addr, RemotingCommand::request(request_code::GET_BROKER_CLUSTER_INFO)).await;
    assert_eq!(
        cluster,
        r#"{"brokerAddrTable":{"b":{"brokerAddrs":{0:"1.2.3.4:10911"},"brokerName":"b","cluster":"C","enableActingMaster":false}},"clusterAddrTable":{"C":["b"]}}"#
    );
}

#[tokio::test]
async fn damaged_and_compressed_registrations_are_refused() {
    let (server, addr) = start(NamesrvSettings::default(), &Arc::default()).await;
    let client = client();
    let damaged = registration(RegisterBrokerRequestHeader { body_crc32: 7, ..header() });
    let compressed = registration(RegisterBrokerRequestHeader { compressed: true, ..header() });
    let nameless = RemotingCommand::request(request_code::REGISTER_BROKER);
    let broken =
        RemotingCommand::request_with(request_code::REGISTER_BROKER, &header()).with_body(b"{".to_vec());
    let expected = [
        (damaged, "crc32 not match"),
        (compressed, "compressed registrations are not supported, register with compressed=false"),
        (nameless, "RegisterBrokerRequestHeader: the field brokerName is missing"),
        (broken, "body: JSON text at byte 1: expected a key, found the end of the text"),
    ];
    for (request, remark) in expected {
        let answer = client.call(&addr, request, LONG).await.unwrap();
        assert_eq!((answer.code, answer.remark.as_deref()), (response_code::SYSTEM_ERROR, Some(remark)));
    }
    assert!(server.routes().all_topics().topic_list.is_empty());
}

#[tokio::test]
async fn old_brokers_register_with_the_bare_table() {
    let (server, addr) = start(NamesrvSettings::default(), &Arc::default()).await;
    let body = br#"{"dataVersion":{"counter":1,"timestamp":2},"topicConfigTable":{"A":{"topicName":"A"},"B":{"topicName":"B"}}}"#;
    let mut request =
        RemotingCommand::request_with(request_code::REGISTER_BROKER, &header()).with_body(body.to_vec());
    request.version = 36;
    let answer = client().call(&addr, request, LONG).await.unwrap();
    assert_eq!(answer.code, response_code::SUCCESS);
    assert_eq!(server.routes().data_version("C", "1.2.3.4:10911").unwrap().counter, 1);
}

#[tokio::test]
async fn the_end_of_the_connection_is_the_end_of_the_registration() {
    let (server, addr) = start(NamesrvSettings::default(), &Arc::default()).await;
    let broker = client();
    broker.call(&addr, registration(header()), LONG).await.unwrap();
    let other = client();
    assert_eq!(other.call(&addr, route_query("T", 479), LONG).await.unwrap().code, response_code::SUCCESS);
    broker.disconnect(&addr).await;
    let gone = async {
        while other.call(&addr, route_query("T", 479), LONG).await.unwrap().code == response_code::SUCCESS {}
    };
    tokio::time::timeout(LONG, gone).await.unwrap();
    assert!(server.routes().all_topics().topic_list.is_empty());
}

#[tokio::test]
async fn brokers_that_fall_silent_are_disconnected() {
    let now = Arc::new(AtomicI64::new(1_000));
    let settings =
        NamesrvSettings { scan_not_active_broker_interval: Duration::from_millis(5), ..Default::default() };
    let (server, addr) = start(settings, &now).await;
    let broker = client();
    broker.call(&addr, registration(header()), LONG).await.unwrap();
    let channel = broker.connected(&addr).await.unwrap();
    now.store(1_000 + 120_001, Ordering::SeqCst);
    // The name server closes the connection; a call that it never answers ends with that.
    let silence = RemotingCommand::request(request_code::GET_BROKER_CLUSTER_INFO).oneway();
    let ended = channel.call(silence, LONG).await;
    assert!(ended.unwrap_err().to_string().contains("closed while waiting"), "the connection was closed");
    assert!(server.routes().all_topics().topic_list.is_empty());
}

#[tokio::test]
async fn replicas_and_tools_get_their_answers() {
    let (_server, addr) = start(NamesrvSettings::default(), &Arc::default()).await;
    let client = client();
    let first = client.call(&addr, registration(header()), LONG).await.unwrap();
    assert_eq!(first.decode_body::<KvTable>().unwrap(), KvTable::default());
    let put = PutKvConfigRequestHeader {
        namespace: ORDER_TOPIC_CONFIG.to_owned(),
        key: "T".to_owned(),
        value: "b:8".to_owned(),
    };
    text(&client, &addr, RemotingCommand::request_with(request_code::PUT_KV_CONFIG, &put)).await;
    let replica =
        RegisterBrokerRequestHeader { broker_id: 1, broker_addr: "5.6.7.8:10911".to_owned(), ..header() };
    let answer = client.call(&addr, registration(replica), LONG).await.unwrap();
    let learned: RegisterBrokerResponseHeader = answer.decode_header().unwrap();
    assert_eq!(learned.master_addr.as_deref(), Some("1.2.3.4:10911"));
    assert_eq!(learned.ha_server_addr.as_deref(), Some("1.2.3.4:10912"));
    assert_eq!(answer.decode_body::<KvTable>().unwrap().table["T"], "b:8");
    let key = KvConfigRequestHeader { namespace: ORDER_TOPIC_CONFIG.to_owned(), key: "T".to_owned() };
    let get = || RemotingCommand::request_with(request_code::GET_KV_CONFIG, &key);
    let value: GetKvConfigResponseHeader =
        client.call(&addr, get(), LONG).await.unwrap().decode_header().unwrap();
    assert_eq!(value.value.as_deref(), Some("b:8"));
    text(&client, &addr, RemotingCommand::request_with(request_code::DELETE_KV_CONFIG, &key)).await;
    let missing = client.call(&addr, get(), LONG).await.unwrap();
    assert_eq!(missing.code, response_code::QUERY_NOT_FOUND);
    assert_eq!(missing.remark.as_deref(), Some("No config item, Namespace: ORDER_TOPIC_CONFIG Key: T"));
    let members = RemotingCommand::request(request_code::GET_BROKER_MEMBER_GROUP)
        .with_field("clusterName", "C")
        .with_field("brokerName", "b");
    assert_eq!(
        text(&client, &addr, members).await,
        r#"{"brokerMemberGroup":{"brokerAddrs":{0:"1.2.3.4:10911",1:"5.6.7.8:10911"},"brokerName":"b","cluster":"C"}}"#
    );
    let unsupported = client.call(&addr, RemotingCommand::request(34), LONG).await.unwrap();
    assert_eq!(unsupported.remark.as_deref(), Some(" request type 34 not supported"));
}

#[tokio::test]
async fn data_versions_are_compared_and_brokers_taken_off() {
    let (_server, addr) = start(NamesrvSettings::default(), &Arc::default()).await;
    let client = client();
    let query = |counter: i64| {
        let header = QueryDataVersionRequestHeader {
            broker_name: "b".to_owned(),
            broker_addr: "1.2.3.4:10911".to_owned(),
            cluster_name: "C".to_owned(),
            broker_id: 0,
        };
        let version = DataVersion { counter, ..Default::default() };
        RemotingCommand::request_with(request_code::QUERY_DATA_VERSION, &header)
            .with_json_body(&version)
            .unwrap()
    };
    let changed = async |counter: i64| {
        let answer = client.call(&addr, query(counter), LONG).await.unwrap();
        let header: QueryDataVersionResponseHeader = answer.decode_header().unwrap();
        (header.changed, answer.decode_body::<DataVersion>().ok())
    };
    assert_eq!(changed(0).await, (true, None));
    client.call(&addr, registration(header()), LONG).await.unwrap();
    assert_eq!(changed(0).await, (false, Some(DataVersion::default())));
    assert_eq!(changed(1).await, (true, Some(DataVersion::default())));
    let delete = DeleteTopicFromNamesrvRequestHeader { topic: "T".to_owned(), cluster_name: None };
    text(&client, &addr, RemotingCommand::request_with(request_code::DELETE_TOPIC_IN_NAMESRV, &delete)).await;
    let list = RemotingCommand::request(request_code::GET_ALL_TOPIC_LIST_FROM_NAMESERVER);
    let topics: TopicList = client.call(&addr, list.clone(), LONG).await.unwrap().decode_body().unwrap();
    assert_eq!(topics.topic_list, ["标签/1"]);
    let unregister = UnregisterBrokerRequestHeader {
        broker_name: "b".to_owned(),
        broker_addr: "1.2.3.4:10911".to_owned(),
        cluster_name: "C".to_owned(),
        broker_id: 0,
    };
    text(&client, &addr, RemotingCommand::request_with(request_code::UNREGISTER_BROKER, &unregister)).await;
    assert_eq!(text(&client, &addr, list).await, r#"{"topicList":[]}"#);
}

#[tokio::test]
async fn settings_are_shown_and_harmless_ones_changed() {
    let now = Arc::new(AtomicI64::new(0));
    let settings = NamesrvSettings { need_wait_for_service: true, ..Default::default() };
    let (server, addr) = start(settings, &now).await;
    let client = client();
    client.call(&addr, registration(header()), LONG).await.unwrap();
    server.kv_config().put(ORDER_TOPIC_CONFIG, "T", "b:8").unwrap();
    let waiting = client.call(&addr, route_query("T", 479), LONG).await.unwrap();
    assert_eq!((waiting.code, waiting.remark.as_deref()), (1, Some("name server not ready")));
    now.store(45_000, Ordering::SeqCst);
    assert!(!text(&client, &addr, route_query("T", 479)).await.contains("orderTopicConf"));
    let update =
        |text: &str| RemotingCommand::request(request_code::UPDATE_NAMESRV_CONFIG).with_body(text.to_owned());
    text(&client, &addr, update("orderMessageEnable=true\nenableTopicList=false")).await;
    assert!(text(&client, &addr, route_query("T", 479)).await.contains(r#""orderTopicConf":"b:8""#));
    let shown = text(&client, &addr, RemotingCommand::request(request_code::GET_NAMESRV_CONFIG)).await;
    assert!(shown.contains("\nenableTopicList=false\n") && shown.contains("\norderMessageEnable=true\n"));
    let disabled =
        client.call(&addr, RemotingCommand::request(request_code::GET_UNIT_TOPIC_LIST), LONG).await;
    assert_eq!(disabled.unwrap().remark.as_deref(), Some("disable"));
    let refused = client.call(&addr, update("kvConfigPath=/x"), LONG).await.unwrap();
    assert_eq!(refused.code, response_code::NO_PERMISSION);
    assert_eq!(refused.remark.as_deref(), Some("Can not update config in black list."));
}
