//! The light queues that the messages of a put name, and their offsets there.

use super::{Shared, refuse_illegal};
use crate::put_result::{PutMessageStatus, PutResult};
use std::sync::Arc;
use store_logic::QueueHandle;
use store_logic::commit_log::RecordBatch;
use store_logic::message::{Message, sys_flag};
use store_logic::multi_dispatch;

/// Light queues of one put.
#[derive(Default)]
pub(super) struct LightQueues {
    /// Each of them once, and the offset that its next message gets.
    queues: Vec<(Arc<QueueHandle>, u64)>,
    /// Number of a record in the batch, and its places in `queues`, in the order in which it names them.
    records: Vec<(usize, Vec<usize>)>,
}

impl LightQueues {
    /// The names a message asks for; none while light queues are not served.
    pub(super) fn requested<'a>(shared: &Shared, message: &Message<'a>) -> Result<Vec<&'a str>, PutResult> {
        if !shared.config.multi_dispatch.is_on() || !sys_flag::is_visible(message.sys_flag) {
            return Ok(Vec::new());
        }
        multi_dispatch::requested(message.topic, message.queue_id, message.properties)
            .map_err(|error| PutResult::refused(PutMessageStatus::MessageIllegal, error.to_string()))
    }

    /// Notes that record number `record` goes to `names`.
    pub(super) fn add(&mut self, shared: &Shared, record: usize, names: &[&str]) -> Result<(), PutResult> {
        let places = names.iter().map(|name| self.place_of(shared, name)).collect::<Result<_, _>>()?;
        self.records.push((record, places));
        Ok(())
    }

    fn place_of(&mut self, shared: &Shared, name: &str) -> Result<usize, PutResult> {
        if let Some(place) = self.queues.iter().position(|(handle, _)| handle.queue.topic() == name) {
            return Ok(place);
        }
        self.queues.push((light_queue(shared, name)?, 0));
        Ok(self.queues.len() - 1)
    }

    /// Writes the offsets into the records. The tail is held.
    pub(super) fn assign(&mut self, shared: &Shared, batch: &mut RecordBatch) -> Result<(), PutResult> {
        for (handle, next) in &mut self.queues {
            if handle.is_deleted() {
                *handle = light_queue(shared, handle.queue.topic())?;
            }
            *next = handle.next_offset();
        }
        let mut offsets = Vec::new();
        for (record, places) in &self.records {
            offsets.clear();
            for place in places {
                let next = &mut self.queues[*place].1;
                offsets.push(*next);
                *next += 1;
            }
            batch.set_light_offsets(*record, &offsets).map_err(|error| refuse_illegal(&error))?;
            check_size(shared, batch.record_size(*record))?;
        }
        Ok(())
    }

    /// Notes that the offsets are given away: the records are in the log. The tail is held.
    pub(super) fn advance(&self) {
        for (handle, next) in &self.queues {
            handle.set_next_offset(*next);
        }
    }
}

/// Apache measures the whole record of such a message, not only its body.
fn check_size(shared: &Shared, found: u64) -> Result<(), PutResult> {
    let limit = u64::from(shared.config.commit_log.max_message_size);
    if found <= limit {
        return Ok(());
    }
    let reason = format!(
        "record of a message for light queues: expected at most maxMessageSize={limit} bytes, found {found}"
    );
    Err(PutResult::refused(PutMessageStatus::MessageIllegal, reason))
}

fn light_queue(shared: &Shared, name: &str) -> Result<Arc<QueueHandle>, PutResult> {
    let limit = shared.config.multi_dispatch.max_lmq_consume_queue_num;
    match shared.queues.get_or_create_light(name, limit) {
        Ok(Ok(handle)) => Ok(handle),
        Ok(Err(full)) => {
            Err(PutResult::refused(PutMessageStatus::LmqConsumeQueueNumExceeded, format!("{name}: {full}")))
        }
        Err(error) => Err(PutResult::refused(PutMessageStatus::MessageIllegal, error.to_string())),
    }
}
