use super::*;

const CONFIG_ONLY: &[u8] = include_bytes!("../../tests/golden/config/config-only/subscriptionGroup.json");

const NOW: i64 = 5000;

fn manager() -> SubscriptionGroupManager {
    SubscriptionGroupManager::new(&BrokerConfig::default(), 1000)
}

fn manager_without_auto_creation(enable_create_sys_group: bool) -> SubscriptionGroupManager {
    let config = BrokerConfig {
        auto_create_subscription_group: false,
        enable_create_sys_group,
        ..BrokerConfig::default()
    };
    SubscriptionGroupManager::new(&config, 1000)
}

fn counter(manager: &SubscriptionGroupManager) -> i64 {
    manager.data_version().counter
}

#[test]
fn a_fresh_table_is_that_of_a_java_broker() {
    let table = manager().all_groups();
    let names: Vec<_> = table.wrapper.subscription_group_table.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "CID_ONS-HTTP-PROXY",
            "CID_ONSAPI_OWNER",
            "CID_ONSAPI_PERMISSION",
            "CID_ONSAPI_PULL",
            "CID_RMQ_SYS_TRANS",
            "FILTERSRV_CONSUMER",
            "SELF_TEST_C_GROUP",
            "TOOLS_CONSUMER",
        ]
    );
    assert!(table.wrapper.subscription_group_table.values().all(|group| group.consume_broadcast_enable));
    assert_eq!((table.total, table.wrapper.data_version.counter), (8, 0));
}

#[test]
fn groups_are_made_on_first_use() {
    let manager = manager();
    assert_eq!(manager.get("g"), None, "a plain look-up makes nothing");
    let made = manager.find_subscription_group_config("g", NOW).expect("made");
    assert!(made.changed);
    assert_eq!(*made.config, group("g"));
    assert_eq!(manager.data_version(), DataVersion { state_version: 0, counter: 1, timestamp: NOW });
    let again = manager.find_subscription_group_config("g", NOW + 1).expect("there");
    assert!(!again.changed);
    assert_eq!(counter(&manager), 1);
}

#[test]
fn illegal_names_are_never_made() {
    let manager = manager();
    for name in ["", " ", "a b", "g.1", &"g".repeat(121)] {
        assert_eq!(manager.find_subscription_group_config(name, NOW), None, "{name:?}");
    }
    assert_eq!(counter(&manager), 0);
}

#[test]
fn system_groups_are_made_even_without_auto_creation() {
    let manager = manager_without_auto_creation(true);
    assert_eq!(manager.find_subscription_group_config("g", NOW), None);
    assert!(manager.find_subscription_group_config("CID_RMQ_SYS_x", NOW).is_some());
    assert!(manager.find_subscription_group_config("CID_RMQ_SYS_ x", NOW).is_none(), "the name is illegal");
    assert!(manager.find_subscription_group_config("TOOLS_CONSUMER", NOW).is_some(), "there from the start");
    assert_eq!(
        manager_without_auto_creation(false).find_subscription_group_config("CID_RMQ_SYS_x", NOW),
        None
    );
    manager.set_auto_create_subscription_group(true);
    assert!(manager.find_subscription_group_config("g", NOW).is_some());
}

#[test]
fn admin_updates() {
    let manager = manager();
    let wanted = SubscriptionGroupConfig {
        retry_max_times: 3,
        attributes: BTreeMap::from([("+priority.factor".to_owned(), "50".to_owned())]),
        ..group("g")
    };
    let made = manager.update_subscription_group_config(wanted.clone(), NOW).expect("made");
    assert!(made.changed);
    assert_eq!(made.config.attributes, BTreeMap::from([("priority.factor".to_owned(), "50".to_owned())]));
    assert!(!manager.update_subscription_group_config(wanted, NOW).expect("same").changed);
    assert_eq!(manager.get("g").map(|config| config.retry_max_times), Some(3));
    assert_eq!(counter(&manager), 1);

    let bad_name = manager.update_subscription_group_config(group("a b"), NOW).expect_err("name");
    assert!(matches!(bad_name, MetadataUpdateError::InvalidParameter(_)), "{bad_name:?}");
    let attributes = BTreeMap::from([("+priority.factor".to_owned(), "101".to_owned())]);
    let bad_value = SubscriptionGroupConfig { attributes, ..group("g") };
    let bad_value = manager.update_subscription_group_config(bad_value, NOW).expect_err("value");
    assert!(bad_value.remark().contains("not in range(0, 100)"), "{bad_value:?}");
    assert_eq!(counter(&manager), 1);
}

#[test]
fn deletion_takes_the_forbidden_topics_along() {
    let manager = manager();
    manager.find_subscription_group_config("g", NOW);
    manager.set_forbidden("g", "T", INDEX_PERM_READ, true, NOW);
    assert!(manager.delete_subscription_group_config("g", NOW));
    assert!(!manager.get_forbidden("g", "T", INDEX_PERM_READ));
    assert_eq!((manager.get("g"), counter(&manager)), (None, 3));
    assert!(!manager.delete_subscription_group_config("g", NOW));
    assert_eq!(counter(&manager), 3);
}

#[test]
fn forbidden_bits() {
    let manager = manager();
    assert!(!manager.set_forbidden("g", "T", INDEX_PERM_READ, false, NOW), "already so");
    assert!(manager.set_forbidden("g", "T", INDEX_PERM_READ, true, NOW));
    assert!(manager.set_forbidden("g", "T", 0, true, NOW));
    assert!(manager.get_forbidden("g", "T", INDEX_PERM_READ));
    assert!(
        !manager.get_forbidden("g", "U", INDEX_PERM_READ)
            && !manager.get_forbidden("h", "T", INDEX_PERM_READ)
    );
    assert!(manager.set_forbidden("g", "T", INDEX_PERM_READ, false, NOW));
    assert!(!manager.get_forbidden("g", "T", INDEX_PERM_READ) && manager.get_forbidden("g", "T", 0));
    assert!(!manager.get_forbidden("g", "T", 99), "no such bit");
}

#[test]
fn pages() {
    let manager = manager();
    manager.set_forbidden("TOOLS_CONSUMER", "T", INDEX_PERM_READ, true, NOW);
    let first = manager.page(&PageRequest { sequence: Some(0), data_version: None, max_entries: Some(6) });
    assert_eq!((first.wrapper.subscription_group_table.len(), first.total), (6, 8));
    assert!(first.wrapper.forbidden_table.is_empty(), "belongs to a group of the other page");
    let version = Some(first.wrapper.data_version);
    let second =
        manager.page(&PageRequest { sequence: Some(6), data_version: version, max_entries: Some(6) });
    assert_eq!(second.wrapper.subscription_group_table.len(), 2);
    assert_eq!(second.wrapper.forbidden_table["TOOLS_CONSUMER"]["T"], 4);
}

#[test]
fn the_file_of_java_survives_a_round() {
    let java: SubscriptionGroupWrapper = java_json::from_slice(CONFIG_ONLY).expect("golden file");
    let first = manager();
    first.decode(CONFIG_ONLY).expect("golden file");
    assert_eq!(first.all_groups().wrapper.subscription_group_table, java.subscription_group_table);
    assert!(first.get_forbidden("g_orderly", "TopicNormal", INDEX_PERM_READ));
    assert_eq!(first.get("g_orderly").map(|group| group.retry_queue_nums), Some(2));
    let second = manager();
    second.decode(first.encode().expect("encode").as_bytes()).expect("own file");
    assert_eq!(second.all_groups(), first.all_groups());
    let written: SubscriptionGroupWrapper =
        java_json::from_slice(first.encode().expect("encode").as_bytes()).expect("own file");
    assert_eq!(written, java, "nothing lost");
}

#[test]
fn what_is_forbidden_to_unknown_groups_is_kept() {
    let manager = manager();
    manager.set_forbidden("not-made-yet", "T", INDEX_PERM_READ, true, NOW);
    let again = SubscriptionGroupManager::new(&BrokerConfig::default(), 0);
    again.decode(manager.encode().expect("encode").as_bytes()).expect("decode");
    assert!(again.get_forbidden("not-made-yet", "T", INDEX_PERM_READ));
}

#[test]
fn files_of_older_releases_and_bad_ones() {
    let manager = manager();
    let old =
        br#"{"dataVersion":{"counter":1,"timestamp":2},"subscriptionGroupTable":{"g":{"consumeEnable":false,
        "groupName":"g","retryMaxTimes":5}}}"#;
    manager.decode(old).expect("decode");
    let config = manager.get("g").expect("g");
    assert_eq!((config.consume_enable, config.retry_max_times, config.retry_queue_nums), (false, 5, 1));
    assert!(manager.get("TOOLS_CONSUMER").is_some(), "predefined groups stay");
    let before = manager.all_groups();
    assert!(manager.decode(b"[1]").is_err());
    assert_eq!(manager.all_groups(), before);
}
