use super::queue_of_level;
use crate::config_store::{ConfigManager, ConfigStore};
use crate::remoting::protocol::{DataVersion, DelayOffsetSerializeWrapper};
use crate::topic_validator::{RMQ_SYS_SCHEDULE_TOPIC, RMQ_SYS_TRANS_HALF_TOPIC};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store_core::config::DelayLevels;
use store_core::java_json::{self, JavaJsonError};
use store_core::properties::{Properties, names};
use store_core::record_format::{Decoded, MessageView, decode};
use store_core::service::{Service, Step};
use store_core::{
    Env, GetRequest, MappedSlice, Message, MessageStore, PutMessageStatus, PutResult, PutTicket,
};

/// Longest rest: a message of the shortest level may arrive meanwhile, and waits no longer than this beyond its time.
const IDLE: Duration = Duration::from_millis(100);
/// Messages read at once.
const BATCH: u32 = 32;

/// Which message of each level is delivered next (`delayOffset.json`).
#[derive(Debug, Default)]
pub struct DelayOffsets {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    offsets: BTreeMap<i32, i64>,
    data_version: DataVersion,
    changed: bool,
}

impl DelayOffsets {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queue offset of the next message of a level.
    pub fn next(&self, level: i32) -> i64 {
        self.lock().offsets.get(&level).copied().unwrap_or(0)
    }

    fn set(&self, level: i32, offset: i64) {
        let mut state = self.lock();
        state.offsets.insert(level, offset);
        state.changed = true;
    }

    fn take_changed(&self, now: i64) -> bool {
        let mut state = self.lock();
        if state.changed {
            state.data_version = state.data_version.next(now);
        }
        std::mem::take(&mut state.changed)
    }
}

impl ConfigManager for DelayOffsets {
    fn config_file_name(&self) -> &'static str {
        "delayOffset.json"
    }

    fn encode(&self) -> Result<String, JavaJsonError> {
        let state = self.lock();
        java_json::to_string_pretty(&DelayOffsetSerializeWrapper {
            data_version: state.data_version,
            offset_table: state.offsets.clone(),
        })
    }

    fn decode(&self, bytes: &[u8]) -> Result<(), JavaJsonError> {
        let wrapper: DelayOffsetSerializeWrapper = java_json::from_slice(bytes)?;
        let mut state = self.lock();
        state.offsets = wrapper.offset_table;
        state.data_version = wrapper.data_version;
        Ok(())
    }
}

/// Delivers delayed messages when they are due.
///
/// At least once: progress is saved every `flushDelayOffsetInterval`, so a crash may deliver some again.
pub struct ScheduleMessageService {
    env: Env,
    store: Arc<dyn MessageStore>,
    levels: DelayLevels,
    offsets: Arc<DelayOffsets>,
    files: ConfigStore,
    flush_interval: Duration,
    last_flush: Duration,
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
        let last_flush = env.clock().monotonic();
        Self { env: env.clone(), store, levels, offsets, files, flush_interval, last_flush }
    }

    /// Delivers what is due of a level; returns how long nothing more is.
    fn deliver_level(&self, level: i32) -> Duration {
        let queue_id = queue_of_level(level);
        let mut offset = self.offsets.next(level);
        loop {
            let request = GetRequest {
                topic: RMQ_SYS_SCHEDULE_TOPIC,
                queue_id,
                offset,
                max_messages: BATCH,
                filter: None,
            };
            let found = self.store.get(&request);
            if found.messages.is_empty() {
                let next = i64::try_from(found.next_begin_offset).unwrap_or(offset);
                if next == offset || found.max_offset == 0 {
                    return IDLE;
                }
                // Places without a message: expired, or a progress beyond the queue.
                self.offsets.set(level, next);
                offset = next;
                continue;
            }
            let (delivered, rest) = self.deliver_batch(level, &found.messages);
            if let Some(last) = delivered {
                offset = last + 1;
                self.offsets.set(level, offset);
            }
            if let Some(rest) = rest {
                return rest;
            }
        }
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
                if !is_done_with(level, ticket.wait()) {
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

    fn save(&mut self) {
        if self.offsets.take_changed(self.env.now_millis()) {
            if let Err(error) = self.files.persist(&*self.offsets) {
                tracing::error!(%error, "the progress of delayed messages could not be saved");
            }
        }
    }
}

impl Service for ScheduleMessageService {
    fn name(&self) -> &'static str {
        "ScheduleMessage"
    }

    fn step(&mut self) -> Step {
        let rest = (1..=self.levels.max_level()).map(|level| self.deliver_level(level)).min();
        let now = self.env.clock().monotonic();
        if now.saturating_sub(self.last_flush) >= self.flush_interval {
            self.last_flush = now;
            self.save();
        }
        Step::Wait(rest.unwrap_or(IDLE))
    }

    fn finish(&mut self) {
        self.save();
    }
}

/// Whether a message needs no further try: it is stored (whatever is known of the disk yet), or can never be.
fn is_done_with(level: i32, result: PutResult) -> bool {
    match result.status {
        PutMessageStatus::MessageIllegal | PutMessageStatus::PropertiesSizeExceeded => {
            tracing::error!(level, ?result, "a delayed message is not legal in its topic and is dropped");
            true
        }
        // A sync that failed says so with the message stored; the store takes no other any more.
        _ if result.is_stored() => true,
        status => {
            tracing::warn!(level, ?status, "a delayed message was not taken; trying again");
            false
        }
    }
}
