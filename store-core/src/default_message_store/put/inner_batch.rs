//! Inner batches: one record that holds several messages, in topics with batch queues.
//!
//! The record's property `INNER_NUM` says how many there are, which is how many queue offsets it takes; the first of them
//! is written into it as `INNER_BASE` while the tail is held.

use super::{Shared, refuse_illegal};
use crate::put_result::{PutMessageStatus, PutResult};
use store_logic::commit_log::RecordBatch;
use store_logic::dispatch::inner_count;
use store_logic::message::properties::{self, names};
use store_logic::message::{Message, sys_flag};
use store_logic::{QueueHandle, QueueType};

/// The inner batch of a put.
pub(super) struct InnerBatch {
    count: u16,
}

impl InnerBatch {
    /// What the messages of a put have of it; `None` for ordinary ones.
    ///
    /// A count that does not belong to an inner batch would be taken for one by Apache's reader, one that is no number
    /// would end the log for it: such messages are refused.
    pub(super) fn of(shared: &Shared, messages: &[Message<'_>]) -> Result<Option<Self>, PutResult> {
        let mut found = None;
        for message in messages {
            let flagged = message.sys_flag & sys_flag::INNER_BATCH != 0;
            if !flagged && !properties::may_name_inner(message.properties) {
                continue;
            }
            let value = properties::get(message.properties, names::INNER_NUM);
            if !flagged && value.is_none() {
                continue;
            }
            let count = value.and_then(inner_count).filter(|_| flagged);
            let Some(count) = count else { return Err(refuse_flags(message, value)) };
            if shared.queues.queue_type(message.topic) != QueueType::BatchCq {
                let reason = format!(
                    "an inner batch: expected a topic with queue.type=BatchCQ, found {}",
                    message.topic
                );
                return Err(illegal(reason));
            }
            if messages.len() > 1 || !sys_flag::is_visible(message.sys_flag) {
                let reason = "an inner batch is put alone, and is no half message";
                return Err(illegal(reason.to_owned()));
            }
            found = Some(Self { count });
        }
        Ok(found)
    }

    /// Queue offsets that it takes.
    pub(super) fn count(&self) -> u64 {
        u64::from(self.count)
    }

    /// Encodes it.
    pub(super) fn push(
        &self,
        message: &Message<'_>,
        light_queues: &[&str],
        max_body: usize,
        batch: &mut RecordBatch,
    ) -> Result<(), PutResult> {
        if !light_queues.is_empty() {
            return Err(illegal(format!("an inner batch cannot go to light queues ({light_queues:?})")));
        }
        batch.push_inner_batch(message, max_body).map_err(|error| refuse_illegal(&error))?;
        Ok(())
    }

    /// Writes its first queue offset into the record. The tail is held.
    pub(super) fn assign(
        &self,
        handle: &QueueHandle,
        base: u64,
        batch: &mut RecordBatch,
    ) -> Result<(), PutResult> {
        // The topic may have been deleted and made anew since it was looked at.
        if handle.queue.kind() != QueueType::BatchCq {
            let topic = handle.queue.topic();
            return Err(illegal(format!("an inner batch: topic {topic} has no batch queues any more")));
        }
        batch.set_inner_base(0, base).map_err(|error| refuse_illegal(&error))
    }
}

fn refuse_flags(message: &Message<'_>, count: Option<&str>) -> PutResult {
    illegal(format!(
        "an inner batch: expected sysFlag {:#x} and {} from 1 to {}, found sysFlag {:#x} and {}",
        sys_flag::INNER_BATCH,
        names::INNER_NUM,
        i16::MAX,
        message.sys_flag,
        count.map_or("none".to_owned(), |count| format!("{count:?}"))
    ))
}

fn illegal(reason: String) -> PutResult {
    PutResult::refused(PutMessageStatus::MessageIllegal, reason)
}
