//! The broker's own figures and settings, and codes nobody serves.

use crate::in_process::{RawClient, TestBroker, requests};
use broker_proc::remoting::headers::GetBrokerConfigResponseHeader;
use broker_proc::remoting::protocol::{ConsumerOffsetSerializeWrapper, DataVersion, KvTable};
use broker_proc::remoting::{RemotingCommand, request_code, response_code};
use std::collections::BTreeSet;

#[tokio::test]
async fn figures_of_a_running_broker() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    for _ in 0..3 {
        client.send("Figures", 0, "x", "").await;
    }
    client.until_dispatched("Figures", 0, 3).await;
    let answer = client.ok(RemotingCommand::request(request_code::GET_BROKER_RUNTIME_INFO)).await;
    let KvTable { table } = answer.decode_body().unwrap();
    assert_eq!(table["brokerActive"], "true");
    assert!(table["brokerVersionDesc"].starts_with("StrataMQ_"), "{}", table["brokerVersionDesc"]);
    assert_eq!(table["putMessageTimesTotal"], "3");
    assert_eq!(table["dispatchBehindBytes"], "0");
    for key in [
        "commitLogMaxOffset",
        "earliestMessageTimeStamp",
        "sendThreadPoolQueueSize",
        "pageCacheLockTimeMills",
    ] {
        assert!(table[key].parse::<i64>().is_ok(), "{key}={}", table[key]);
    }
    assert!(table["commitLogDiskRatio"].parse::<f64>().is_ok());
    let puts = table["putTps"].split(' ').map(str::parse::<f64>);
    assert!(puts.clone().all(|rate| rate.is_ok()) && puts.count() == 3, "{}", table["putTps"]);
    broker.stop().await;
}

/// Keys of the tables of `docs/RUNTIME_FIGURES.md`.
fn documented_keys(log_directory: &str) -> BTreeSet<String> {
    let text = include_str!("../../../docs/RUNTIME_FIGURES.md");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    let columns = rows.filter_map(|row| row.split(" |").next());
    let names = columns.flat_map(|column| column.split('`').step_by(2).filter(|name| !name.is_empty()));
    names.map(|name| name.replace("{path}", log_directory)).collect()
}

#[tokio::test]
async fn field_F101_every_documented_figure_is_there_and_no_other() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let answer = client.ok(RemotingCommand::request(request_code::GET_BROKER_RUNTIME_INFO)).await;
    let KvTable { table } = answer.decode_body().unwrap();
    let prefix = "commitLogDiskRatio_";
    let directory = table.keys().find_map(|key| key.strip_prefix(prefix)).unwrap().to_owned();
    let keys: BTreeSet<String> = table.keys().cloned().collect();
    let documented = documented_keys(&directory);
    assert!(documented.len() > 60, "{documented:?}");
    assert_eq!(keys, documented);
    assert_eq!(table["earliestMessageTimeStamp"], "-1", "of an empty store");
    let negative = |value: &String| value.starts_with('-');
    let below_zero: Vec<_> = table.iter().filter(|(_, value)| negative(value)).collect();
    assert_eq!(below_zero.len(), 1, "{below_zero:?}");
    for (key, value) in [("commitLogMaxOffset", "0"), ("dispatchBehindBytes", "0"), ("storeWriteRefusal", "")]
    {
        assert_eq!(table[key], value, "{key}");
    }
    broker.stop().await;
}

#[tokio::test]
async fn settings_in_effect() {
    let broker = TestBroker::with("traceOn=false\n").await;
    let answer = broker.client().ok(RemotingCommand::request(request_code::GET_BROKER_CONFIG)).await;
    let fields: GetBrokerConfigResponseHeader = answer.decode_header().unwrap();
    let version: DataVersion = store_core::java_json::from_slice(fields.version.as_bytes()).unwrap();
    assert_eq!(version, broker.context().topics.data_version());
    let text = String::from_utf8(answer.body.to_bytes().to_vec()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.is_sorted());
    let listen_port = format!("listenPort={}", broker.broker().address().port());
    for line in
        ["brokerName=test-broker", "traceOn=false", "mappedFileSizeCommitLog=1048576", listen_port.as_str()]
    {
        assert!(lines.contains(&line), "{line} in {text}");
    }
    broker.stop().await;
}

#[tokio::test]
async fn the_table_of_offsets() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.ok(requests::create_topic("Table", 1)).await;
    client.ok(requests::heartbeat("c1", &[], vec![requests::consumer("group", vec![])])).await;
    client.ok(requests::commit("group", "Table", 0, 4)).await;
    let answer = client.ok(RemotingCommand::request(request_code::GET_ALL_CONSUMER_OFFSET)).await;
    let table: ConsumerOffsetSerializeWrapper = answer.decode_body().unwrap();
    assert_eq!(table.offset_table["Table@group"][&0], 4);
    broker.stop().await;
}

/// A recovery may bring back the queues of a deleted topic, whose records are still in the log.
#[tokio::test]
async fn field_F44_queues_of_topics_that_are_not_configured_are_cleaned() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.send("Configured", 0, "x", "").await;
    client.until_dispatched("Configured", 0, 1).await;
    let store = &broker.context().store;
    let message = store_core::Message {
        topic: "Deleted",
        queue_id: 0,
        flag: 0,
        sys_flag: 0,
        born_timestamp: 0,
        born_host: ([127, 0, 0, 1], 1).into(),
        store_host: ([127, 0, 0, 1], 2).into(),
        reconsume_times: 0,
        prepared_transaction_offset: 0,
        body: b"x",
        properties: "",
    };
    for topic in ["Deleted", "%LMQ%light", "rmq_sys_something"] {
        assert!(store.put(&store_core::Message { topic, ..message }).wait().is_stored());
        client.until_dispatched(topic, 0, 1).await;
    }
    client.ok(RemotingCommand::request(request_code::CLEAN_EXPIRED_CONSUMEQUEUE)).await;
    client.ok(RemotingCommand::request(request_code::DELETE_EXPIRED_COMMITLOG)).await;
    assert_eq!(store.offsets("Deleted", 0).max, 1);
    client.ok(RemotingCommand::request(request_code::CLEAN_UNUSED_TOPIC)).await;
    let left =
        ["Deleted", "Configured", "%LMQ%light", "rmq_sys_something"].map(|topic| store.offsets(topic, 0).max);
    assert_eq!(left, [0, 1, 1, 1]);
    assert!(!store.topics().contains(&"Deleted".to_owned()));
    broker.stop().await;
}

#[tokio::test]
async fn codes_that_nobody_serves() {
    let broker = TestBroker::start().await;
    let mut client = RawClient::connect(&broker.address()).await;
    for (opaque, code) in (1..).zip([4711, 0, -1, i32::MAX, request_code::GET_ROUTEINFO_BY_TOPIC]) {
        client.send(opaque, RemotingCommand::request(code).oneway()).await;
        client.send(opaque, RemotingCommand::request(code)).await;
        let answer = client.receive().await.unwrap();
        assert_eq!((answer.opaque, answer.code), (opaque, response_code::REQUEST_CODE_NOT_SUPPORTED));
        assert_eq!(answer.remark, Some(format!(" request type {code} not supported")));
    }
    client.send(99, requests::queue(request_code::GET_MAX_OFFSET, "T", 0)).await;
    assert_eq!(client.receive().await.unwrap().opaque, 99, "the requests that want no answer got none");
    broker.stop().await;
}
