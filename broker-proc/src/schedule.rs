//! Messages delayed by level: they wait in a topic of their own, one queue per level, and are put again when due.

mod delay_offsets;
mod schedule_message_service;

pub use delay_offsets::DelayOffsets;
pub use schedule_message_service::ScheduleMessageService;

use crate::processor::Refusal;
use crate::remoting::response_code;
use crate::topic_validator::RMQ_SYS_SCHEDULE_TOPIC;
use store_core::config::DelayLevels;
use store_core::properties::{Properties, names};

/// Sends a delayed message to the waiting topic; its own topic and queue go into its properties.
///
/// # Errors
///
/// A level that is no number, and arbitrary delays, which need the timer wheel.
pub fn redirect_delayed(
    levels: &DelayLevels,
    properties: &mut Properties,
    topic: &mut String,
    queue_id: &mut i32,
) -> Result<(), Refusal> {
    let level = match properties.get(names::DELAY_TIME_LEVEL) {
        Some(text) => text.parse::<i32>().map_err(|_| {
            let remark =
                format!("property {}: expected a delay level, found {text:?}", names::DELAY_TIME_LEVEL);
            Refusal::new(response_code::MESSAGE_ILLEGAL, remark)
        })?,
        None => 0,
    };
    if level <= 0 {
        return refuse_timer(properties);
    }
    let level = level.min(levels.max_level());
    properties.set(names::DELAY_TIME_LEVEL, &level.to_string());
    properties.set(names::REAL_TOPIC, topic);
    properties.set(names::REAL_QUEUE_ID, &queue_id.to_string());
    RMQ_SYS_SCHEDULE_TOPIC.clone_into(topic);
    *queue_id = queue_of_level(level);
    Ok(())
}

/// Queue in which messages of a level wait.
pub fn queue_of_level(level: i32) -> i32 {
    level - 1
}

fn refuse_timer(properties: &Properties) -> Result<(), Refusal> {
    let timed = [names::TIMER_DELAY_SEC, names::TIMER_DELAY_MS, names::TIMER_DELIVER_MS];
    match timed.into_iter().find(|name| properties.get(name).is_some()) {
        None => Ok(()),
        Some(name) => {
            let remark =
                format!("property {name}: the timer wheel is not served by this release, use delay levels");
            Err(Refusal::new(response_code::SYSTEM_ERROR, remark))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_F84_levels_are_clamped_and_targets_kept() {
        let levels = DelayLevels::default();
        let mut properties = Properties::parse("DELAY\u{1}25\u{2}K\u{1}v\u{2}");
        let (mut topic, mut queue) = ("T".to_owned(), 3);
        redirect_delayed(&levels, &mut properties, &mut topic, &mut queue).unwrap();
        assert_eq!((topic.as_str(), queue), ("SCHEDULE_TOPIC_XXXX", 17));
        assert_eq!(
            properties.encode(),
            "DELAY\u{1}18\u{2}K\u{1}v\u{2}REAL_TOPIC\u{1}T\u{2}REAL_QID\u{1}3\u{2}"
        );
    }

    #[test]
    fn other_messages_pass() {
        let levels = DelayLevels::default();
        for text in ["", "DELAY\u{1}0\u{2}", "DELAY\u{1}-1\u{2}"] {
            let mut properties = Properties::parse(text);
            let (mut topic, mut queue) = ("T".to_owned(), 3);
            redirect_delayed(&levels, &mut properties, &mut topic, &mut queue).unwrap();
            assert_eq!((topic.as_str(), queue), ("T", 3));
        }
        for text in ["DELAY\u{1}x\u{2}", "TIMER_DELAY_SEC\u{1}1\u{2}"] {
            let mut properties = Properties::parse(text);
            assert!(redirect_delayed(&levels, &mut properties, &mut "T".to_owned(), &mut 0).is_err());
        }
    }
}
