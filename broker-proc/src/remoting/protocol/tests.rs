use store_core::java_json::{WriteOptions, from_slice, to_vec};

use super::*;

fn text<T: serde::Serialize>(value: &T) -> String {
    String::from_utf8(to_vec(value).unwrap()).unwrap()
}

#[test]
fn heartbeats_of_all_clients_read_alike() {
    let java = r#"{"clientID":"c","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_FIRST_OFFSET","consumeType":"CONSUME_PASSIVELY","groupName":"g","messageModel":"CLUSTERING","subscriptionDataSet":[{"classFilterMode":false,"codeSet":[2598919],"expressionType":"TAG","subString":"TagA","subVersion":17,"tagsSet":["TagA"],"topic":"T"}],"unitMode":false}],"heartbeatFingerprint":0,"producerDataSet":[{"groupName":"p"}],"withoutSub":false}"#;
    let cpp = r#"{"clientID":"c","consumerDataSet":[{"consumeFromWhere":4,"consumeType":1,"groupName":"g","messageModel":1,"subscriptionDataSet":[{"codeSet":[2598919],"subString":"TagA","subVersion":"17","tagsSet":["TagA"],"topic":"T"}],"unitMode":false}],"producerDataSet":[{"groupName":"p"}]}"#;
    let go = r#"{"clientID":"c","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_FIRST_OFFSET","consumeType":"CONSUME_PASSIVELY","groupName":"g","messageModel":"CLUSTERING","subscriptionDataSet":[{"classFilterMode":false,"codeSet":["2598919"],"expressionType":"TAG","subString":"TagA","subVersion":17,"tagsSet":["TagA"],"topic":"T"}],"unitMode":false}],"producerDataSet":[{"groupName":"p"}]}"#;
    let expected: HeartbeatData = from_slice(java.as_bytes()).unwrap();
    assert_eq!(expected.consumer_data_set[0].consume_from_where, ConsumeFromWhere::ConsumeFromFirstOffset);
    assert_eq!(expected.consumer_data_set[0].subscription_data_set[0].sub_version, 17);
    for other in [cpp, go] {
        assert_eq!(from_slice::<HeartbeatData>(other.as_bytes()).unwrap(), expected);
    }
    assert_eq!(text(&expected), java);
    let odd = r#"{"clientID":"c","consumerDataSet":[{"groupName":"g","messageModel":"Clustering","consumeFromWhere":"UNKNOWN"}]}"#;
    let odd: HeartbeatData = from_slice(odd.as_bytes()).unwrap();
    assert_eq!(odd.consumer_data_set[0].message_model, MessageModel::Unknown);
    assert_eq!(odd.consumer_data_set[0].consume_from_where, ConsumeFromWhere::Unknown);
    assert!(from_slice::<HeartbeatData>(b"").is_err());
}

#[test]
fn field_F105_routes_are_written_in_both_flavours() {
    let bare = r#"{"brokerDatas":[{"brokerAddrs":{0:"1.2.3.4:10911",1:"5.6.7.8:10911"},"brokerName":"b","cluster":"C","enableActingMaster":false}],"filterServerTable":{},"queueDatas":[{"brokerName":"b","perm":6,"readQueueNums":8,"topicSysFlag":0,"writeQueueNums":8}]}"#;
    let route: TopicRouteData = from_slice(bare.as_bytes()).unwrap();
    assert_eq!(route.broker_datas[0].broker_addrs[&1], "5.6.7.8:10911");
    assert_eq!(WriteOptions::BARE_KEYS.to_text(&route).unwrap(), bare);
    let quoted = bare.replace("{0:", "{\"0\":").replace(",1:", ",\"1\":");
    assert_eq!(WriteOptions::BROWSER_COMPATIBLE.to_text(&route).unwrap(), quoted);
    assert_eq!(from_slice::<TopicRouteData>(quoted.as_bytes()).unwrap(), route);
}

#[test]
fn defaults_are_those_of_the_beans() {
    let topic: TopicConfig = from_slice(br#"{"topicName":"T","attributes":null}"#).unwrap();
    assert_eq!(
        text(&topic),
        r#"{"attributes":{},"order":false,"perm":6,"readQueueNums":16,"topicFilterType":"SINGLE_TAG","topicName":"T","topicSysFlag":0,"writeQueueNums":16}"#
    );
    let group: SubscriptionGroupConfig = from_slice(br#"{"groupName":"group_a"}"#).unwrap();
    assert_eq!(
        text(&group),
        r#"{"attributes":{},"brokerId":0,"consumeBroadcastEnable":true,"consumeEnable":true,"consumeFromMinEnable":true,"consumeMessageOrderly":false,"consumeTimeoutMinute":15,"groupName":"group_a","groupRetryPolicy":{"type":"CUSTOMIZED"},"groupSysFlag":0,"notifyConsumerIdsChangedEnable":true,"retryMaxTimes":16,"retryQueueNums":1,"whichBrokerWhenConsumeSlowly":1}"#
    );
}

#[test]
fn versions_order_by_state_counter_and_time() {
    let version = |state_version, counter, timestamp| DataVersion { state_version, counter, timestamp };
    assert!(version(1, 0, 0) > version(0, 9, 9));
    assert!(version(0, 2, 0) > version(0, 1, 9));
    assert!(version(0, 1, 1) > version(0, 1, 0));
    assert_eq!(version(3, 4, 5).next(9), version(3, 5, 9));
    assert_eq!(text(&version(0, 3, 17)), r#"{"counter":3,"stateVersion":0,"timestamp":17}"#);
}

#[test]
fn tables_keyed_by_queues_have_object_keys() {
    let body = r#"{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"t"}:{"lastUpdateTimestamp":7,"maxOffset":3,"minOffset":0}},"topicPutTps":0.5}"#;
    let table: TopicStatsTable = from_slice(body.as_bytes()).unwrap();
    assert_eq!(table.offset_table.keys().next().unwrap().to_string(), "t@b:0");
    assert_eq!(text(&table), body);
}
