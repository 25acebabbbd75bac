use super::*;
use crate::remoting::protocol::TopicFilterType;

const CONFIG_ONLY: &[u8] = include_bytes!("../../tests/golden/config/config-only/topics.json");
const RETRY_DLQ: &[u8] = include_bytes!("../../tests/golden/config/retry-dlq/topics.json");

const NOW: i64 = 5000;

/// The configuration the golden files were made with.
fn golden_config() -> BrokerConfig {
    BrokerConfig {
        broker_cluster_name: "golden".to_owned(),
        broker_name: "broker-a".to_owned(),
        revive_queue_num: 2,
        ..BrokerConfig::default()
    }
}

fn manager() -> TopicConfigManager {
    TopicConfigManager::new(&golden_config(), 1000)
}

fn request(topic: &str, queues: i32, attributes: &str) -> TopicConfig {
    TopicConfig {
        topic_name: topic.to_owned(),
        read_queue_nums: queues,
        write_queue_nums: queues,
        attributes: crate::attributes::parse_attributes(attributes).expect("attributes"),
        ..TopicConfig::default()
    }
}

fn counter(manager: &TopicConfigManager) -> i64 {
    manager.data_version().counter
}

#[test]
fn system_topics_are_those_of_a_java_broker() {
    let java: TopicConfigSerializeWrapper = java_json::from_slice(CONFIG_ONLY).expect("golden file");
    let made_by_clients = |name: &str| name.starts_with("Topic") || name.starts_with('%');
    let expected: BTreeMap<_, _> =
        java.topic_config_table.into_iter().filter(|(name, _)| !made_by_clients(name)).collect();
    let table = manager().all_topics();
    assert_eq!(table.topics, expected);
    assert_eq!((table.total, table.data_version.counter), (expected.len(), 0));
}

#[test]
fn switches_of_system_topics() {
    let config = BrokerConfig {
        auto_create_topic_enable: false,
        cluster_topic_enable: false,
        broker_topic_enable: false,
        trace_topic_enable: true,
        timer_wheel_enable: false,
        ..golden_config()
    };
    let manager = TopicConfigManager::new(&config, 0);
    let perm = |topic: &str| manager.select_topic_config(topic).map(|config| config.perm);
    assert_eq!(perm("TBW102"), None);
    assert_eq!((perm("golden"), perm("broker-a")), (Some(1), Some(1)));
    assert_eq!(perm("RMQ_SYS_TRACE_TOPIC"), Some(6));
    assert_eq!(perm("rmq_sys_wheel_timer"), None);
}

#[test]
fn a_send_makes_a_topic_after_the_model() {
    let manager = manager();
    let made = manager.create_topic_in_send_message("T", "TBW102", 4, 1, NOW).expect("made");
    assert!(made.changed);
    let expected = TopicConfig { topic_sys_flag: 1, ..request("T", 4, "") };
    assert_eq!(*made.config, expected);
    assert_eq!(manager.data_version(), DataVersion { state_version: 0, counter: 1, timestamp: NOW });
    let again = manager.create_topic_in_send_message("T", "TBW102", 9, 0, NOW + 1).expect("there");
    assert_eq!((again.changed, &again.config), (false, &made.config));
    assert_eq!(counter(&manager), 1);
}

#[test]
fn queues_of_a_made_topic_are_limited_by_the_model() {
    let manager = manager();
    for (topic, wanted, queues) in [("A", 100, 8), ("B", 8, 8), ("C", 0, 1), ("D", -3, 1)] {
        let made = manager.create_topic_in_send_message(topic, "TBW102", wanted, 0, NOW).expect(topic);
        assert_eq!((made.config.write_queue_nums, made.config.read_queue_nums), (queues, queues), "{topic}");
    }
}

#[test]
fn the_model_must_exist_and_be_inheritable() {
    let manager = manager();
    assert_eq!(manager.create_topic_in_send_message("T", "absent", 4, 0, NOW), None);
    assert_eq!(manager.create_topic_in_send_message("T", "SELF_TEST_TOPIC", 4, 0, NOW), None);
    let own_model =
        TopicConfig { perm: 5, topic_filter_type: TopicFilterType::MultiTag, ..request("M", 2, "") };
    manager.update_topic_config(own_model, NOW).expect("model");
    let made = manager.create_topic_in_send_message("T", "M", 4, 0, NOW).expect("made");
    assert_eq!((made.config.perm, made.config.write_queue_nums), (4, 2));
    assert_eq!(made.config.topic_filter_type, TopicFilterType::MultiTag);
}

#[test]
fn switched_off_creation_fails_even_if_the_model_is_in_the_file() {
    let config = BrokerConfig { auto_create_topic_enable: false, ..golden_config() };
    let manager = TopicConfigManager::new(&config, 0);
    manager.decode(CONFIG_ONLY).expect("golden file");
    assert!(manager.select_topic_config("TBW102").is_some());
    assert_eq!(manager.create_topic_in_send_message("T", "TBW102", 4, 0, NOW), None);
    manager.set_auto_create_topic_enable(true);
    assert!(manager.create_topic_in_send_message("T", "TBW102", 4, 0, NOW).is_some());
}

#[test]
fn retry_topics_are_made_whatever_the_switch_says() {
    let config = BrokerConfig { auto_create_topic_enable: false, ..golden_config() };
    let manager = TopicConfigManager::new(&config, 0);
    let made = manager.create_topic_in_send_message_back("%RETRY%g", 1, 6, false, 0, NOW);
    assert!(made.changed);
    assert_eq!(*made.config, request("%RETRY%g", 1, ""));
    assert!(!manager.create_topic_in_send_message_back("%RETRY%g", 3, 6, false, 0, NOW).changed);
    let ordered = manager.create_topic_in_send_message_back("%RETRY%g", 3, 6, true, 0, NOW);
    assert!(ordered.changed && ordered.config.order);
    assert_eq!(ordered.config.write_queue_nums, 1, "only the mark changes");
    assert!(manager.is_order_topic("%RETRY%g") && !manager.is_order_topic("absent"));
    assert_eq!(counter(&manager), 2);
}

#[test]
fn admin_updates() {
    let manager = manager();
    let made = manager.update_topic_config(request("T", 4, "+message.type=NORMAL"), NOW).expect("made");
    assert!(made.changed);
    assert_eq!(made.config.attributes, BTreeMap::from([("message.type".to_owned(), "NORMAL".to_owned())]));
    let same = manager.update_topic_config(request("T", 4, "+message.type=NORMAL"), NOW).expect("same");
    assert!(!same.changed);
    let same = manager.update_topic_config(request("T", 4, ""), NOW).expect("attributes stay");
    assert!(!same.changed);
    assert_eq!(counter(&manager), 1);
    let changed = manager.update_topic_config(request("T", 5, "-message.type"), NOW).expect("changed");
    assert!(changed.changed && changed.config.attributes.is_empty());
    assert_eq!((changed.config.read_queue_nums, counter(&manager)), (5, 2));
}

#[test]
fn refused_admin_updates() {
    let manager = manager();
    let invalid = [
        (request("a b", 1, ""), "contains illegal characters"),
        (request("TBW102", 1, ""), "The topic[TBW102] is conflict with system topic."),
        (request("rmq_sys_x", 1, ""), "conflict with system topic"),
        (request("T", 1, "+message.type=MIXED"), "MIXED message type is not supported."),
        (request("T", -1, ""), "readQueueNums[-1] is illegal"),
        (request("T", i32::MAX, ""), "is illegal"),
        (TopicConfig { perm: 9, ..request("T", 1, "") }, "perm[9] is illegal"),
    ];
    for (config, remark) in invalid {
        let error = manager.update_topic_config(config, NOW).expect_err(remark);
        assert!(
            matches!(&error, MetadataUpdateError::InvalidParameter(text) if text.contains(remark)),
            "{error:?}"
        );
    }
    manager.update_topic_config(request("T", 1, "+queue.type=BatchCQ"), NOW).expect("made");
    for attributes in ["+queue.type=SimpleCQ", "+x=1", "-reserve.time", "+message.type=normal"] {
        let error = manager.update_topic_config(request("T", 1, attributes), NOW).expect_err(attributes);
        assert!(matches!(error, MetadataUpdateError::Attributes(_)), "{attributes}");
    }
    assert_eq!(counter(&manager), 1, "nothing refused left a trace");
}

#[test]
fn protection_of_system_topics_can_be_lifted() {
    let config = BrokerConfig {
        validate_system_topic_when_update_topic: false,
        enable_mixed_message_type: true,
        ..golden_config()
    };
    let manager = TopicConfigManager::new(&config, 0);
    assert!(manager.update_topic_config(request("TBW102", 1, "+message.type=MIXED"), NOW).is_ok());
    assert_eq!(manager.check_deletable("TBW102"), Ok(()));
    assert!(manager.check_deletable(" ").is_err());
}

#[test]
fn deletion() {
    let manager = manager();
    assert!(manager.check_deletable("SELF_TEST_TOPIC").is_err());
    assert!(!manager.delete_topic_config("T", NOW));
    assert_eq!(counter(&manager), 0);
    manager.update_topic_config(request("T", 1, ""), NOW).expect("made");
    assert!(manager.delete_topic_config("T", NOW));
    assert_eq!((counter(&manager), manager.select_topic_config("T")), (2, None));
}

#[test]
fn registration_masks_what_the_broker_may_not_do() {
    let manager = manager();
    manager.update_topic_config(TopicConfig { perm: 4, ..request("R", 1, "") }, NOW).expect("made");
    let perms = |permission| {
        let table = manager.topics_for_registration(permission);
        ["TBW102", "R", "SELF_TEST_TOPIC"].map(|topic| table.topics[topic].perm)
    };
    assert_eq!(perms(6), [7, 4, 6], "a full broker publishes topics as they are");
    assert_eq!(perms(4), [4, 4, 4]);
    assert_eq!(perms(2), [2, 0, 2]);
    assert_eq!(
        manager.select_topic_config("TBW102").map(|config| config.perm),
        Some(7),
        "only the copy changes"
    );
    let before = manager.data_version();
    manager.update_data_version(NOW + 1);
    assert_eq!(manager.data_version(), before.next(NOW + 1));
}

#[test]
fn order_marks_of_the_name_server() {
    let manager = manager();
    manager.update_topic_config(request("T", 1, ""), NOW).expect("made");
    let listed = BTreeSet::from(["T".to_owned(), "elsewhere".to_owned()]);
    assert!(manager.mark_order_topics(&listed, NOW));
    assert!(manager.is_order_topic("T") && manager.select_topic_config("elsewhere").is_none());
    assert!(!manager.mark_order_topics(&listed, NOW));
    assert_eq!(counter(&manager), 2);
}

#[test]
fn pages() {
    let manager = TopicConfigManager::new(&BrokerConfig { split_metadata_size: 5, ..golden_config() }, 0);
    let total = manager.all_topics().total;
    let mut seen = BTreeMap::new();
    let mut version = None;
    while seen.len() < total {
        let sequence = i32::try_from(seen.len()).expect("small");
        let request =
            PageRequest { sequence: Some(sequence), data_version: version, max_entries: Some(2000) };
        let page = manager.page(&request);
        assert!(!page.topics.is_empty() && page.topics.len() <= 5 && page.total == total);
        version = Some(page.data_version);
        seen.extend(page.topics);
    }
    assert_eq!(seen, manager.all_topics().topics);
}

#[test]
fn files_of_java_survive_a_round() {
    for golden in [CONFIG_ONLY, RETRY_DLQ] {
        let java: TopicConfigSerializeWrapper = java_json::from_slice(golden).expect("golden file");
        let first = manager();
        first.decode(golden).expect("golden file");
        let table = first.all_topics();
        for (name, config) in &java.topic_config_table {
            assert_eq!(table.topics.get(name), Some(config), "{name}");
        }
        assert_eq!(table.data_version, java.data_version);
        let second = manager();
        second.decode(first.encode().expect("encode").as_bytes()).expect("own file");
        assert_eq!(second.all_topics(), table);
    }
}

#[test]
fn a_written_file_looks_like_one_of_java() {
    let lines = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(|line| line.trim_end_matches(',').to_owned()).collect();
        lines.sort();
        lines
    };
    let manager = manager();
    manager.decode(CONFIG_ONLY).expect("golden file");
    let golden = std::str::from_utf8(CONFIG_ONLY).expect("text");
    assert_eq!(lines(&manager.encode().expect("encode")), lines(golden), "all but the order of the topics");
}

#[test]
fn files_of_older_releases_and_bad_ones() {
    let manager = manager();
    let old =
        br#"{"dataVersion":{"counter":7,"timestamp":9},"topicConfigTable":{"T":{"perm":6,"readQueueNums":3,
        "topicFilterType":"SINGLE_TAG","topicName":"T","unknown":{"x":[1]}},"U":{}}}"#;
    manager.decode(old).expect("decode");
    let topic = manager.select_topic_config("T").expect("T");
    assert_eq!((topic.read_queue_nums, topic.write_queue_nums, topic.order), (3, 16, false));
    assert_eq!(manager.select_topic_config("U").expect("U").topic_name, "U", "the name is the key");
    assert_eq!(manager.data_version(), DataVersion { state_version: 0, counter: 7, timestamp: 9 });
    assert!(manager.select_topic_config("BenchmarkTest").is_some(), "system topics stay");
    let before = manager.all_topics();
    assert!(manager.decode(b"{\"topicConfigTable\":[]}").is_err());
    assert_eq!(manager.all_topics(), before);
}
