//! Which names topics and groups may have, and which topics belong to the broker.
//!
//! The remarks are those of Apache 5.5.0: clients show them to their users.

use std::collections::BTreeSet;

/// Model of topics that are created by the first send.
pub const AUTO_CREATE_TOPIC_KEY_TOPIC: &str = "TBW102";
/// Delayed messages, one queue a level.
pub const RMQ_SYS_SCHEDULE_TOPIC: &str = "SCHEDULE_TOPIC_XXXX";
/// Topic of Apache's benchmark programs.
pub const RMQ_SYS_BENCHMARK_TOPIC: &str = "BenchmarkTest";
/// Half messages of transactions.
pub const RMQ_SYS_TRANS_HALF_TOPIC: &str = "RMQ_SYS_TRANS_HALF_TOPIC";
/// Marks that end half messages.
pub const RMQ_SYS_TRANS_OP_HALF_TOPIC: &str = "RMQ_SYS_TRANS_OP_HALF_TOPIC";
/// Half messages when transactions are kept in RocksDB.
pub const RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC: &str = "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC";
/// Marks that end half messages when transactions are kept in RocksDB.
pub const RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC: &str = "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC";
/// Half messages that were checked too often.
pub const RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC: &str = "TRANS_CHECK_MAX_TIME_TOPIC";
/// Topic of the broker's self test.
pub const RMQ_SYS_SELF_TEST_TOPIC: &str = "SELF_TEST_TOPIC";
/// Events about moved offsets.
pub const RMQ_SYS_OFFSET_MOVED_EVENT: &str = "OFFSET_MOVED_EVENT";
/// Message traces.
pub const RMQ_SYS_TRACE_TOPIC: &str = "RMQ_SYS_TRACE_TOPIC";
/// Checkpoints; no broker creates it, the name is reserved.
pub const RMQ_SYS_CHECKPOINT_TOPIC: &str = "CHECKPOINT_TOPIC";
/// Messages of the timer wheel.
pub const TIMER_TOPIC: &str = "rmq_sys_wheel_timer";
/// Every topic that begins so belongs to the system.
pub const SYSTEM_TOPIC_PREFIX: &str = "rmq_sys_";
/// Retry topic of a group: this, then the group's name.
pub const RETRY_GROUP_TOPIC_PREFIX: &str = "%RETRY%";
/// Dead letter topic of a group: this, then the group's name.
pub const DLQ_GROUP_TOPIC_PREFIX: &str = "%DLQ%";

/// Longest topic name.
pub const TOPIC_MAX_LENGTH: usize = 127;
/// Longest name of a retry or dead letter topic.
pub const RETRY_OR_DLQ_TOPIC_MAX_LENGTH: usize = 255;
/// Longest group name.
pub const GROUP_MAX_LENGTH: usize = 120;

const LEGAL_NAME: &str = "^[%|a-zA-Z0-9_-]+$";

const SYSTEM_TOPICS: [&str; 12] = [
    AUTO_CREATE_TOPIC_KEY_TOPIC,
    RMQ_SYS_SCHEDULE_TOPIC,
    RMQ_SYS_BENCHMARK_TOPIC,
    RMQ_SYS_TRANS_HALF_TOPIC,
    RMQ_SYS_TRANS_OP_HALF_TOPIC,
    RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC,
    RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC,
    RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC,
    RMQ_SYS_SELF_TEST_TOPIC,
    RMQ_SYS_OFFSET_MOVED_EVENT,
    RMQ_SYS_TRACE_TOPIC,
    RMQ_SYS_CHECKPOINT_TOPIC,
];

const NOT_ALLOWED_SEND_TOPICS: [&str; 6] = [
    RMQ_SYS_SCHEDULE_TOPIC,
    RMQ_SYS_TRANS_HALF_TOPIC,
    RMQ_SYS_TRANS_OP_HALF_TOPIC,
    RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC,
    RMQ_SYS_SELF_TEST_TOPIC,
    RMQ_SYS_OFFSET_MOVED_EVENT,
];

/// Name of the retry topic of `group`.
pub fn retry_topic(group: &str) -> String {
    format!("{RETRY_GROUP_TOPIC_PREFIX}{group}")
}

/// Name of the dead letter topic of `group`.
pub fn dlq_topic(group: &str) -> String {
    format!("{DLQ_GROUP_TOPIC_PREFIX}{group}")
}

/// Checks a topic name.
///
/// # Errors
/// The remark of the answer (code 29) when the name is blank, too long or has an illegal character.
pub fn validate_topic(topic: &str) -> Result<(), String> {
    if topic.trim().is_empty() {
        return Err("The specified topic is blank.".to_owned());
    }
    if has_illegal_character(topic) {
        return Err(format!(
            "The specified topic: {topic}, contains illegal characters, allowing only {LEGAL_NAME}"
        ));
    }
    if topic.starts_with(RETRY_GROUP_TOPIC_PREFIX) || topic.starts_with(DLQ_GROUP_TOPIC_PREFIX) {
        if topic.len() > RETRY_OR_DLQ_TOPIC_MAX_LENGTH {
            return Err(format!(
                "The specified topic is DLQ or Retry topic: {topic}, and it's longer than topic max length: \
                 {RETRY_OR_DLQ_TOPIC_MAX_LENGTH}"
            ));
        }
    } else if topic.len() > TOPIC_MAX_LENGTH {
        return Err(format!(
            "The specified topic: {topic}, is longer than topic max length: {TOPIC_MAX_LENGTH}"
        ));
    }
    Ok(())
}

/// Checks a group name.
///
/// # Errors
/// The remark of the answer (code 29) when the name is blank, too long or has an illegal character.
pub fn validate_group(group: &str) -> Result<(), String> {
    if group.trim().is_empty() {
        return Err("The specified group is blank.".to_owned());
    }
    if has_illegal_character(group) {
        return Err(format!(
            "The specified group: {group}, contains illegal characters, allowing only {LEGAL_NAME}"
        ));
    }
    if group.len() > GROUP_MAX_LENGTH {
        return Err(format!(
            "The specified group: {group}, is longer than group max length: {GROUP_MAX_LENGTH}"
        ));
    }
    Ok(())
}

fn has_illegal_character(name: &str) -> bool {
    !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'%' | b'|' | b'_' | b'-'))
}

/// Knows the system topics of one broker: the fixed ones and those named after its cluster and itself.
#[derive(Debug, Clone)]
pub struct TopicValidator {
    system_topics: BTreeSet<String>,
}

impl TopicValidator {
    /// A validator for a broker `broker_name` of `cluster_name`, whose traces go to `trace_topic`.
    pub fn new(cluster_name: &str, broker_name: &str, trace_topic: &str) -> Self {
        let own = [
            TIMER_TOPIC.to_owned(),
            cluster_name.to_owned(),
            broker_name.to_owned(),
            trace_topic.to_owned(),
            reply_topic(cluster_name),
            revive_topic(cluster_name),
            sync_broker_member_topic(broker_name),
        ];
        Self { system_topics: SYSTEM_TOPICS.iter().map(|topic| (*topic).to_owned()).chain(own).collect() }
    }

    /// Whether `topic` belongs to the system.
    pub fn is_system_topic(&self, topic: &str) -> bool {
        topic.starts_with(SYSTEM_TOPIC_PREFIX) || self.system_topics.contains(topic)
    }

    /// Checks that an admin command may touch `topic`.
    ///
    /// # Errors
    /// The remark of the answer (code 29) for a system topic.
    pub fn validate_not_system_topic(&self, topic: &str) -> Result<(), String> {
        if self.is_system_topic(topic) {
            return Err(format!("The topic[{topic}] is conflict with system topic."));
        }
        Ok(())
    }

    /// Checks that a client may send to `topic`.
    ///
    /// # Errors
    /// The remark of the answer (code 16) when it may not.
    pub fn validate_send_topic(&self, topic: &str) -> Result<(), String> {
        if NOT_ALLOWED_SEND_TOPICS.contains(&topic) {
            return Err(format!("Sending message to topic[{topic}] is forbidden."));
        }
        Ok(())
    }

    /// All system topics, sorted (answer to code 305).
    pub fn system_topics(&self) -> impl Iterator<Item = &str> {
        self.system_topics.iter().map(String::as_str)
    }
}

/// Topic of request-reply answers.
pub(crate) fn reply_topic(cluster_name: &str) -> String {
    format!("{cluster_name}_REPLY_TOPIC")
}

/// Topic of POP revives.
pub(crate) fn revive_topic(cluster_name: &str) -> String {
    format!("{SYSTEM_TOPIC_PREFIX}REVIVE_LOG_{cluster_name}")
}

/// Topic by which the members of a broker group find each other.
pub(crate) fn sync_broker_member_topic(broker_name: &str) -> String {
    format!("{SYSTEM_TOPIC_PREFIX}SYNC_BROKER_MEMBER_{broker_name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topic_names() {
        for name in
            ["T", "Topic-1_a|b", "%RETRY%group", &"a".repeat(127), &format!("%DLQ%{}", "g".repeat(250))]
        {
            assert_eq!(validate_topic(name), Ok(()), "{name}");
        }
        assert_eq!(validate_topic(" \t"), Err("The specified topic is blank.".to_owned()));
        assert_eq!(
            validate_topic("bad topic!"),
            Err("The specified topic: bad topic!, contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$"
                .to_owned())
        );
        let long = "a".repeat(128);
        assert_eq!(
            validate_topic(&long),
            Err(format!("The specified topic: {long}, is longer than topic max length: 127"))
        );
        let long_retry = format!("%RETRY%{}", "g".repeat(249));
        assert!(validate_topic(&long_retry).unwrap_err().ends_with("longer than topic max length: 255"));
        for name in ["a.b", "主题", "a/b", "a b", "a\0"] {
            assert!(validate_topic(name).is_err(), "{name}");
        }
    }

    #[test]
    fn group_names() {
        assert_eq!(validate_group(&"g".repeat(120)), Ok(()));
        let long = "g".repeat(121);
        assert_eq!(
            validate_group(&long),
            Err(format!("The specified group: {long}, is longer than group max length: 120"))
        );
        assert_eq!(validate_group(""), Err("The specified group is blank.".to_owned()));
        assert!(validate_group("g.1").unwrap_err().starts_with("The specified group: g.1, contains illegal"));
    }

    #[test]
    fn system_topics_are_those_of_a_java_broker() {
        let validator = TopicValidator::new("golden", "broker-a", RMQ_SYS_TRACE_TOPIC);
        // The answer of a 5.5.0 broker to code 305.
        let java = [
            "golden_REPLY_TOPIC",
            "RMQ_SYS_TRANS_HALF_TOPIC",
            "BenchmarkTest",
            "TRANS_CHECK_MAX_TIME_TOPIC",
            "OFFSET_MOVED_EVENT",
            "TBW102",
            "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC",
            "SELF_TEST_TOPIC",
            "SCHEDULE_TOPIC_XXXX",
            "RMQ_SYS_TRACE_TOPIC",
            "rmq_sys_wheel_timer",
            "CHECKPOINT_TOPIC",
            "rmq_sys_REVIVE_LOG_golden",
            "rmq_sys_SYNC_BROKER_MEMBER_broker-a",
            "RMQ_SYS_TRANS_OP_HALF_TOPIC",
            "golden",
            "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC",
            "broker-a",
        ];
        assert_eq!(validator.system_topics().collect::<BTreeSet<_>>(), BTreeSet::from(java));
        assert!(validator.is_system_topic("rmq_sys_anything"));
        assert_eq!(
            validator.validate_not_system_topic("TBW102"),
            Err("The topic[TBW102] is conflict with system topic.".to_owned())
        );
        assert_eq!(validator.validate_not_system_topic("T"), Ok(()));
    }

    #[test]
    fn forbidden_sends() {
        let validator = TopicValidator::new("c", "b", RMQ_SYS_TRACE_TOPIC);
        assert_eq!(
            validator.validate_send_topic("SELF_TEST_TOPIC"),
            Err("Sending message to topic[SELF_TEST_TOPIC] is forbidden.".to_owned())
        );
        for topic in ["%RETRY%g", "%DLQ%g", "c", "b", "TBW102", "RMQ_SYS_TRACE_TOPIC"] {
            assert_eq!(validator.validate_send_topic(topic), Ok(()), "{topic}");
        }
    }
}
