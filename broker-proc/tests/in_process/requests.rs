//! Requests as clients make them.

use broker_proc::remoting::headers::{
    ConsumerSendMsgBackRequestHeader, CreateTopicRequestHeader, PullMessageRequestHeader, QueueRequestHeader,
    SendMessageRequestHeader, TopicRequestHeader, UpdateConsumerOffsetRequestHeader, pull_sys_flag,
};
use broker_proc::remoting::protocol::{
    ConsumeFromWhere, ConsumeType, ConsumerData, HeartbeatData, MessageModel, ProducerData, SubscriptionData,
};
use broker_proc::remoting::{RemotingCommand, request_code};

/// A property string.
pub fn properties(pairs: &[(&str, &str)]) -> String {
    pairs.iter().map(|(name, value)| format!("{name}\u{1}{value}\u{2}")).collect()
}

/// Header of a send; new topics get up to four queues.
pub fn send_header(topic: &str, queue_id: i32) -> SendMessageRequestHeader {
    SendMessageRequestHeader {
        producer_group: "producers".to_owned(),
        topic: topic.to_owned(),
        default_topic: "TBW102".to_owned(),
        default_topic_queue_nums: 4,
        queue_id,
        born_timestamp: 1_700_000_000_000,
        ..Default::default()
    }
}

/// A send of `code` with its header.
pub fn send_with(code: i32, header: &SendMessageRequestHeader, body: impl Into<Vec<u8>>) -> RemotingCommand {
    let mut request = RemotingCommand::request(code).with_body(body.into());
    request.ext_fields = Some(header.encode_for(code));
    request
}

/// A send as Java's clients make it.
pub fn send(topic: &str, queue_id: i32, body: &str, properties: &str) -> RemotingCommand {
    let properties = Some(properties.to_owned());
    let header = SendMessageRequestHeader { properties, ..send_header(topic, queue_id) };
    send_with(request_code::SEND_MESSAGE_V2, &header, body)
}

/// Body of a batch.
pub fn batch_body(messages: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (body, properties) in messages {
        let total = 4 * 5 + body.len() + 2 + properties.len();
        for field in [total, 0, 0, 7, body.len()] {
            bytes.extend_from_slice(&u32::try_from(field).unwrap().to_be_bytes());
        }
        bytes.extend_from_slice(body.as_bytes());
        bytes.extend_from_slice(&u16::try_from(properties.len()).unwrap().to_be_bytes());
        bytes.extend_from_slice(properties.as_bytes());
    }
    bytes
}

/// Header of a pull that carries its filter and does not wait.
pub fn pull_header(group: &str, topic: &str, queue_id: i32, offset: i64) -> PullMessageRequestHeader {
    PullMessageRequestHeader {
        consumer_group: group.to_owned(),
        topic: topic.to_owned(),
        queue_id,
        queue_offset: offset,
        max_msg_nums: 32,
        sys_flag: pull_sys_flag::SUBSCRIPTION,
        subscription: Some("*".to_owned()),
        ..Default::default()
    }
}

/// Header of a pull that waits for messages of some tags.
pub fn waiting_pull_header(
    group: &str,
    topic: &str,
    queue_id: i32,
    offset: i64,
    expression: &str,
) -> PullMessageRequestHeader {
    PullMessageRequestHeader {
        sys_flag: pull_sys_flag::SUBSCRIPTION | pull_sys_flag::SUSPEND,
        suspend_timeout_millis: 20_000,
        subscription: Some(expression.to_owned()),
        ..pull_header(group, topic, queue_id, offset)
    }
}

/// A pull.
pub fn pull_with(header: &PullMessageRequestHeader) -> RemotingCommand {
    RemotingCommand::request_with(request_code::PULL_MESSAGE, header)
}

/// A request of `code` that names a queue.
pub fn queue(code: i32, topic: &str, queue_id: i32) -> RemotingCommand {
    RemotingCommand::request_with(code, &QueueRequestHeader { topic: topic.to_owned(), queue_id })
}

/// A request of `code` that names a topic.
pub fn topic(code: i32, topic: &str) -> RemotingCommand {
    RemotingCommand::request_with(code, &TopicRequestHeader { topic: topic.to_owned() })
}

/// Header that makes a topic.
pub fn topic_header(topic: &str, queues: i32) -> CreateTopicRequestHeader {
    CreateTopicRequestHeader {
        topic: topic.to_owned(),
        default_topic: "TBW102".to_owned(),
        read_queue_nums: queues,
        write_queue_nums: queues,
        perm: 6,
        topic_filter_type: "SINGLE_TAG".to_owned(),
        ..Default::default()
    }
}

/// A request that makes a topic.
pub fn create_topic(topic: &str, queues: i32) -> RemotingCommand {
    RemotingCommand::request_with(request_code::UPDATE_AND_CREATE_TOPIC, &topic_header(topic, queues))
}

/// A commit of an offset.
pub fn commit(group: &str, topic: &str, queue_id: i32, offset: i64) -> RemotingCommand {
    RemotingCommand::request_with(
        request_code::UPDATE_CONSUMER_OFFSET,
        &UpdateConsumerOffsetRequestHeader {
            consumer_group: group.to_owned(),
            topic: topic.to_owned(),
            queue_id: Some(queue_id),
            commit_offset: Some(offset),
        },
    )
}

/// A message handed back.
pub fn send_back(header: &ConsumerSendMsgBackRequestHeader) -> RemotingCommand {
    RemotingCommand::request_with(request_code::CONSUMER_SEND_MSG_BACK, header)
}

/// A subscription of a heartbeat.
pub fn subscription(topic: &str, expression: &str, version: i64) -> SubscriptionData {
    SubscriptionData {
        topic: topic.to_owned(),
        sub_string: expression.to_owned(),
        sub_version: version,
        ..Default::default()
    }
}

/// The group of a heartbeat.
pub fn consumer(group: &str, subscriptions: Vec<SubscriptionData>) -> ConsumerData {
    ConsumerData {
        group_name: group.to_owned(),
        consume_type: ConsumeType::ConsumePassively,
        message_model: MessageModel::Clustering,
        consume_from_where: ConsumeFromWhere::ConsumeFromFirstOffset,
        subscription_data_set: subscriptions,
        unit_mode: false,
    }
}

/// A heartbeat.
pub fn heartbeat(client_id: &str, producer_groups: &[&str], consumers: Vec<ConsumerData>) -> RemotingCommand {
    let data = HeartbeatData {
        client_id: client_id.to_owned(),
        producer_data_set: producer_groups
            .iter()
            .map(|group| ProducerData { group_name: (*group).to_owned() })
            .collect(),
        consumer_data_set: consumers,
        ..Default::default()
    };
    RemotingCommand::request(request_code::HEART_BEAT).with_json_body(&data).unwrap()
}
