//! One message by where it is or what it is called.

use super::StoreInspection;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use store_logic::commit_log::format::{self, Decoded, MessageView};
use store_logic::index_file::format::key_of;
use store_logic::inspect::InspectError;
use store_logic::inspectors::{BatchQueueReader, LogItem, QueuePlace, QueueReader, facts};
use store_logic::message::message_id;

/// Where a message is, or what it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageAddress {
    /// Position of its record in the log.
    Offset(u64),
    /// Its place in a queue.
    Queue {
        /// Topic.
        topic: String,
        /// Queue of the topic.
        queue_id: i32,
        /// Position in the queue.
        queue_offset: u64,
    },
    /// The id the broker gave it, or the one the client did; both are looked for.
    Id {
        /// The id.
        id: String,
        /// Topic, when it is known; without one all topics are tried.
        topic: Option<String>,
    },
    /// One of its keys.
    Key {
        /// The key.
        key: String,
        /// Topic, when it is known; without one all topics are tried.
        topic: Option<String>,
    },
}

/// Who is shown messages: position and record.
type Visit<'a> = dyn FnMut(u64, &MessageView<'_>) -> ControlFlow<()> + 'a;

impl StoreInspection {
    /// Shows the messages an address means, until `visit` breaks, and returns how many there were. Ids and keys are
    /// looked up in the index; only when that knows none is the log read from its beginning (`progress` is told how many
    /// bytes are done).
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn find(
        &self,
        address: &MessageAddress,
        progress: &mut dyn FnMut(u64),
        visit: &mut Visit<'_>,
    ) -> Result<u64, InspectError> {
        match address {
            MessageAddress::Offset(offset) => self.find_at(*offset, visit),
            MessageAddress::Queue { topic, queue_id, queue_offset } if self.has_batch_queues(topic) => {
                let directory = self.paths.batch_consume_queue().join(topic).join(queue_id.to_string());
                match BatchQueueReader::open(&self.env, &directory)?.unit_of(*queue_offset)? {
                    Some(unit) => self.find_at(unit.phy_offset, visit),
                    None => Ok(0),
                }
            }
            MessageAddress::Queue { topic, queue_id, queue_offset } => {
                let directory = self.paths.consume_queue().join(topic).join(queue_id.to_string());
                match QueueReader::open(&self.env, &directory)?.place(*queue_offset)? {
                    QueuePlace::Unit(unit) => self.find_at(unit.phy_offset, visit),
                    _ => Ok(0),
                }
            }
            MessageAddress::Id { id, topic } => {
                let topic = topic.as_deref();
                if let Some(found) = self.find_by_offset_id(id, true, visit)? {
                    return Ok(found);
                }
                match self.find_in_index(id, topic, visit)? {
                    0 => {}
                    found => return Ok(found),
                }
                // An id from before the broker moved to another address: its offset counts.
                if let Some(found) = self.find_by_offset_id(id, false, visit)? {
                    return Ok(found);
                }
                self.find_in_log(id, topic, progress, visit)
            }
            MessageAddress::Key { key, topic } => self.find_by_key(key, topic.as_deref(), progress, visit),
        }
    }

    fn find_at(&self, offset: u64, visit: &mut Visit<'_>) -> Result<u64, InspectError> {
        let Some(record) = self.log()?.without_crc().record_at(offset)? else { return Ok(0) };
        if let Ok(Decoded::Record(view)) = format::decode(&record, false) {
            let _ = visit(offset, &view);
            return Ok(1);
        }
        Ok(0)
    }

    /// `None` when the text is no such id or its place holds no record of that broker address: a client's id may look
    /// the same.
    fn find_by_offset_id(
        &self,
        id: &str,
        same_host: bool,
        visit: &mut Visit<'_>,
    ) -> Result<Option<u64>, InspectError> {
        let Some((host, offset)) = message_id::decode(id) else { return Ok(None) };
        let Some(record) = self.log()?.without_crc().record_at(offset)? else { return Ok(None) };
        match format::decode(&record, false) {
            Ok(Decoded::Record(view)) if !same_host || view.store_host == host => {
                let _ = visit(offset, &view);
                Ok(Some(1))
            }
            _ => Ok(None),
        }
    }

    fn find_by_key(
        &self,
        key: &str,
        topic: Option<&str>,
        progress: &mut dyn FnMut(u64),
        visit: &mut Visit<'_>,
    ) -> Result<u64, InspectError> {
        match self.find_in_index(key, topic, visit)? {
            0 => self.find_in_log(key, topic, progress, visit),
            found => Ok(found),
        }
    }

    fn find_in_index(
        &self,
        key: &str,
        topic: Option<&str>,
        visit: &mut Visit<'_>,
    ) -> Result<u64, InspectError> {
        let topics: BTreeSet<String> = match topic {
            Some(topic) => [topic.to_owned()].into(),
            None => {
                let queues = self.queues()?.into_iter().chain(self.batch_queues()?);
                queues.map(|queue| queue.topic).collect()
            }
        };
        let mut log = self.log()?.without_crc();
        let mut found = 0;
        for path in self.index_files()?.into_iter().rev() {
            let index = self.open_index(&path)?;
            for topic in &topics {
                let mut offsets = Vec::new();
                index.lookup(&key_of(topic, key), &mut |offset| {
                    offsets.push(offset);
                    ControlFlow::Continue(())
                })?;
                offsets.dedup();
                for offset in offsets {
                    let Some(record) = log.record_at(offset)? else { continue };
                    let Ok(Decoded::Record(view)) = format::decode(&record, false) else { continue };
                    // The index knows hashes only.
                    if view.topic != topic || !carries(offset, &view, key) {
                        continue;
                    }
                    found += 1;
                    if visit(offset, &view).is_break() {
                        return Ok(found);
                    }
                }
            }
        }
        Ok(found)
    }

    fn find_in_log(
        &self,
        key: &str,
        topic: Option<&str>,
        progress: &mut dyn FnMut(u64),
        visit: &mut Visit<'_>,
    ) -> Result<u64, InspectError> {
        let mut log = self.log()?.without_crc();
        let start = log.min_offset();
        let mut found = 0;
        log.walk(start, u64::MAX, &mut |offset, item| {
            progress(offset - start);
            match item {
                LogItem::Record(view)
                    if topic.is_none_or(|topic| topic == view.topic) && carries(offset, view, key) =>
                {
                    found += 1;
                    visit(offset, view)
                }
                _ => ControlFlow::Continue(()),
            }
        })?;
        Ok(found)
    }
}

/// True when the record carries the key or unique id.
fn carries(offset: u64, view: &MessageView<'_>, key: &str) -> bool {
    let facts = facts(offset, view);
    facts.uniq_key == Some(key) || facts.keys.is_some_and(|keys| keys.split(' ').any(|one| one == key))
}
