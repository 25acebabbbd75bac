//! Light message queues (LMQ): one record that stands in several queues.
//!
//! A message names light queues in its property `INNER_MULTI_DISPATCH`, separated by commas; their names begin with
//! [`LMQ_PREFIX`]. While the tail of the log is held, the store adds the property `INNER_MULTI_QUEUE_OFFSET`: the offset
//! of the message in each of them, in the same order. Dispatch reads both and puts a unit into queue 0 of each name, so
//! that a recovery finds every place again in the record itself.
//!
//! Java's `String.split` makes the elements: empty ones at the end do not count.
//!
//! What may be a light queue is decided in one place for put and dispatch, so that no offset is given to a name that
//! gets no unit. A put refuses other names ([`requested`]); dispatch passes them over in records that Apache wrote
//! ([`assigned`]).

use crate::consume_queue_table::is_directory_name;
use crate::dispatch::SCHEDULE_TOPIC;
use crate::message::properties::{self, NAME_VALUE_SEPARATOR, PROPERTY_SEPARATOR, names};
use std::fmt::Write;

/// Names of light queues begin so.
pub const LMQ_PREFIX: &str = "%LMQ%";
/// Queue id of every light queue.
pub const LMQ_QUEUE_ID: i32 = 0;

/// Between names, and between offsets.
const SEPARATOR: char = ',';
/// Topics of retries: their messages have had their places in light queues.
const RETRY_PREFIX: &str = "%RETRY%";
/// Topics of the broker itself.
const SYSTEM_PREFIX: &str = "rmq_sys_";
/// Topics of half messages and of what became of them, which nobody may see before their commit.
const HALF_TOPICS: [&str; 2] = ["RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC"];

/// Why a message cannot go to the light queues it names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadLightQueue {
    /// An element is no name of a light queue.
    #[error("{}: expected names of light queues ({LMQ_PREFIX}, then 1 to {} bytes without /, \\ and NUL), found {found:?}", names::INNER_MULTI_DISPATCH, crate::consume_queue_table::MAX_NAME - LMQ_PREFIX.len())]
    Name {
        /// The element.
        found: String,
    },
    /// A name comes twice, or is the queue the message is sent to: the message would need two places in it.
    #[error("{}: expected each light queue once, found {found:?} again", names::INNER_MULTI_DISPATCH)]
    Twice {
        /// The name.
        found: String,
    },
}

/// True for names of light queues: the prefix, something behind it, and what can name a directory.
pub fn is_light_queue(name: &str) -> bool {
    name.strip_prefix(LMQ_PREFIX).is_some_and(|rest| !rest.is_empty()) && is_directory_name(name)
}

/// Whether messages of a topic go to the light queues they name (`MultiDispatchUtils.isNeedHandleMultiDispatch`).
fn is_dispatched(topic: &str) -> bool {
    !topic.starts_with(RETRY_PREFIX) && !topic.starts_with(SYSTEM_PREFIX) && topic != SCHEDULE_TOPIC
}

/// The light queues that a message for `queue_id` of `topic` is to be put into; none when it names none, or when its
/// topic's messages do not go there.
///
/// # Errors
///
/// [`BadLightQueue`]; a client must not believe that the message is where it is not.
pub fn requested<'a>(topic: &str, queue_id: i32, properties: &'a str) -> Result<Vec<&'a str>, BadLightQueue> {
    if !is_dispatched(topic) || HALF_TOPICS.contains(&topic) {
        return Ok(Vec::new());
    }
    let Some(value) = properties::get(properties, names::INNER_MULTI_DISPATCH) else { return Ok(Vec::new()) };
    if value.trim().is_empty() {
        return Ok(Vec::new());
    }
    let found = split(value);
    if found.is_empty() {
        return Err(BadLightQueue::Name { found: value.to_owned() });
    }
    for (number, name) in found.iter().enumerate() {
        if !is_light_queue(name) {
            return Err(BadLightQueue::Name { found: (*name).to_owned() });
        }
        if found[..number].contains(name) || (*name == topic && queue_id == LMQ_QUEUE_ID) {
            return Err(BadLightQueue::Twice { found: (*name).to_owned() });
        }
    }
    Ok(found)
}

/// The places a record has in light queues: name and queue offset. `names` and `offsets` are its two properties. Lists
/// of different lengths say nothing; elements that are no place are passed over.
pub fn assigned<'a>(
    topic: &str,
    names: Option<&'a str>,
    offsets: Option<&'a str>,
) -> impl Iterator<Item = (&'a str, u64)> + use<'a> {
    let (names, offsets) = match (names, offsets) {
        (Some(names), Some(offsets)) if is_dispatched(topic) => (split(names), split(offsets)),
        _ => (Vec::new(), Vec::new()),
    };
    let equal = names.len() == offsets.len();
    let places = names.into_iter().zip(offsets).filter(move |_| equal);
    places.filter_map(|(name, offset)| {
        let offset = offset.parse().ok().filter(|offset| i64::try_from(*offset).is_ok())?;
        is_light_queue(name).then_some((name, offset))
    })
}

/// The property that holds the offsets, with its separators.
pub fn offsets_property(offsets: &[u64]) -> String {
    let mut text = format!("{}{NAME_VALUE_SEPARATOR}", names::INNER_MULTI_QUEUE_OFFSET);
    for (number, offset) in offsets.iter().enumerate() {
        if number > 0 {
            text.push(SEPARATOR);
        }
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{offset}");
    }
    text.push(PROPERTY_SEPARATOR);
    text
}

/// `String.split(",")`.
fn split(text: &str) -> Vec<&str> {
    let used = text.trim_end_matches(SEPARATOR);
    if used.is_empty() { Vec::new() } else { used.split(SEPARATOR).collect() }
}

#[cfg(test)]
mod tests;
