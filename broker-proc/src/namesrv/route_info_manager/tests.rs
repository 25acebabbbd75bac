use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::{
    BrokerRegistration, RegisterBrokerResult, RegistrationError, RouteInfoManager, UnregisterReason,
};
use crate::remoting::Channel;
use crate::remoting::headers::{RegisterBrokerRequestHeader, UnregisterBrokerRequestHeader};
use crate::remoting::protocol::{
    DataVersion, QueueData, RegisterBrokerBody, TopicConfig, TopicConfigAndMappingSerializeWrapper,
    TopicQueueMappingInfo,
};

const TIMEOUT: i64 = 120_000;

fn routes() -> RouteInfoManager {
    RouteInfoManager::new(Duration::from_millis(120_000))
}

fn channel() -> Arc<Channel> {
    Arc::new(Channel::detached("127.0.0.1:5".parse().unwrap()))
}

/// A broker `b` of cluster `C` with two topics, all else to be changed by the test.
fn registration(id: i64, addr: &str, counter: i64) -> BrokerRegistration {
    let topics = ["T", "U"].map(|name| TopicConfig {
        topic_name: name.to_owned(),
        read_queue_nums: 8,
        write_queue_nums: 4,
        ..TopicConfig::default()
    });
    BrokerRegistration {
        header: RegisterBrokerRequestHeader {
            broker_name: "b".to_owned(),
            broker_addr: addr.to_owned(),
            cluster_name: "C".to_owned(),
            ha_server_addr: format!("{addr}2"),
            broker_id: id,
            ..Default::default()
        },
        body: RegisterBrokerBody {
            topic_config_serialize_wrapper: TopicConfigAndMappingSerializeWrapper {
                data_version: DataVersion { counter, ..Default::default() },
                topic_config_table: topics.map(|topic| (topic.topic_name.clone(), topic)).into(),
                ..Default::default()
            },
            filter_server_list: Vec::new(),
        },
        channel: None,
    }
}

fn topics(registration: &mut BrokerRegistration) -> &mut BTreeMap<String, TopicConfig> {
    &mut registration.body.topic_config_serialize_wrapper.topic_config_table
}

fn register(routes: &RouteInfoManager, registration: BrokerRegistration, now: i64) -> RegisterBrokerResult {
    routes.register(registration, false, now).unwrap()
}

fn unregister(addr: &str) -> UnregisterBrokerRequestHeader {
    UnregisterBrokerRequestHeader {
        broker_name: "b".to_owned(),
        broker_addr: addr.to_owned(),
        cluster_name: "C".to_owned(),
        broker_id: 0,
    }
}

fn addrs(routes: &RouteInfoManager) -> Vec<(i64, String)> {
    routes.member_group("C", "b").broker_addrs.into_iter().collect()
}

fn perm(routes: &RouteInfoManager, topic: &str) -> i32 {
    routes.route_of(topic).unwrap().queue_datas[0].perm
}

#[test]
fn a_registered_topic_has_a_route() {
    let routes = routes();
    assert_eq!(routes.route_of("T"), None);
    register(&routes, registration(0, "m:1", 1), 0);
    let route = routes.route_of("T").unwrap();
    let expected = QueueData {
        broker_name: "b".to_owned(),
        read_queue_nums: 8,
        write_queue_nums: 4,
        perm: 6,
        topic_sys_flag: 0,
    };
    assert_eq!(route.queue_datas, [expected]);
    assert_eq!(route.broker_datas[0].broker_addrs, BTreeMap::from([(0, "m:1".to_owned())]));
    assert_eq!((route.order_topic_conf, route.topic_queue_mapping_by_broker), (None, None));
    assert_eq!(routes.all_topics().topic_list, ["T", "U"]);
}

#[test]
fn a_replica_learns_of_its_master_while_that_is_alive() {
    let routes = routes();
    let nothing = RegisterBrokerResult::default();
    assert_eq!(register(&routes, registration(1, "s:1", 1), 0), nothing);
    assert_eq!(routes.route_of("T"), None, "topics of a replica do not count");
    assert_eq!(register(&routes, registration(0, "m:1", 1), 0), nothing);
    let result = register(&routes, registration(1, "s:1", 1), 0);
    assert_eq!(
        (result.master_addr.as_deref(), result.ha_server_addr.as_deref()),
        (Some("m:1"), Some("m:12"))
    );
    routes.unregister(&unregister("m:1"), UnregisterReason::Asked);
    assert_eq!(register(&routes, registration(1, "s:1", 1), 0), nothing);
    assert!(routes.route_of("T").is_some(), "the name still has an address");
}

#[test]
fn an_address_has_one_broker_id() {
    let routes = routes();
    register(&routes, registration(1, "x:1", 1), 0);
    register(&routes, registration(0, "x:1", 1), 0);
    assert_eq!(addrs(&routes), [(0, "x:1".to_owned())]);
}

#[test]
fn a_greater_state_version_keeps_its_broker_id() {
    let routes = routes();
    let mut newer = registration(0, "m:1", 1);
    newer.body.topic_config_serialize_wrapper.data_version.state_version = 5;
    register(&routes, newer, 0);
    let mut older = registration(0, "old:1", 9);
    older.body.topic_config_serialize_wrapper.data_version.state_version = 4;
    assert_eq!(register(&routes, older.clone(), 0), RegisterBrokerResult::default());
    assert_eq!(addrs(&routes), [(0, "m:1".to_owned())]);
    assert_eq!(routes.data_version("C", "old:1"), None);
    // The same state version takes over.
    older.body.topic_config_serialize_wrapper.data_version.state_version = 5;
    register(&routes, older, 0);
    assert_eq!(addrs(&routes), [(0, "old:1".to_owned())]);
}

#[test]
fn field_F108_a_single_topic_cannot_be_the_first_registration() {
    let routes = routes();
    let mut single = registration(0, "m:1", 1);
    topics(&mut single).remove("U");
    let error = routes.register(single.clone(), false, 0).unwrap_err();
    assert_eq!(error, RegistrationError::SingleTopic("m:1".to_owned()));
    assert!(error.to_string().starts_with("register broker failed"));
    assert_eq!(routes.cluster_info(), Default::default(), "nothing is left behind");
    register(&routes, registration(0, "m:1", 1), 0);
    register(&routes, single, 0);
    assert_eq!(routes.all_topics().topic_list, ["T", "U"], "later it is a change of one topic");
}

#[test]
fn changes_without_a_new_version_are_not_seen_but_new_topics_are() {
    let routes = routes();
    register(&routes, registration(0, "m:1", 1), 0);
    let mut changed = registration(0, "m:1", 1);
    topics(&mut changed).get_mut("T").unwrap().perm = 4;
    topics(&mut changed).insert("N".to_owned(), TopicConfig::default());
    register(&routes, changed.clone(), 0);
    assert_eq!(perm(&routes, "T"), 6);
    assert!(routes.route_of("N").is_some());
    changed.body.topic_config_serialize_wrapper.data_version.counter = 2;
    register(&routes, changed, 0);
    assert_eq!(perm(&routes, "T"), 4);
}

#[test]
fn absent_topics_stay_unless_told_otherwise() {
    let routes = routes();
    register(&routes, registration(0, "m:1", 1), 0);
    let mut fewer = registration(0, "m:1", 2);
    topics(&mut fewer).remove("U");
    topics(&mut fewer).insert("V".to_owned(), TopicConfig::default());
    register(&routes, fewer.clone(), 0);
    assert_eq!(routes.all_topics().topic_list, ["T", "U", "V"]);
    routes.register(fewer, true, 0).unwrap();
    assert_eq!(routes.all_topics().topic_list, ["T", "V"]);
}

#[test]
fn the_last_address_takes_the_topics_with_it() {
    let routes = routes();
    register(&routes, registration(0, "m:1", 1), 0);
    register(&routes, registration(1, "s:1", 1), 0);
    routes.unregister(&unregister("m:1"), UnregisterReason::Asked);
    assert_eq!(addrs(&routes), [(1, "s:1".to_owned())]);
    assert!(routes.route_of("T").is_some());
    routes.unregister(&unregister("other:1"), UnregisterReason::Asked);
    routes.unregister(&unregister("s:1"), UnregisterReason::Asked);
    assert_eq!(routes.route_of("T"), None);
    assert_eq!(routes.cluster_info(), Default::default());
    assert!(routes.all_topics().topic_list.is_empty());
}

#[test]
fn a_standing_in_replica_makes_topics_read_only() {
    let routes = routes();
    let acting = |mut registration: BrokerRegistration| {
        registration.header.enable_acting_master = Some(true);
        registration
    };
    register(&routes, acting(registration(0, "m:1", 1)), 0);
    register(&routes, acting(registration(1, "s:1", 1)), 0);
    assert_eq!(perm(&routes, "T"), 6);
    routes.unregister(&unregister("m:1"), UnregisterReason::Asked);
    assert_eq!(perm(&routes, "T"), 4);
    register(&routes, acting(registration(1, "s:1", 2)), 0);
    assert_eq!(perm(&routes, "T"), 4);
    register(&routes, acting(registration(0, "m:1", 3)), 0);
    assert_eq!(perm(&routes, "T"), 6);
}

#[test]
fn field_F108_a_lost_connection_takes_its_broker_off_but_no_younger_registration() {
    let routes = routes();
    let (old, young) = (channel(), channel());
    let over = |channel: &Arc<Channel>| {
        let mut registration = registration(0, "m:1", 1);
        registration.channel = Some(Arc::clone(channel));
        registration
    };
    register(&routes, over(&old), 0);
    register(&routes, over(&young), 0);
    routes.connection_closed(old.id());
    assert!(routes.route_of("T").is_some(), "it has registered again since");
    routes.connection_closed(young.id());
    assert_eq!(routes.route_of("T"), None);
    register(&routes, registration(0, "m:1", 1), 0);
    routes.connection_closed(young.id());
    assert!(routes.route_of("T").is_some(), "a broker in this process has no connection");
}

#[test]
fn registrations_run_out_and_are_renewed() {
    let routes = routes();
    let connection = channel();
    let mut with_connection = registration(0, "m:1", 1);
    with_connection.channel = Some(Arc::clone(&connection));
    register(&routes, with_connection, 1_000);
    let mut short = registration(1, "s:1", 1);
    short.header.heartbeat_timeout_millis = Some(10);
    register(&routes, short, 1_000);
    assert_eq!(routes.scan(1_010), Vec::<String>::new());
    assert_eq!(routes.scan(1_011), ["s:1"]);
    routes.renew("C", "m:1", 2_000);
    routes.renew("C", "none:1", 2_000);
    assert_eq!(routes.scan(2_000 + TIMEOUT), Vec::<String>::new());
    assert!(!connection.is_closed());
    assert_eq!(routes.scan(2_001 + TIMEOUT), ["m:1"]);
    assert!(connection.is_closed());
    assert_eq!(routes.route_of("T"), None);
}

#[test]
fn a_registration_after_an_expired_one_counts_as_first() {
    let routes = routes();
    register(&routes, registration(0, "m:1", 7), 0);
    assert_eq!(routes.scan(TIMEOUT + 1), ["m:1"]);
    register(&routes, registration(0, "m:1", 7), TIMEOUT + 2);
    assert!(routes.route_of("T").is_some(), "the full table is taken although the version is the same");
}

#[test]
fn write_permission_is_wiped_until_the_next_change() {
    let routes = routes();
    register(&routes, registration(0, "m:1", 1), 0);
    assert_eq!(routes.wipe_write_perm("none"), 0);
    assert_eq!(routes.wipe_write_perm("b"), 2);
    assert_eq!(perm(&routes, "T"), 4);
    register(&routes, registration(0, "m:1", 1), 0);
    assert_eq!(perm(&routes, "T"), 4);
    assert_eq!(routes.add_write_perm("b"), 2);
    assert_eq!(perm(&routes, "T"), 6);
    routes.wipe_write_perm("b");
    register(&routes, registration(0, "m:1", 2), 0);
    assert_eq!(perm(&routes, "T"), 6);
}

#[test]
fn topics_are_listed_and_deleted_by_cluster() {
    let routes = routes();
    register(&routes, registration(0, "m:1", 1), 0);
    let mut other = registration(0, "o:1", 1);
    other.header.broker_name = "o".to_owned();
    other.header.cluster_name = "D".to_owned();
    topics(&mut other).insert("V".to_owned(), TopicConfig { topic_sys_flag: 1, ..Default::default() });
    topics(&mut other).insert("W".to_owned(), TopicConfig { topic_sys_flag: 2, ..Default::default() });
    topics(&mut other).insert("X".to_owned(), TopicConfig { topic_sys_flag: 3, ..Default::default() });
    register(&routes, other, 0);
    assert_eq!(routes.topics_of_cluster("C").topic_list, ["T", "U"]);
    assert_eq!(routes.topics_of_cluster("D").topic_list, ["T", "U", "V", "W", "X"]);
    assert!(routes.topics_of_cluster("E").topic_list.is_empty());
    assert_eq!(routes.unit_topics().topic_list, ["V", "X"]);
    assert_eq!(routes.unit_sub_topics().topic_list, ["W", "X"]);
    assert_eq!(routes.unit_sub_ununit_topics().topic_list, ["W"]);
    let system = routes.system_topics();
    assert_eq!(system.topic_list, ["C", "b", "D", "o"]);
    assert_eq!(system.broker_addr.as_deref(), Some("m:1"));
    assert_eq!(routes.route_of("T").unwrap().broker_datas.len(), 2);
    routes.delete_topic("T", Some("D"));
    assert_eq!(routes.route_of("T").unwrap().broker_datas[0].broker_name, "b");
    routes.delete_topic("T", Some("E"));
    routes.delete_topic("T", Some(""));
    assert_eq!(routes.route_of("T"), None);
}

#[test]
fn static_topics_and_filter_servers_are_part_of_the_route() {
    let routes = routes();
    let mut with_mapping = registration(0, "m:1", 1);
    let mapping =
        TopicQueueMappingInfo { bname: Some("b".to_owned()), total_queues: 2, ..Default::default() };
    with_mapping
        .body
        .topic_config_serialize_wrapper
        .topic_queue_mapping_info_map
        .insert("T".to_owned(), mapping.clone());
    with_mapping.body.filter_server_list = vec!["f:1".to_owned()];
    register(&routes, with_mapping.clone(), 0);
    let route = routes.route_of("T").unwrap();
    assert_eq!(route.topic_queue_mapping_by_broker, Some(BTreeMap::from([("b".to_owned(), mapping)])));
    assert_eq!(route.filter_server_table, BTreeMap::from([("m:1".to_owned(), vec!["f:1".to_owned()])]));
    with_mapping.body.filter_server_list.clear();
    register(&routes, with_mapping, 0);
    assert!(routes.route_of("T").unwrap().filter_server_table.is_empty());
}

#[test]
fn single_topics_are_registered_on_known_brokers_only() {
    let routes = routes();
    register(&routes, registration(0, "m:1", 1), 0);
    let queue = |broker: &str| QueueData { broker_name: broker.to_owned(), perm: 4, ..Default::default() };
    assert_eq!(routes.register_topic("S", vec![queue("b"), queue("none")]), Err("none".to_owned()));
    assert_eq!(routes.route_of("S"), None);
    routes.register_topic("S", vec![queue("b")]).unwrap();
    assert_eq!(perm(&routes, "S"), 4);
}
