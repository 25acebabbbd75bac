use super::check_message::{ask_producer, check_request};
use super::check_progress::{self, CheckProgress, Checked};
use super::half_message::property_names;
use super::op_queue_reader::{OpQueueReader, REMOVE_TAG};
use super::{Append, Decision, HALF_QUEUE, HalfMessage, TransactionState, appended, decide};
use crate::broker_context::BrokerContext;
use crate::remoting::RemotingCommand;
use crate::topic_validator::{
    RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC, RMQ_SYS_TRANS_HALF_TOPIC, RMQ_SYS_TRANS_OP_HALF_TOPIC,
};
use std::sync::Arc;
use std::time::Duration;
use store_core::properties::{Properties, names};
use store_core::service::{Service, Step};
use store_core::{AppendResult, GetRequest, Message};

/// Half messages looked at in one step.
const BATCH: usize = 64;
const PERM_READ_WRITE: i32 = 6;

/// Asks producers about half messages that they have not finished in time, and writes the op records
/// (`TransactionalMessageCheckService`, `TransactionalOpBatchService`).
///
/// Every `transactionCheckInterval` one round: the new op records are read, then the half topic from where the round
/// before left off to its end at the round's begin. At least once: a crash may repeat the checks of the last round.
pub struct TransactionalMessageCheckService {
    context: Arc<BrokerContext>,
    ops: OpQueueReader,
    progress: CheckProgress,
    /// Offset of the next half message to look at.
    cursor: u64,
    phase: Phase,
    /// When the next round begins, by the monotonic clock.
    next_round: Duration,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    Resting,
    ReadingOps,
    /// Half messages are looked at up to the end of their topic when the round began.
    Checking {
        end: u64,
    },
}

/// What became of the half message under the cursor.
enum Visit {
    /// It is done with.
    Passed,
    /// It is done with once its producer has got this question.
    Asking(Box<RemotingCommand>),
    /// So are the places before this one, which hold nothing.
    Jumped(u64),
    /// The round is over.
    Stopped,
}

impl TransactionalMessageCheckService {
    /// A service that goes on where the saved progress ends; its first round is one interval away.
    pub fn new(context: &Arc<BrokerContext>) -> Self {
        let progress = CheckProgress::load(context);
        let Checked { half, op, .. } = progress.saved();
        context.transactions.lock().set_checked_to(half);
        let mut service = Self {
            context: Arc::clone(context),
            ops: OpQueueReader::new(op),
            progress,
            cursor: half,
            phase: Phase::Resting,
            next_round: Duration::ZERO,
        };
        service.next_round = service.monotonic() + service.interval();
        service
    }

    fn monotonic(&self) -> Duration {
        self.context.env.clock().monotonic()
    }

    fn interval(&self) -> Duration {
        Duration::from_millis(self.context.config.transaction_check_interval)
    }

    /// Writes the op records that are due, or all; `false` when the store does not take them.
    fn write_ops(&self, all: bool) -> bool {
        let context = &self.context;
        let mut state = context.transactions.lock();
        loop {
            let now = self.monotonic();
            let due = state.ops().due_in(now).is_some_and(|wait| all || wait.is_zero());
            let Some((body, count)) = state.ops().next_body().filter(|_| due) else { return true };
            match self.put_op(&body) {
                Append::Stored(_) => state.ops().written(count),
                outcome => {
                    tracing::error!(?outcome, "finished transactions could not be noted; trying again");
                    state.ops().not_written(now);
                    return false;
                }
            }
        }
    }

    fn put_op(&self, body: &str) -> Append {
        let mut properties = Properties::default();
        properties.set(names::WAIT_STORE_MSG_OK, "true");
        properties.set(names::TAGS, REMOVE_TAG);
        let properties = properties.encode();
        self.append(&Message {
            topic: RMQ_SYS_TRANS_OP_HALF_TOPIC,
            queue_id: HALF_QUEUE,
            flag: 0,
            sys_flag: 0,
            born_timestamp: self.context.now(),
            born_host: self.context.store_host,
            store_host: self.context.store_host,
            reconsume_times: 0,
            prepared_transaction_offset: 0,
            body: body.as_bytes(),
            properties: &properties,
        })
    }

    fn append(&self, message: &Message<'_>) -> Append {
        appended(&self.context.store.put(message))
    }

    /// Looks at some half messages; `false` when the round is over.
    fn check_some(&mut self, end: u64) -> bool {
        for _ in 0..BATCH {
            if self.cursor >= end {
                return false;
            }
            match self.visit() {
                Visit::Passed | Visit::Asking(_) => self.cursor += 1,
                Visit::Jumped(to) => self.cursor = to,
                Visit::Stopped => return false,
            }
        }
        true
    }

    fn visit(&self) -> Visit {
        let context = &self.context;
        if context.transactions.lock().is_finished(self.cursor) {
            return Visit::Passed;
        }
        let Ok(offset) = i64::try_from(self.cursor) else { return Visit::Stopped };
        let topic = RMQ_SYS_TRANS_HALF_TOPIC;
        let request = GetRequest { topic, queue_id: HALF_QUEUE, offset, max_messages: 1, filter: None };
        let found = context.store.get(&request);
        let Some(record) = found.messages.first() else {
            let moved = found.next_begin_offset > self.cursor;
            return if moved { Visit::Jumped(found.next_begin_offset) } else { Visit::Stopped };
        };
        let Some(half) = HalfMessage::read(record) else {
            tracing::error!(half_offset = self.cursor, "a half message cannot be read and is skipped");
            return Visit::Passed;
        };
        if half.offset() != self.cursor {
            return if half.offset() > self.cursor { Visit::Jumped(half.offset()) } else { Visit::Stopped };
        }
        match self.settle(&half) {
            Visit::Asking(question) => {
                if let Some(group) = half.producer_group() {
                    ask_producer(context, group, *question);
                }
                Visit::Passed
            }
            visit => visit,
        }
    }

    /// Decides about one half message and does to the store what follows.
    fn settle(&self, half: &HalfMessage<'_>) -> Visit {
        let context = &self.context;
        let mut state = context.transactions.lock();
        // Its commit may have come while it was read.
        let prepared = half.prepared_offset();
        if state.is_finished(half.offset()) || prepared.is_some_and(|prepared| state.is_finished(prepared)) {
            return Visit::Passed;
        }
        if let Some(prepared) = prepared {
            state.copied(prepared, half.offset());
        }
        let time_out = i64::try_from(context.config.transaction_time_out).unwrap_or(i64::MAX);
        let mut properties = half.properties().clone();
        match decide(half, context.now(), time_out, context.config.transaction_check_max) {
            Decision::NotYet => Visit::Stopped,
            Decision::Postpone => {
                let prepared = prepared.unwrap_or(half.offset()).to_string();
                properties.set(property_names::TRANSACTION_PREPARED_QUEUE_OFFSET, &prepared);
                self.copy(&mut state, half, &properties).err().unwrap_or(Visit::Passed)
            }
            Decision::Check => {
                let times = half.check_times().unwrap_or(0).saturating_add(1).to_string();
                properties.set(property_names::TRANSACTION_CHECK_TIMES, &times);
                match self.copy(&mut state, half, &properties) {
                    Ok(copy) => check_request(context, half, &copy, &properties)
                        .map_or(Visit::Passed, |question| Visit::Asking(Box::new(question))),
                    Err(visit) => visit,
                }
            }
            Decision::Discard => self.discard(half),
        }
    }

    /// Appends a half message again; the copy stands for it from now on.
    fn copy(
        &self,
        state: &mut TransactionState,
        half: &HalfMessage<'_>,
        properties: &Properties,
    ) -> Result<AppendResult, Visit> {
        let properties = properties.encode();
        let store_host = self.context.store_host;
        match self.append(&half.message(RMQ_SYS_TRANS_HALF_TOPIC, HALF_QUEUE, &properties, store_host)) {
            Append::Stored(copy) => {
                state.copied(half.offset(), copy.logics_offset);
                Ok(copy)
            }
            Append::Refused => Err(Visit::Stopped),
            // The count of checks no longer fits into its properties.
            Append::Illegal => Err(self.discard(half)),
        }
    }

    /// Gives a half message up: it goes where people can look at it.
    fn discard(&self, half: &HalfMessage<'_>) -> Visit {
        let context = &self.context;
        let topic = RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC;
        let topics = &context.topics;
        let made =
            topics.create_topic_in_send_message_back(topic, 1, PERM_READ_WRITE, false, 0, context.now());
        if made.changed {
            context.persist(topics);
            context.registration.register_soon();
        }
        let properties = half.properties().encode();
        match self.append(&half.message(topic, 0, &properties, context.store_host)) {
            Append::Stored(_) => {
                tracing::warn!(
                    half_offset = half.offset(),
                    "a half message was checked too often and is given up"
                );
                Visit::Passed
            }
            Append::Refused => Visit::Stopped,
            Append::Illegal => {
                tracing::error!(
                    half_offset = half.offset(),
                    "a half message is not legal anywhere and is dropped"
                );
                Visit::Passed
            }
        }
    }

    fn end_round(&mut self) {
        self.phase = Phase::Resting;
        self.next_round = self.monotonic() + self.interval();
        let positions = self.context.store.log_positions();
        let checked = self.checked(positions.end);
        self.save(checked, positions.durable);
    }

    fn checked(&mut self, log_end: u64) -> Checked {
        self.context.transactions.lock().set_checked_to(self.cursor);
        // The two offsets are saved one after the other: also with the half offset of before, the op offset must do.
        let op = self.ops.needed_from(self.progress.saved().half);
        Checked { half: self.cursor, op, log_end }
    }

    fn save(&mut self, checked: Checked, flushed: u64) {
        if let Some(ready) = self.progress.advance(checked, flushed) {
            check_progress::commit(&self.context, ready);
        }
    }

    /// How long until there is something to do.
    fn rest(&self) -> Duration {
        let now = self.monotonic();
        let round = self.next_round.saturating_sub(now);
        let ops = self.context.transactions.lock().ops().due_in(now);
        ops.map_or(round, |ops| round.min(ops))
    }
}

impl Service for TransactionalMessageCheckService {
    fn name(&self) -> &'static str {
        "TransactionCheck"
    }

    fn step(&mut self) -> Step {
        self.write_ops(false);
        match self.phase {
            Phase::Resting if self.monotonic() < self.next_round => return Step::Wait(self.rest()),
            Phase::Resting => self.phase = Phase::ReadingOps,
            Phase::ReadingOps => {
                let store = &*self.context.store;
                if !self.ops.read_some(store, &mut self.context.transactions.lock()) {
                    let end = store.offsets(RMQ_SYS_TRANS_HALF_TOPIC, HALF_QUEUE).max;
                    self.phase = Phase::Checking { end };
                }
            }
            Phase::Checking { end } => {
                if !self.check_some(end) {
                    self.end_round();
                }
            }
        }
        Step::Again
    }

    fn finish(&mut self) {
        if !self.write_ops(true) {
            tracing::warn!(
                "the store takes no more: producers will be asked again about finished transactions"
            );
        }
        // The store makes all of its log durable at an orderly stop.
        let checked = self.checked(0);
        self.save(checked, u64::MAX);
    }
}
