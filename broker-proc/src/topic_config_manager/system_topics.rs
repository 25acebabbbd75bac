//! The topics every broker has.

use crate::broker_config::BrokerConfig;
use crate::remoting::protocol::TopicConfig;
use crate::topic_validator as names;

/// Topics are inherited by new ones.
pub(super) const PERM_INHERIT: i32 = 1;
/// Clients may send.
pub(super) const PERM_WRITE: i32 = 2;
/// Clients may pull.
pub(super) const PERM_READ: i32 = 4;
const PERM_READ_WRITE: i32 = PERM_READ | PERM_WRITE;

/// Queues of the schedule topic: one for each level of Apache's table.
const SCHEDULE_TOPIC_QUEUE_NUM: i32 = 18;

/// The system topics of a broker; which there are depends on its configuration.
pub(super) fn system_topics(config: &BrokerConfig) -> Vec<TopicConfig> {
    let cluster = config.broker_cluster_name.as_str();
    let broker = config.broker_name.as_str();
    let open_if = |enabled: bool| if enabled { PERM_READ_WRITE | PERM_INHERIT } else { PERM_INHERIT };
    let mut topics = vec![
        topic(names::RMQ_SYS_SELF_TEST_TOPIC, 1, PERM_READ_WRITE),
        topic(names::RMQ_SYS_BENCHMARK_TOPIC, 1024, PERM_READ_WRITE),
        topic(cluster, 16, open_if(config.cluster_topic_enable)),
        topic(broker, 1, open_if(config.broker_topic_enable)),
        topic(names::RMQ_SYS_OFFSET_MOVED_EVENT, 1, PERM_READ_WRITE),
        topic(names::RMQ_SYS_SCHEDULE_TOPIC, SCHEDULE_TOPIC_QUEUE_NUM, PERM_READ_WRITE),
        topic(&names::reply_topic(cluster), 1, PERM_READ_WRITE),
        topic(&names::revive_topic(cluster), config.revive_queue_num, PERM_READ_WRITE),
        topic(&names::sync_broker_member_topic(broker), 1, PERM_INHERIT),
        topic(names::RMQ_SYS_TRANS_HALF_TOPIC, 1, PERM_READ_WRITE),
        topic(names::RMQ_SYS_TRANS_OP_HALF_TOPIC, 1, PERM_READ_WRITE),
        topic(names::RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC, 1, PERM_READ_WRITE),
        topic(names::RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC, 1, PERM_READ_WRITE),
    ];
    if config.auto_create_topic_enable {
        let queues = config.default_topic_queue_nums;
        topics.push(topic(names::AUTO_CREATE_TOPIC_KEY_TOPIC, queues, PERM_READ_WRITE | PERM_INHERIT));
    }
    if config.trace_topic_enable {
        topics.push(topic(&config.msg_trace_topic_name, 1, PERM_READ_WRITE));
    }
    if config.timer_wheel_enable {
        topics.push(topic(names::TIMER_TOPIC, 1, PERM_READ_WRITE));
    }
    topics
}

fn topic(name: &str, queues: i32, perm: i32) -> TopicConfig {
    TopicConfig {
        topic_name: name.to_owned(),
        read_queue_nums: queues,
        write_queue_nums: queues,
        perm,
        ..TopicConfig::default()
    }
}
