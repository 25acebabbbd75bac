//! A message's way into the log: checked and encoded first, placed while the tail is held, answered when durable.

mod inner_batch;
mod light_queues;

use super::Shared;
use crate::config::{BrokerRole, FlushDiskType};
use crate::put_result::{AppendResult, PutMessageStatus, PutResult};
use crate::put_ticket::PutTicket;
use crate::sync::{Arc, thread_local};
use inner_batch::InnerBatch;
use light_queues::LightQueues;
use std::cell::RefCell;
use std::time::Duration;
use store_logic::QueueHandle;
use store_logic::commit_log::format::{EncodeError, MAX_V1_TOPIC};
use store_logic::commit_log::{AppendError, Appended, RecordBatch};
use store_logic::message::properties::{self, names};
use store_logic::message::{Message, sys_flag};

/// A thread's encoding buffer beyond this is given back after use.
const BUFFER_KEPT: usize = 1 << 20;

thread_local! {
    static BUFFER: RefCell<RecordBatch> = RefCell::new(RecordBatch::new());
}

impl Shared {
    /// Stores messages of one topic and queue together.
    pub(crate) fn put(&self, messages: &[Message<'_>]) -> PutTicket {
        let began = self.env.clock().monotonic();
        let put = BUFFER.with(|batch| {
            let mut batch = batch.borrow_mut();
            batch.clear();
            let put = self.encode_and_append(messages, &mut batch);
            if batch.capacity() > BUFFER_KEPT {
                *batch = RecordBatch::new();
            }
            put
        });
        match put {
            Ok((appended, result)) => {
                let bytes = appended.end_offset - appended.phy_offset;
                let took = self.env.clock().monotonic().saturating_sub(began);
                let count = result.appended.as_ref().map_or(0, |appended| appended.message_count);
                self.stats.count_put(count, bytes, took);
                self.wake_after_put();
                let waits = self.waits_for_disk(&messages[0]);
                if !waits {
                    self.stats.count_put_answer(took);
                }
                self.answer_when_durable(waits, began, appended.end_offset, result)
            }
            Err(refused) => {
                self.stats.count_put_failed();
                PutTicket::done(refused)
            }
        }
    }

    /// Wakes whoever has to do with new records next: the committer while they stand in a write buffer, else dispatch.
    fn wake_after_put(&self) {
        if self.pool.is_none() || self.log.files().uncommitted_bytes() == 0 {
            self.dispatch_wakeup.wake();
        } else if self.config.pool.wake_commit_when_put_message {
            self.commit_wakeup.wake();
        }
    }

    fn encode_and_append(
        &self,
        messages: &[Message<'_>],
        batch: &mut RecordBatch,
    ) -> Result<(Appended, PutResult), PutResult> {
        self.check_before_put(messages)?;
        let max_body = self.config.commit_log.max_message_size as usize;
        batch.append_record_crc(self.config.commit_log.enabled_append_prop_crc);
        let mut light_queues = LightQueues::default();
        let inner = InnerBatch::of(self, messages)?;
        for message in messages {
            let names = LightQueues::requested(self, message)?;
            if let Some(inner) = &inner {
                inner.push(message, &names, max_body, batch)?;
            } else if names.is_empty() {
                batch.push(message, max_body).map_err(|error| refuse_illegal(&error))?;
            } else {
                let record = batch.push_multi_dispatch(message, max_body);
                light_queues.add(self, record.map_err(|error| refuse_illegal(&error))?, &names)?;
            }
        }
        self.log.check_fits(batch).map_err(|error| refuse_illegal(&error))?;
        let first = &messages[0];
        let handle = self.queue_of(first)?;
        self.append(first, handle, inner.as_ref(), &mut light_queues, batch)
    }

    fn append(
        &self,
        first: &Message<'_>,
        mut handle: Arc<QueueHandle>,
        inner: Option<&InnerBatch>,
        light_queues: &mut LightQueues,
        batch: &mut RecordBatch,
    ) -> Result<(Appended, PutResult), PutResult> {
        let visible = sys_flag::is_visible(first.sys_flag);
        let (mut tail, now) = self.log.lock_tail(|| self.env.now_millis());
        // Once more: a stop waits for the holder of the tail, and for nobody behind it.
        self.check_writable()?;
        if handle.is_deleted() {
            handle = self.queue_of(first)?;
        }
        light_queues.assign(self, batch)?;
        let queue_offset = if visible { handle.next_offset() } else { 0 };
        let mut message_count = batch.len() as u64;
        if let Some(inner) = inner {
            inner.assign(&handle, queue_offset, batch)?;
            message_count = inner.count();
        }
        let appended = tail.append(batch, queue_offset, now).map_err(|error| self.refuse_append(error))?;
        if visible {
            handle.set_next_offset(queue_offset + message_count);
        }
        light_queues.advance();
        drop(tail);
        let batch_offsets = if batch.len() > 1 {
            batch.record_positions().map(|at| appended.phy_offset + at).collect()
        } else {
            Vec::new()
        };
        let result = AppendResult {
            wrote_offset: appended.phy_offset,
            wrote_bytes: appended.end_offset - appended.phy_offset,
            logics_offset: queue_offset,
            message_count,
            store_timestamp: appended.store_timestamp,
            batch_offsets,
        };
        Ok((appended, PutResult { status: PutMessageStatus::PutOk, appended: Some(result), remark: None }))
    }

    fn queue_of(&self, message: &Message<'_>) -> Result<Arc<QueueHandle>, PutResult> {
        self.queues
            .get_or_create(message.topic, message.queue_id)
            .map_err(|error| PutResult::refused(PutMessageStatus::MessageIllegal, error.to_string()))
    }

    fn check_writable(&self) -> Result<(), PutResult> {
        match self.flags.write_refusal() {
            Some(reason) => Err(PutResult::refused(PutMessageStatus::ServiceNotAvailable, reason)),
            None => Ok(()),
        }
    }

    fn check_before_put(&self, messages: &[Message<'_>]) -> Result<(), PutResult> {
        self.check_writable()?;
        if self.config.broker_role == BrokerRole::Slave {
            let reason = "this broker is a slave and takes no messages";
            return Err(PutResult::refused(PutMessageStatus::ServiceNotAvailable, reason));
        }
        let Some(first) = messages.first() else {
            return Err(PutResult::refused(PutMessageStatus::MessageIllegal, "a batch without messages"));
        };
        let together =
            messages.iter().all(|message| message.topic == first.topic && message.queue_id == first.queue_id);
        if !together {
            let reason = "a batch whose messages are for different queues";
            return Err(PutResult::refused(PutMessageStatus::MessageIllegal, reason));
        }
        self.check_topic(first.topic)?;
        self.check_page_cache_busy()
    }

    fn check_topic(&self, topic: &str) -> Result<(), PutResult> {
        if topic.len() > MAX_V1_TOPIC && !self.config.commit_log.auto_message_version_on_topic_len {
            let reason = format!(
                "topic: expected at most {MAX_V1_TOPIC} bytes, found {}; longer ones need autoMessageVersionOnTopicLen",
                topic.len()
            );
            return Err(PutResult::refused(PutMessageStatus::MessageIllegal, reason));
        }
        Ok(())
    }

    fn check_page_cache_busy(&self) -> Result<(), PutResult> {
        let limit = self.config.commit_log.os_page_cache_busy_time_out_mills;
        let held = self.log.tail_held_millis(|| self.env.now_millis());
        if u64::try_from(held).is_ok_and(|held| held > limit) {
            let reason = format!(
                "the tail of the log is held for {held} ms, limit osPageCacheBusyTimeOutMills={limit}"
            );
            return Err(PutResult::refused(PutMessageStatus::OsPageCacheBusy, reason));
        }
        Ok(())
    }

    fn refuse_append(&self, error: AppendError) -> PutResult {
        match error {
            AppendError::Illegal(error) => refuse_illegal(&error),
            AppendError::NoFile(error) => PutResult::refused(
                PutMessageStatus::CreateMappedFileFailed,
                format!("no next log file: {error}"),
            ),
            AppendError::Map(error) => {
                // Memory that cannot be written: nothing behind it may be trusted.
                self.check_mappings();
                PutResult::refused(PutMessageStatus::UnknownError, format!("append failed: {error}"))
            }
            other => PutResult::refused(PutMessageStatus::UnknownError, other.to_string()),
        }
    }

    /// True when a put that begins with this message is answered only after a sync.
    fn waits_for_disk(&self, first: &Message<'_>) -> bool {
        if self.config.flush.flush_disk_type == FlushDiskType::AsyncFlush {
            return false;
        }
        let wait = properties::get(first.properties, names::WAIT_STORE_MSG_OK);
        wait.is_none_or(|wait| wait.eq_ignore_ascii_case("true"))
    }

    fn answer_when_durable(
        &self,
        waits: bool,
        began: Duration,
        end_offset: u64,
        result: PutResult,
    ) -> PutTicket {
        if !waits {
            if self.config.flush.flush_disk_type == FlushDiskType::SyncFlush {
                self.group_commit.nudge();
            }
            return PutTicket::done(result);
        }
        let timeout = Duration::from_millis(self.config.flush.sync_flush_timeout);
        let (ticket, pending) = PutTicket::waiting(result, timeout, began);
        self.group_commit.wait_for(end_offset, pending);
        ticket
    }
}

fn refuse_illegal(error: &EncodeError) -> PutResult {
    let status = match error {
        EncodeError::PropertiesTooLong { .. } => PutMessageStatus::PropertiesSizeExceeded,
        _ => PutMessageStatus::MessageIllegal,
    };
    PutResult::refused(status, error.to_string())
}
