//! The files below `config/`: what a manager saved it loads; a damaged file changes nothing.

use crate::damage::{flipped, truncated};
use crate::values::cases;
use broker_proc::broker_config::BrokerConfig;
use broker_proc::config_store::ConfigManager;
use broker_proc::consumer_offset_manager::ConsumerOffsetManager;
use broker_proc::remoting::protocol::{
    ConsumerOffsetSerializeWrapper, CustomizedRetryPolicy, DataVersion, DelayOffsetSerializeWrapper,
    ExponentialRetryPolicy, GroupRetryPolicy, GroupRetryPolicyType, SimpleSubscriptionData,
    SubscriptionGroupConfig, SubscriptionGroupWrapper, TopicConfig, TopicConfigSerializeWrapper,
    TopicFilterType,
};
use broker_proc::schedule::DelayOffsets;
use broker_proc::subscription_group_manager::SubscriptionGroupManager;
use broker_proc::topic_config_manager::TopicConfigManager;
use proptest::prelude::*;
use std::collections::BTreeMap;
use store_core::java_json::{from_slice, to_string_pretty};

const NAME: &str = "[a-zA-Z0-9_%|-]{1,8}";

/// Never the one of a file without a version.
fn version() -> impl Strategy<Value = DataVersion> {
    (any::<i64>(), 1..i64::MAX, any::<i64>()).prop_map(|(state_version, counter, timestamp)| DataVersion {
        state_version,
        counter,
        timestamp,
    })
}

fn attributes() -> impl Strategy<Value = BTreeMap<String, String>> {
    prop::collection::btree_map("[a-z.]{1,8}", any::<String>(), 0..3)
}

fn topic() -> impl Strategy<Value = TopicConfig> {
    (any::<(i32, i32, i32, i32)>(), any::<(bool, bool)>(), attributes()).prop_map(
        |(numbers, flags, attributes)| TopicConfig {
            topic_name: String::new(),
            read_queue_nums: numbers.0,
            write_queue_nums: numbers.1,
            perm: numbers.2,
            topic_filter_type: if flags.0 { TopicFilterType::MultiTag } else { TopicFilterType::SingleTag },
            topic_sys_flag: numbers.3,
            order: flags.1,
            attributes,
        },
    )
}

fn topics() -> impl Strategy<Value = TopicConfigSerializeWrapper> {
    (version(), prop::collection::btree_map(NAME, topic(), 0..4)).prop_map(|(data_version, topics)| {
        let named =
            topics.into_iter().map(|(name, topic)| (name.clone(), TopicConfig { topic_name: name, ..topic }));
        TopicConfigSerializeWrapper { data_version, topic_config_table: named.collect() }
    })
}

fn retry_policy() -> impl Strategy<Value = GroupRetryPolicy> {
    let exponential = prop::option::of(any::<(i64, i64, i64)>());
    let customized = prop::option::of(prop::collection::vec(any::<i64>(), 0..3));
    (any::<bool>(), exponential, customized).prop_map(|(grows, exponential, customized)| GroupRetryPolicy {
        policy_type: if grows { GroupRetryPolicyType::Exponential } else { GroupRetryPolicyType::Customized },
        exponential_retry_policy: exponential.map(|(initial, max, multiplier)| ExponentialRetryPolicy {
            initial,
            max,
            multiplier,
        }),
        customized_retry_policy: customized.map(|next| CustomizedRetryPolicy { next }),
    })
}

fn subscription() -> impl Strategy<Value = SimpleSubscriptionData> {
    any::<(String, Option<String>, Option<String>, i64)>().prop_map(
        |(topic, expression_type, expression, version)| SimpleSubscriptionData {
            topic,
            expression_type,
            expression,
            version,
        },
    )
}

fn group() -> impl Strategy<Value = SubscriptionGroupConfig> {
    let numbers = any::<(i32, i32, i64, i64, i32, i32)>();
    let flags = any::<(bool, bool, bool, bool, bool)>();
    let subscriptions = prop::option::of(prop::collection::vec(subscription(), 0..2));
    (numbers, flags, retry_policy(), subscriptions, attributes()).prop_map(
        |(numbers, flags, group_retry_policy, subscription_data_set, attributes)| SubscriptionGroupConfig {
            group_name: String::new(),
            consume_enable: flags.0,
            consume_from_min_enable: flags.1,
            consume_broadcast_enable: flags.2,
            consume_message_orderly: flags.3,
            retry_queue_nums: numbers.0,
            retry_max_times: numbers.1,
            group_retry_policy,
            broker_id: numbers.2,
            which_broker_when_consume_slowly: numbers.3,
            notify_consumer_ids_changed_enable: flags.4,
            group_sys_flag: numbers.4,
            consume_timeout_minute: numbers.5,
            subscription_data_set,
            attributes,
        },
    )
}

fn groups() -> impl Strategy<Value = SubscriptionGroupWrapper> {
    let forbidden =
        prop::collection::btree_map(NAME, prop::collection::btree_map(NAME, any::<i32>(), 0..3), 0..3);
    (version(), prop::collection::btree_map(NAME, group(), 0..4), forbidden).prop_map(
        |(data_version, groups, forbidden_table)| {
            let named = groups
                .into_iter()
                .map(|(name, group)| (name.clone(), SubscriptionGroupConfig { group_name: name, ..group }));
            SubscriptionGroupWrapper {
                data_version,
                subscription_group_table: named.collect(),
                forbidden_table,
            }
        },
    )
}

type Offsets = BTreeMap<String, BTreeMap<i32, i64>>;

fn offsets() -> impl Strategy<Value = Offsets> {
    let key = "[a-zA-Z0-9_%-]{1,8}@[a-zA-Z0-9_-]{1,8}";
    prop::collection::btree_map(key, prop::collection::btree_map(any::<i32>(), any::<i64>(), 0..4), 0..4)
}

fn broker() -> BrokerConfig {
    BrokerConfig::default()
}

/// The manager holds what `file` says, saves it as a file that it loads again, and keeps it when a file is damaged.
fn comes_back(manager: &dyn ConfigManager, other: &dyn ConfigManager, file: &str) {
    manager.decode(file.as_bytes()).unwrap();
    let saved = manager.encode().unwrap();
    other.decode(saved.as_bytes()).unwrap();
    assert_eq!(other.encode().unwrap(), saved);
    let step = saved.len() / 20 + 1;
    for cut in truncated(saved.trim_end().as_bytes()).step_by(step) {
        assert!(manager.decode(cut).is_err(), "{} bytes of {saved}", cut.len());
        assert_eq!(manager.encode().unwrap(), saved);
    }
    for (_, damaged) in flipped(saved.as_bytes()).step_by(8 * step + 1) {
        let before = other.encode().unwrap();
        if other.decode(&damaged).is_err() {
            assert_eq!(other.encode().unwrap(), before);
        }
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn topics_json(file in topics()) {
        let manager = || TopicConfigManager::new(&broker(), 1);
        let (one, other) = (manager(), manager());
        comes_back(&one, &other, &to_string_pretty(&file).unwrap());
        let held = one.all_topics();
        prop_assert_eq!(held.data_version, file.data_version);
        for (name, topic) in &file.topic_config_table {
            prop_assert_eq!(held.topics.get(name), Some(topic));
        }
    }

    #[test]
    fn subscription_group_json(file in groups()) {
        let manager = || SubscriptionGroupManager::new(&broker(), 1);
        let (one, other) = (manager(), manager());
        comes_back(&one, &other, &to_string_pretty(&file).unwrap());
        let saved: SubscriptionGroupWrapper = from_slice(one.encode().unwrap().as_bytes()).unwrap();
        prop_assert_eq!(saved.data_version, file.data_version);
        prop_assert_eq!(&saved.forbidden_table, &file.forbidden_table);
        for (name, group) in &file.subscription_group_table {
            prop_assert_eq!(saved.subscription_group_table.get(name), Some(group));
        }
    }

    #[test]
    fn consumer_offset_json(data_version in version(), offset_table in offsets(), pull_offset_table in offsets()) {
        let file = ConsumerOffsetSerializeWrapper {
            data_version, offset_table, pull_offset_table: Some(pull_offset_table), ..Default::default()
        };
        let manager = || ConsumerOffsetManager::new(1, 1);
        let (one, other) = (manager(), manager());
        comes_back(&one, &other, &to_string_pretty(&file).unwrap());
        let held = one.snapshot();
        prop_assert_eq!(
            (held.data_version, held.offset_table, held.pull_offset_table),
            (file.data_version, file.offset_table, file.pull_offset_table)
        );
    }

    #[test]
    fn lmq_consumer_offset_json(
        data_version in version(), offset_table in offsets(),
        light in prop::collection::btree_map("%LMQ%[a-z]{1,6}@%LMQ%[a-z]{1,6}", any::<i64>(), 0..4),
    ) {
        let file = ConsumerOffsetSerializeWrapper {
            data_version, offset_table, lmq_offset_table: Some(light), ..Default::default()
        };
        let manager = || ConsumerOffsetManager::new(1, 1).with_light_queues(true);
        let (one, other) = (manager(), manager());
        comes_back(&one, &other, &to_string_pretty(&file).unwrap());
        let saved: ConsumerOffsetSerializeWrapper = from_slice(one.encode().unwrap().as_bytes()).unwrap();
        prop_assert_eq!(
            (saved.data_version, saved.offset_table, saved.lmq_offset_table),
            (file.data_version, file.offset_table, file.lmq_offset_table)
        );
    }

    #[test]
    fn delay_offset_json(
        data_version in version(), offset_table in prop::collection::btree_map(any::<i32>(), any::<i64>(), 0..18),
    ) {
        let text = to_string_pretty(&DelayOffsetSerializeWrapper { data_version, offset_table }).unwrap();
        let (one, other) = (DelayOffsets::default(), DelayOffsets::default());
        comes_back(&one, &other, &text);
        prop_assert_eq!(one.encode().unwrap(), text);
    }
}
