//! What a load needs around itself: its topic, and how far the topic's queues go.

use super::link::Link;
use crate::remoting::headers::{CreateTopicRequestHeader, TopicRequestHeader};
use crate::remoting::protocol::TopicConfigAndQueueMapping;
use crate::remoting::{RemotingCommand, request_code, response_code};
use anyhow::{Context as _, Result, ensure};

/// Permission to read and to write.
const PERM_READ_WRITE: i32 = 6;

/// Makes a topic of that many queues.
///
/// # Errors
///
/// The broker refused.
pub(in super::super) fn create_topic(link: &mut Link, topic: &str, queues: u32) -> Result<()> {
    let queues = i32::try_from(queues)?;
    let header = CreateTopicRequestHeader {
        topic: topic.to_owned(),
        default_topic: "TBW102".to_owned(),
        read_queue_nums: queues,
        write_queue_nums: queues,
        perm: PERM_READ_WRITE,
        topic_filter_type: "SINGLE_TAG".to_owned(),
        topic_sys_flag: Some(0),
        ..Default::default()
    };
    expect_success(link, RemotingCommand::request_with(request_code::UPDATE_AND_CREATE_TOPIC, &header))?;
    Ok(())
}

/// Deletes a topic.
///
/// # Errors
///
/// The broker refused.
pub(in super::super) fn delete_topic(link: &mut Link, topic: &str) -> Result<()> {
    let header = TopicRequestHeader { topic: topic.to_owned() };
    expect_success(link, RemotingCommand::request_with(request_code::DELETE_TOPIC_IN_BROKER, &header))?;
    Ok(())
}

/// The offset that the next message of a queue gets.
///
/// # Errors
///
/// The broker refused.
pub(super) fn max_offset(link: &mut Link, topic: &str, queue: u32) -> Result<u64> {
    let request = RemotingCommand::request(request_code::GET_MAX_OFFSET)
        .with_field("topic", topic)
        .with_field("queueId", &queue.to_string())
        .with_field("committed", "true");
    let answer = expect_success(link, request)?;
    number_field(&answer, "offset")
}

/// A field that is a number and has to be there.
///
/// # Errors
///
/// It is not there or no number.
pub(super) fn number_field(answer: &RemotingCommand, name: &str) -> Result<u64> {
    let text = answer.ext_fields.as_ref().and_then(|fields| fields.get(name));
    let text = text.with_context(|| format!("an answer without {name}"))?;
    text.parse().with_context(|| format!("{name}: expected a number, found {text:?}"))
}

fn expect_success(link: &mut Link, request: RemotingCommand) -> Result<RemotingCommand> {
    let name = request.code_name();
    let answer = link.call(request)?;
    ensure!(
        answer.code == response_code::SUCCESS,
        "{name}: refused with {}: {}",
        answer.code,
        answer.remark.unwrap_or_default()
    );
    Ok(answer)
}

/// Whether a topic is there and has that many queues.
///
/// # Errors
///
/// The answer cannot be read.
pub(in super::super) fn has_topic(link: &mut Link, topic: &str, queues: u32) -> Result<bool> {
    let request = RemotingCommand::request(request_code::GET_TOPIC_CONFIG).with_field("topic", topic);
    let answer = link.call(request)?;
    if answer.code != response_code::SUCCESS {
        return Ok(false);
    }
    let found: TopicConfigAndQueueMapping = answer.decode_body().context("the answer to GET_TOPIC_CONFIG")?;
    Ok(found.topic_config.write_queue_nums == i32::try_from(queues)?)
}
