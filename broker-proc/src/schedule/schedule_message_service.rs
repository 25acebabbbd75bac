use super::{DelayOffsets, queue_of_level};
use crate::config_store::ConfigStore;
use crate::topic_validator::{RMQ_SYS_SCHEDULE_TOPIC, RMQ_SYS_TRANS_HALF_TOPIC};
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;
use store_core::config::DelayLevels;
use store_core::properties::{Properties, names};
use store_core::record_format::{Decoded, MessageView, decode};
use store_core::service::{Service, Step};
use store_core::{
    Env, GetMessageStatus, GetRequest, MappedSlice, Message, MessageStore, PutMessageStatus, PutResult,
    PutTicket,
};

/// Longest rest: a message of the shortest level may arrive meanwhile, and waits no longer than this beyond its time.
const IDLE: Duration = Duration::from_millis(100);
/// Levels of Apache's table, each with a queue of its own.
const QUEUES: i32 = 18;
/// Messages of a level that one step delivers.
const BATCH: u32 = 32;

/// Delivers delayed messages when they are due.
///
/// At least once: progress is saved every `flushDelayOffsetInterval` as far as the log is durable, so a crash may deliver
/// some again.
pub struct ScheduleMessageService {
    env: Env,
    store: Arc<dyn MessageStore>,
    levels: DelayLevels,
    offsets: Arc<DelayOffsets>,
    files: ConfigStore,
    flush_interval: Duration,
    last_flush: Duration,
    /// What the store answered when it last did not take a message, until it takes one: said once, not at every try.
    trouble: Cell<Option<PutMessageStatus>>,
}

/// What became of one waiting message.
enum Delivery {
    /// Handed to the store.
    Put(PutTicket),
    /// It cannot be delivered.
    Dropped,
    /// Not due yet: the rest of the queue is not either.
    NotDue(i64),
}

impl Delivery {
    fn is_refused(&self) -> bool {
        match self {
            Self::Put(ticket) => ticket.provisional().is_some_and(|result| !result.is_stored()),
            Self::Dropped | Self::NotDue(_) => false,
        }
    }
}

impl ScheduleMessageService {
    /// A service that delivers into `store` and keeps its progress in `offsets`.
    pub fn new(
        env: &Env,
        store: Arc<dyn MessageStore>,
        levels: DelayLevels,
        offsets: Arc<DelayOffsets>,
        files: ConfigStore,
        flush_interval: Duration,
    ) -> Self {
        for level in levels.max_level() + 1..=QUEUES {
            let waiting = store.offsets(RMQ_SYS_SCHEDULE_TOPIC, queue_of_level(level)).max;
            if i64::try_from(waiting).is_ok_and(|waiting| waiting > offsets.next(level)) {
                tracing::warn!(
                    level,
                    "messages wait in a delay level that messageDelayLevel no longer has; they are kept"
                );
            }
        }
        let last_flush = env.clock().monotonic();
        Self {
            env: env.clone(),
            store,
            levels,
            offsets,
            files,
            flush_interval,
            last_flush,
            trouble: Cell::new(None),
        }
    }

    /// Delivers one batch of what is due of a level.
    fn deliver_level(&self, level: i32) -> Step {
        let offset = self.offsets.next(level);
        let request = GetRequest {
            topic: RMQ_SYS_SCHEDULE_TOPIC,
            queue_id: queue_of_level(level),
            offset,
            max_messages: BATCH,
            filter: None,
        };
        let found = self.store.get(&request);
        if found.messages.is_empty() {
            let next = i64::try_from(found.next_begin_offset).unwrap_or(offset);
            if next == offset {
                return Step::Wait(IDLE);
            }
            // Otherwise places without a message.
            if is_outside(found.status) {
                tracing::warn!(
                    level,
                    offset,
                    next,
                    "the progress of a delay level lies outside its queue; corrected"
                );
            }
            self.offsets.set(level, next);
            return Step::Again;
        }
        let (delivered, rest) = self.deliver_batch(level, &found.messages);
        if let Some(last) = delivered {
            self.offsets.set(level, last + 1);
        }
        rest.map_or(Step::Again, Step::Wait)
    }

    /// Puts the messages that are due, then waits for all of them; returns the queue offset of the last one that is done
    /// with, and how long to rest when one is not.
    fn deliver_batch(&self, level: i32, records: &[MappedSlice]) -> (Option<i64>, Option<Duration>) {
        let mut puts = Vec::with_capacity(records.len());
        let mut rest = None;
        for record in records {
            let Ok(Decoded::Record(view)) = decode(record, false) else {
                rest = Some(IDLE);
                break;
            };
            match self.deliver(level, &view) {
                Delivery::NotDue(wait) => {
                    rest = Some(IDLE.min(Duration::from_millis(wait.max(1) as u64)));
                    break;
                }
                delivery => {
                    // Whoever comes after one that was refused waits for its turn too: it would arrive twice.
                    let refused = delivery.is_refused();
                    puts.push((view.queue_offset, delivery));
                    if refused {
                        break;
                    }
                }
            }
        }
        let mut delivered = None;
        for (queue_offset, delivery) in puts {
            if let Delivery::Put(ticket) = delivery {
                if !self.is_done_with(level, ticket.wait()) {
                    return (delivered, Some(IDLE));
                }
            }
            delivered = Some(queue_offset);
        }
        (delivered, rest)
    }

    fn deliver(&self, level: i32, view: &MessageView<'_>) -> Delivery {
        let now = self.env.now_millis();
        let delay = self.levels.delay_millis(level).unwrap_or(1000);
        let due = view.store_timestamp.saturating_add(delay);
        // A store time from the future (the clock went back) does not hold the message up for more than its delay.
        let wait = if due > now + delay { 0 } else { due - now };
        if wait > 0 {
            return Delivery::NotDue(wait);
        }
        let properties = Properties::parse(view.properties);
        let Some(topic) =
            properties.get(names::REAL_TOPIC).filter(|topic| *topic != RMQ_SYS_TRANS_HALF_TOPIC)
        else {
            tracing::warn!(
                level,
                queue_offset = view.queue_offset,
                "a delayed message names no topic to go to"
            );
            return Delivery::Dropped;
        };
        let queue_id = properties.get(names::REAL_QUEUE_ID).and_then(|id| id.parse().ok()).unwrap_or(0);
        Delivery::Put(self.store.put(&Message {
            topic,
            queue_id,
            flag: view.flag,
            sys_flag: view.sys_flag
                & !store_core::sys_flag::BORN_HOST_V6
                & !store_core::sys_flag::STORE_HOST_V6,
            born_timestamp: view.born_timestamp,
            born_host: view.born_host,
            store_host: view.store_host,
            reconsume_times: view.reconsume_times,
            prepared_transaction_offset: view.prepared_transaction_offset,
            body: view.body,
            // As Apache stores it: the delay's own properties stay.
            properties: view.properties,
        }))
    }

    /// Whether a message needs no further try: it is stored, or can never be. Whether it is durable too, the saving of the
    /// progress asks.
    fn is_done_with(&self, level: i32, result: PutResult) -> bool {
        match result.status {
            PutMessageStatus::MessageIllegal | PutMessageStatus::PropertiesSizeExceeded => {
                tracing::error!(level, ?result, "a delayed message is not legal in its topic and is dropped");
                true
            }
            // A sync that failed answers so with the message in the log; a power cut may take it.
            status if status == PutMessageStatus::ServiceNotAvailable || !result.is_stored() => {
                if self.trouble.replace(Some(status)) != Some(status) {
                    let reason = result.remark.as_deref().unwrap_or("");
                    tracing::warn!(
                        level,
                        ?status,
                        reason,
                        "delayed messages wait: the store does not take them"
                    );
                }
                false
            }
            _ => {
                if self.trouble.take().is_some() {
                    tracing::info!(level, "the store takes delayed messages again");
                }
                true
            }
        }
    }

    fn save(&self) {
        self.offsets.save(&self.files, self.env.now_millis());
    }
}

impl Service for ScheduleMessageService {
    fn name(&self) -> &'static str {
        "ScheduleMessage"
    }

    fn step(&mut self) -> Step {
        let mut rest = Step::Wait(IDLE);
        for level in 1..=self.levels.max_level() {
            rest = sooner(rest, self.deliver_level(level));
        }
        self.offsets.settle(self.store.log_positions());
        let now = self.env.clock().monotonic();
        if now.saturating_sub(self.last_flush) >= self.flush_interval {
            self.last_flush = now;
            self.save();
        }
        rest
    }

    /// What is not durable yet is saved by who stops the store, once it is.
    fn finish(&mut self) {
        self.offsets.settle(self.store.log_positions());
        self.save();
    }
}

/// True when a read tells that there is no such place in the queue: saved for another store, expired, or the queue is
/// empty.
fn is_outside(status: GetMessageStatus) -> bool {
    matches!(
        status,
        GetMessageStatus::OffsetOverflowBadly
            | GetMessageStatus::OffsetTooSmall
            | GetMessageStatus::NoMessageInQueue
    )
}

fn sooner(one: Step, other: Step) -> Step {
    match (one, other) {
        (Step::Wait(one), Step::Wait(other)) => Step::Wait(one.min(other)),
        _ => Step::Again,
    }
}

#[cfg(test)]
mod tests;
