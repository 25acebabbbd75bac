//! Opens a store directory with Apache's `DefaultMessageStore` and compares all it reads with what was sent.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use super::read_back::{call, check_lookups};
use crate::interop::Context;
use crate::interop::broker::Broker;
use crate::interop::compare::{Sent, host, physical_offset, same};
use crate::interop::messages::{INNER_MULTI_DISPATCH, Received, read_lines};

/// Where each light queue that a message names gave it its place.
const INNER_MULTI_QUEUE_OFFSET: &str = "INNER_MULTI_QUEUE_OFFSET";

/// A store to read, and what must be in it.
pub struct Reading<'a> {
    /// Names the files of the call.
    pub step: &'a str,
    pub store: &'a Path,
    /// Whom the messages were sent to. Apache's store is opened with its settings.
    pub broker: &'a Broker<'a>,
    /// Everything that was sent, in order. What lay before the first file of the log is gone.
    pub sent: &'a [Sent],
}

/// A message as a queue led to it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Unit {
    /// The queue's topic; the message has another one when this is a light queue.
    read_topic: String,
    read_offset: i64,
    tags_code: i64,
    /// Store time out of the unit's extension; absent without one.
    extension_store_time: Option<i64>,
    born_host: String,
    #[serde(flatten)]
    message: Received,
}

/// Where a queue begins and ends.
#[derive(Debug, Deserialize, PartialEq, Eq)]
struct Bounds {
    min: i64,
    max: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct QueueLine {
    topic: String,
    queue_id: i64,
    #[serde(flatten)]
    bounds: Bounds,
}

type Queues<'a> = BTreeMap<(&'a str, i64), Vec<(i64, &'a Sent)>>;

impl Reading<'_> {
    /// Reads and compares every queue, every message and some keys. Returns a remark for the report.
    ///
    /// # Errors
    /// When the store is refused or differs from what was sent.
    pub fn run(&self, context: &Context, directory: &Path) -> Result<String> {
        let queues = queues(self.sent);
        let log_start = log_start(self.store)?;
        let kept: Vec<Sent> = self
            .sent
            .iter()
            .filter_map(|sent| {
                self.lies_behind(sent, log_start).map(|kept| kept.then(|| sent.clone())).transpose()
            })
            .collect::<Result<_>>()?;

        let topics: BTreeSet<&str> = queues.keys().map(|(topic, _)| *topic).collect();
        let call = call(context, directory, self.step, "read-store", &topics, &kept)?;
        let (out, lookups) = (call.file("jsonl"), call.file("lookups.jsonl"));
        let (bounds, conf) = (call.file("queues.jsonl"), call.file("conf"));
        fs::write(&conf, self.broker.conf().to_string())
            .with_context(|| format!("cannot write {}", conf.display()))?;
        let ended = call
            .with("store", self.store.display())
            .with("conf", conf.display())
            .with("queues", bounds.display())
            .run()?;
        let compared = self.compare_messages(read_lines(&out)?, &kept, &queues);
        ended.explain(compared.with_context(|| format!("messages in {}", out.display())))?;
        self.compare_bounds(&read_lines(&bounds)?, &queues, log_start)
            .with_context(|| format!("queues in {}", bounds.display()))?;
        let found = check_lookups(&kept, &lookups)?;
        let gone = match self.sent.len() - kept.len() {
            0 => String::new(),
            gone => format!(" ({gone} deleted)"),
        };
        Ok(format!("{} messages{gone}, {} queues, {found} look-ups by key", kept.len(), queues.len()))
    }

    fn lies_behind(&self, sent: &Sent, log_start: i64) -> Result<bool> {
        Ok(physical_offset(&sent.acknowledged.offset_id, self.broker.socket())? >= log_start)
    }

    fn compare_messages(&self, units: Vec<Unit>, kept: &[Sent], queues: &Queues<'_>) -> Result<()> {
        let mut messages = Vec::new();
        let mut light: BTreeMap<String, BTreeMap<i64, String>> = BTreeMap::new();
        for unit in units {
            self.compare_unit(&unit).with_context(|| {
                format!("{} at offset {} of {}", unit.message.id(), unit.read_offset, unit.read_topic)
            })?;
            if unit.read_topic == unit.message.topic {
                messages.push(unit.message);
            } else {
                let id = unit.message.id().to_owned();
                let before = light.entry(unit.read_topic.clone()).or_default().insert(unit.read_offset, id);
                ensure!(before.is_none(), "offset {} of {} came twice", unit.read_offset, unit.read_topic);
            }
        }
        same(kept, &messages, self.broker.socket())?;
        for ((topic, _), expected) in queues.iter().filter(|((topic, _), _)| is_light(topic)) {
            let expected: BTreeMap<i64, String> =
                expected.iter().map(|(offset, sent)| (*offset, sent.planned.id.clone())).collect();
            let found = light.remove(*topic).unwrap_or_default();
            ensure!(expected == found, "{topic}: expected {expected:?}, found {found:?}");
        }
        Ok(())
    }

    /// What a queue says about its message.
    fn compare_unit(&self, unit: &Unit) -> Result<()> {
        let message = &unit.message;
        let tag = message.properties.get("TAGS").map_or(0, |tag| java_hash(tag));
        ensure!(unit.tags_code == tag, "tags code: expected {tag}, found {}", unit.tags_code);
        let extended = self.broker.conf().get("enableConsumeQueueExt") == Some("true");
        let expected = extended.then_some(message.store_timestamp);
        ensure!(
            unit.extension_store_time == expected,
            "store time in the extension: expected {expected:?}, found {:?}",
            unit.extension_store_time
        );
        let (expected, found) = (self.broker.socket().ip(), host(&unit.born_host)?.ip());
        ensure!(expected == found, "born host: expected {expected}, found {found}");
        if unit.read_topic == message.topic {
            let expected = message.queue_offset;
            ensure!(
                unit.read_offset == expected,
                "queue offset of the record: expected {}, found {expected}",
                unit.read_offset
            );
            return Ok(());
        }
        let property = |name| message.properties.get(name).map_or("", String::as_str).split(',');
        let place = property(INNER_MULTI_DISPATCH).position(|name| name == unit.read_topic);
        let noted = place.and_then(|place| property(INNER_MULTI_QUEUE_OFFSET).nth(place));
        ensure!(
            noted == Some(&unit.read_offset.to_string()),
            "offset of the light queue noted in the record: expected {}, found {noted:?}",
            unit.read_offset
        );
        Ok(())
    }

    fn compare_bounds(&self, lines: &[QueueLine], queues: &Queues<'_>, log_start: i64) -> Result<()> {
        let mut found: BTreeMap<(&str, i64), &Bounds> =
            lines.iter().map(|line| ((line.topic.as_str(), line.queue_id), &line.bounds)).collect();
        for ((topic, queue), messages) in queues {
            let max = messages.last().map_or(0, |(offset, _)| offset + 1);
            let mut min = max;
            for (offset, sent) in messages {
                if self.lies_behind(sent, log_start)? {
                    min = min.min(*offset);
                }
            }
            let expected = Bounds { min, max };
            let found = found.remove(&(*topic, *queue));
            ensure!(
                found == Some(&expected),
                "{topic} queue {queue}: expected {expected:?}, found {found:?}"
            );
        }
        ensure!(found.values().all(|bounds| bounds.max == 0), "queues that nobody sent to: {found:?}");
        Ok(())
    }
}

/// The messages of each queue by their offsets, light queues included.
fn queues(all: &[Sent]) -> Queues<'_> {
    let mut queues = Queues::new();
    for sent in all {
        let queue = (sent.topic.as_str(), sent.acknowledged.queue_id);
        queues.entry(queue).or_default().push((sent.acknowledged.queue_offset, sent));
        for name in sent.planned.light_queues() {
            let messages = queues.entry((name, 0)).or_default();
            messages.push((messages.len() as i64, sent));
        }
    }
    queues.values_mut().for_each(|messages| messages.sort_by_key(|(offset, _)| *offset));
    queues
}

fn is_light(topic: &str) -> bool {
    topic.starts_with("%LMQ%")
}

/// The first offset of the log: the smallest file name.
///
/// # Errors
/// When there is none.
pub(super) fn log_start(store: &Path) -> Result<i64> {
    let directory = store.join("commitlog");
    let mut first = None;
    for entry in fs::read_dir(&directory).with_context(|| format!("cannot list {}", directory.display()))? {
        let offset = entry?.file_name().to_str().and_then(|name| name.parse().ok());
        first = first.into_iter().chain(offset).min();
    }
    first.with_context(|| format!("no log file in {}", directory.display()))
}

/// `String.hashCode` of Java.
fn java_hash(text: &str) -> i64 {
    text.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit))).into()
}

#[cfg(test)]
mod tests {
    use super::java_hash;

    #[test]
    fn hashes_are_those_of_java() {
        assert_eq!(java_hash("Aa"), java_hash("BB"));
        assert_eq!((java_hash("TagA"), java_hash("polygenelubricants")), (2_598_919, -2_147_483_648));
    }
}
