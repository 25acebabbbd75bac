use super::*;
use crate::client_channel_info::tests::{TestChannel, identity};
use crate::remoting::protocol::SubscriptionData;

fn subscription(topic: &str, expression: &str, version: i64) -> SubscriptionData {
    SubscriptionData {
        topic: topic.to_owned(),
        sub_string: expression.to_owned(),
        sub_version: version,
        ..SubscriptionData::default()
    }
}

fn data(group: &str, subscriptions: &[SubscriptionData]) -> ConsumerData {
    ConsumerData {
        group_name: group.to_owned(),
        consume_type: ConsumeType::ConsumePassively,
        message_model: MessageModel::Clustering,
        consume_from_where: ConsumeFromWhere::ConsumeFromLastOffset,
        subscription_data_set: subscriptions.to_vec(),
        unit_mode: false,
    }
}

type Manager = ConsumerManager<TestChannel>;

/// A heartbeat of client `c<id>` on connection `id` at `now`.
fn beat(manager: &Manager, id: u64, data: &ConsumerData, now: i64) -> ConsumerRegistration<TestChannel> {
    manager.register_consumer(&TestChannel::new(id), &identity(&format!("c{id}")), data, false, now)
}

fn notified(change: Option<&ConsumerIdsChange<TestChannel>>) -> Vec<u64> {
    change.map(|change| change.channels.iter().map(ClientChannel::id).collect()).unwrap_or_default()
}

fn expression(manager: &Manager, topic: &str) -> Option<String> {
    let found = manager.group_info("g")?.find_subscription(topic)?;
    Some(found.expression().into_owned())
}

#[test]
fn a_new_connection_is_told_to_everybody_itself_included() {
    let manager = Manager::new();
    let group = data("g", &[subscription("T", "*", 1)]);
    let first = beat(&manager, 1, &group, 0);
    assert!(first.new_channel && first.subscription_changed);
    assert_eq!(notified(first.change.as_ref()), [1]);
    let second = beat(&manager, 2, &group, 0);
    assert!(second.new_channel && !second.subscription_changed);
    assert_eq!(notified(second.change.as_ref()), [1, 2]);
    let again = beat(&manager, 1, &group, 30_000);
    assert!(!again.new_channel && again.change.is_none(), "an ordinary heartbeat tells nobody");
    assert_eq!(manager.consumer_ids("g"), ["c1", "c2"]);
    assert_eq!(second.change.map(|change| change.group), Some("g".to_owned()));
}

#[test]
fn a_client_on_two_connections_counts_twice() {
    let manager = Manager::new();
    let group = data("g", &[]);
    for id in [1, 2] {
        manager.register_consumer(&TestChannel::new(id), &identity("same"), &group, false, 0);
    }
    assert_eq!(manager.consumer_ids("g"), ["same", "same"]);
    assert_eq!(manager.find_client("g", "same").map(|info| info.channel.id()), Some(2));
    manager.on_channel_closed(2);
    assert_eq!(manager.consumer_ids("g"), ["same"]);
    assert_eq!(manager.find_client("g", "same").map(|info| info.channel.id()), Some(1));
    assert!(manager.find_client("g", "other").is_none() && manager.find_client("h", "same").is_none());
}

#[test]
fn another_client_id_on_the_same_connection_takes_its_place() {
    let manager = Manager::new();
    let group = data("g", &[]);
    manager.register_consumer(&TestChannel::new(1), &identity("a"), &group, false, 0);
    let second = manager.register_consumer(&TestChannel::new(1), &identity("b"), &group, false, 0);
    assert!(!second.new_channel);
    assert_eq!(manager.consumer_ids("g"), ["b"]);
}

#[test]
fn only_a_greater_version_replaces_a_subscription_and_that_is_no_change() {
    let manager = Manager::new();
    beat(&manager, 1, &data("g", &[subscription("T", "A", 5)]), 0);
    for (text, version, kept) in [("B", 4, "A"), ("B", 5, "A"), ("B", 6, "B")] {
        let registration = beat(&manager, 1, &data("g", &[subscription("T", text, version)]), 0);
        assert!(!registration.subscription_changed && registration.change.is_none(), "{version}");
        assert_eq!(expression(&manager, "T").as_deref(), Some(kept), "{version}");
    }
    let subscription = manager.group_info("g").and_then(|info| info.find_subscription("T")).expect("T");
    assert_eq!(subscription.data().sub_version, 6);
    assert!(subscription.matches_tags_code(Some(66)), "the hash of B is prepared");
}

#[test]
fn topics_that_come_and_go_are_changes() {
    let manager = Manager::new();
    beat(&manager, 1, &data("g", &[subscription("T", "*", 1)]), 0);
    let both = data("g", &[subscription("T", "*", 1), subscription("U", "*", 1)]);
    let comes = beat(&manager, 1, &both, 0);
    assert!(comes.subscription_changed && !comes.new_channel);
    assert_eq!(notified(comes.change.as_ref()), [1]);
    assert!(manager.groups_of_topic("U").contains("g"));
    let goes = beat(&manager, 1, &data("g", &[subscription("U", "*", 1)]), 0);
    assert!(goes.subscription_changed);
    assert_eq!((expression(&manager, "T"), expression(&manager, "U").as_deref()), (None, Some("*")));
    assert!(manager.groups_of_topic("T").is_empty());
}

#[test]
fn the_last_heartbeat_of_any_member_wins() {
    let manager = Manager::new();
    beat(&manager, 1, &data("g", &[subscription("T", "*", 1)]), 0);
    beat(&manager, 2, &data("g", &[subscription("U", "*", 1)]), 0);
    assert_eq!(expression(&manager, "T"), None, "the table is per group");
    let actively = ConsumerData {
        consume_type: ConsumeType::ConsumeActively,
        consume_from_where: ConsumeFromWhere::ConsumeFromTimestamp,
        ..data("g", &[subscription("U", "*", 1)])
    };
    beat(&manager, 2, &actively, 0);
    let info = manager.group_info("g").expect("g");
    assert_eq!(info.consume_type, ConsumeType::ConsumeActively);
    assert_eq!(info.consume_from_where, ConsumeFromWhere::ConsumeFromTimestamp);
}

#[test]
fn heartbeats_without_subscriptions_leave_them_alone() {
    let manager = Manager::new();
    beat(&manager, 1, &data("g", &[subscription("T", "*", 1)]), 0);
    let registration =
        manager.register_consumer(&TestChannel::new(1), &identity("c1"), &data("g", &[]), true, 1);
    assert!(!registration.subscription_changed);
    assert_eq!(expression(&manager, "T").as_deref(), Some("*"));
}

#[test]
fn broadcasting_groups_are_not_notified() {
    let manager = Manager::new();
    let group = ConsumerData { message_model: MessageModel::Broadcasting, ..data("g", &[]) };
    assert!(beat(&manager, 1, &group, 0).change.is_none());
    assert!(beat(&manager, 2, &group, 0).change.is_none());
    assert!(manager.unregister_consumer(1, "g").is_none());
    assert!(manager.on_channel_closed(2).is_empty());
}

#[test]
fn unregistering_tells_the_rest() {
    let manager = Manager::new();
    for id in [1, 2] {
        beat(&manager, id, &data("g", &[]), 0);
        beat(&manager, id, &data("h", &[]), 0);
    }
    assert_eq!(notified(manager.unregister_consumer(1, "g").as_ref()), [2]);
    assert!(manager.unregister_consumer(1, "g").is_none() && manager.unregister_consumer(1, "no").is_none());
    assert_eq!(manager.consumer_ids("h"), ["c1", "c2"], "the other group keeps it");
    assert!(manager.unregister_consumer(2, "g").is_none(), "nobody is left to be told");
    assert!(manager.group_info("g").is_none() && manager.consumer_connection("g").is_none());
    assert_eq!(manager.groups(), BTreeSet::from(["h".to_owned()]));
}

#[test]
fn a_closed_connection_leaves_all_groups() {
    let manager = Manager::new();
    for (id, group) in [(1, "g"), (2, "g"), (1, "h"), (3, "i")] {
        beat(&manager, id, &data(group, &[]), 0);
    }
    let changes = manager.on_channel_closed(1);
    assert_eq!(changes.len(), 1, "h has nobody left, i never had it");
    assert_eq!(notified(changes.first()), [2]);
    assert_eq!(manager.groups(), BTreeSet::from(["g".to_owned(), "i".to_owned()]));
}

#[test]
fn silent_connections_expire() {
    let manager = Manager::new();
    beat(&manager, 1, &data("g", &[]), 0);
    beat(&manager, 2, &data("g", &[]), 0);
    beat(&manager, 2, &data("g", &[]), 30_000);
    assert!(manager.scan_not_active_channels(120_000, 120_000).expired.is_empty());
    let outcome = manager.scan_not_active_channels(120_001, 120_000);
    assert_eq!(outcome.expired.iter().map(ClientChannel::id).collect::<Vec<_>>(), [1]);
    assert_eq!(notified(outcome.changes.first()), [2]);
    assert_eq!(manager.consumer_ids("g"), ["c2"]);
    assert!(manager.scan_not_active_channels(120_001, 120_000).expired.is_empty());
}

#[test]
fn the_answer_to_consumer_connection() {
    let manager = Manager::new();
    beat(&manager, 1, &data("g", &[subscription("T", "TagA", 9)]), 0);
    let answer = manager.consumer_connection("g").expect("connected");
    assert_eq!(answer.connection_set[0].client_addr, "127.0.0.1:40000");
    assert_eq!((answer.connection_set[0].client_id.as_str(), answer.connection_set[0].version), ("c1", 513));
    assert_eq!(answer.consume_type, ConsumeType::ConsumePassively);
    let subscription = &answer.subscription_table["T"];
    assert_eq!((subscription.sub_string.as_str(), subscription.sub_version), ("TagA", 9));
    assert!(subscription.code_set.contains(&2_598_919));
}

#[test]
fn a_pull_keeps_what_it_has_taken() {
    let manager = Manager::new();
    beat(&manager, 1, &data("g", &[subscription("T", "A", 1)]), 0);
    let taken = manager.group_info("g").expect("g");
    beat(&manager, 1, &data("g", &[subscription("T", "A", 1)]), 1);
    assert!(Arc::ptr_eq(&taken, &manager.group_info("g").expect("g")), "nothing changed, nothing copied");
    beat(&manager, 1, &data("g", &[subscription("T", "B", 2)]), 2);
    assert_eq!(
        taken.find_subscription("T").map(|found| found.expression().into_owned()).as_deref(),
        Some("A")
    );
    assert_eq!(expression(&manager, "T").as_deref(), Some("B"));
}
