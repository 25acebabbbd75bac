//! From a record in the log to its place in a queue, its keys in the index, and those who wait for it.

use super::Shared;
use crate::config::{DelayLevels, FlushDiskType};
use crate::message_arrival::{Arrival, MessageArrivingListener};
use crate::sync::{Arc, Ordering, PoisonError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use store_logic::commit_log::format::{Decoded, Fault, MIN_RECORD, MessageView, decode};
use store_logic::consume_queue::{PutUnit, Unit};
use store_logic::dispatch::{DeliverTime, DispatchRequest, UnitPlace};
use store_logic::{ConsumeQueueTable, CqUnit, LogicError, QueueType, Result};

/// Most messages of a record.
const MAX_INNER: u64 = i16::MAX as u64;
/// Bytes dispatched in one step.
pub(super) const STEP_BYTES: usize = 4 << 20;

impl DeliverTime for DelayLevels {
    fn deliver_timestamp(&self, level: i32, store_timestamp: i64) -> i64 {
        DelayLevels::deliver_timestamp(self, level, store_timestamp)
    }

    fn max_level(&self) -> i32 {
        DelayLevels::max_level(self)
    }
}

impl Shared {
    /// Sets who is told of arriving messages; false when there is one already.
    pub(crate) fn listen(&self, listener: Arc<dyn MessageArrivingListener>) -> bool {
        self.listener.set(listener).is_ok()
    }

    /// Records below are dispatched.
    pub(crate) fn dispatched_offset(&self) -> u64 {
        self.dispatched.load(Ordering::Acquire)
    }

    /// Bytes of the log that are not dispatched yet.
    pub(crate) fn dispatch_behind_bytes(&self) -> u64 {
        self.log.max_offset().saturating_sub(self.dispatched_offset())
    }

    /// Records below may be seen by consumers: with SYNC_FLUSH only what is durable, unless they may read ahead of that.
    fn visible_end(&self) -> u64 {
        match self.config.flush.flush_disk_type {
            FlushDiskType::SyncFlush if !self.config.flush.read_un_committed => self.log.flushed_where(),
            _ => self.log.max_offset(),
        }
    }

    /// Dispatches a bounded piece of the log; false when there is nothing to do.
    ///
    /// # Errors
    ///
    /// A record that cannot be dispatched. It stays the next one: nothing overtakes it.
    pub(crate) fn dispatch_some(&self) -> Result<bool> {
        let _dispatching = self.dispatching.lock().unwrap_or_else(PoisonError::into_inner);
        let mut from = self.dispatched_offset();
        let end = self.visible_end();
        if from >= end {
            return Ok(false);
        }
        if from < self.log.min_offset() {
            tracing::error!(
                from,
                log_min = self.log.min_offset(),
                "records were deleted before they were dispatched"
            );
            from = self.log.min_offset();
        }
        let Some(rest) = self.log.files().slice_rest(from) else { return Ok(false) };
        let mut position = 0;
        while position < STEP_BYTES {
            if position == rest.len() {
                break;
            }
            let phy_offset = from + position as u64;
            match decode(&rest[position..], false) {
                Ok(Decoded::Record(view)) => {
                    let next = phy_offset + u64::from(view.total_size);
                    if next > end {
                        break;
                    }
                    self.dispatch_record(phy_offset, &view)?;
                    position += view.total_size as usize;
                    self.note_dispatched(phy_offset, next, view.store_timestamp);
                }
                Ok(Decoded::Blank) => {
                    self.dispatched.store(self.log.files().roll_next(phy_offset), Ordering::Release);
                    return Ok(true);
                }
                Err(fault) => return Err(self.unreadable(phy_offset, &fault)),
            }
        }
        Ok(position > 0)
    }

    fn note_dispatched(&self, phy_offset: u64, next: u64, store_timestamp: i64) {
        self.dispatched_timestamp.store(store_timestamp, Ordering::Relaxed);
        self.dispatched_record.store(phy_offset, Ordering::Relaxed);
        self.dispatched.store(next, Ordering::Release);
    }

    pub(super) fn unreadable(&self, phy_offset: u64, fault: &Fault) -> LogicError {
        let file = self.log.files().find(phy_offset);
        LogicError::Damaged {
            path: file.map_or_else(|| self.paths.commit_log().to_owned(), |file| file.path().to_owned()),
            offset: phy_offset,
            expected: "a record".to_owned(),
            found: fault.to_string(),
        }
    }

    fn dispatch_record(&self, phy_offset: u64, view: &MessageView<'_>) -> Result<()> {
        let request = DispatchRequest::new(phy_offset, view, &self.config.delay_levels);
        for place in self.places(&request) {
            self.put_unit(&request, &place)?;
        }
        self.index_record(&request);
        if let Some(listener) = self.listener.get() {
            for place in self.places(&request) {
                self.tell_arrival(&**listener, &request, &place);
            }
        }
        Ok(())
    }

    /// The record's places in queues: its own, then those in light queues. None in topics that were deleted since, and
    /// none where no queue can be: the record is damaged then, and one record must not keep all others from their queues.
    pub(super) fn places<'a>(&self, request: &DispatchRequest<'a>) -> impl Iterator<Item = UnitPlace<'a>> {
        let own = Some(self.own_place(request));
        let light = Some(request).filter(|_| self.config.multi_dispatch.is_on());
        let places = own.into_iter().chain(light.into_iter().flat_map(DispatchRequest::light_places));
        let places = places.filter(|place| ConsumeQueueTable::can_be_queue(place.topic, place.queue_id));
        let (is_visible, phy_offset) = (request.is_visible(), request.phy_offset);
        places.filter(move |place| is_visible && !self.notes.is_of_deleted_topic(place.topic, phy_offset))
    }

    /// The record's place in the queue of its topic. In an ordinary queue an inner batch has one, as in Apache's.
    pub(super) fn own_place<'a>(&self, request: &DispatchRequest<'a>) -> UnitPlace<'a> {
        let mut own = request.own_place();
        if own.count > 1 && self.queues.queue_type(own.topic) == QueueType::SimpleCq {
            own.count = 1;
        }
        own
    }

    fn put_unit(&self, request: &DispatchRequest<'_>, place: &UnitPlace<'_>) -> Result<()> {
        let UnitPlace { topic, queue_id, queue_offset, .. } = *place;
        let handle = self.queues.get_or_create(topic, queue_id)?;
        let unit = unit_at(request, place);
        match handle.queue.put(&unit, request.store_timestamp)? {
            PutUnit::Appended | PutUnit::Present | PutUnit::Torn(_) | PutUnit::Stale => {}
            PutUnit::Taken(present) => {
                tracing::warn!(
                    topic,
                    queue_id,
                    queue_offset,
                    ?present,
                    ?unit,
                    "the place of a message in its queue is taken; the message stays in the log only"
                );
            }
            PutUnit::Gap { next } if !self.is_possible_gap(request, place, next) => {}
            PutUnit::Gap { next } => {
                tracing::error!(
                    topic,
                    queue_id,
                    next,
                    queue_offset,
                    "messages are missing between two neighbours of a queue; their places stay empty"
                );
                handle.queue.put_behind_gap(&unit, request.store_timestamp)?;
            }
        }
        Ok(())
    }

    /// Whether the log could have held the messages that are missing before a record. If not, the record's queue offset is
    /// damaged (no checksum covers it): the record stays in the log and gets no place, for its place would be far off.
    pub(super) fn is_possible_gap(
        &self,
        request: &DispatchRequest<'_>,
        place: &UnitPlace<'_>,
        next: u64,
    ) -> bool {
        let kind = self.queues.queue_type(place.topic);
        let possible = is_possible_gap(kind, place.queue_offset, next, self.log.max_offset());
        if !possible {
            tracing::error!(
                topic = place.topic,
                queue_id = place.queue_id,
                queue_offset = place.queue_offset,
                next,
                phy_offset = request.phy_offset,
                "a record's queue offset cannot be right; it gets no place in its queue"
            );
        }
        possible
    }

    fn tell_arrival(
        &self,
        listener: &dyn MessageArrivingListener,
        request: &DispatchRequest<'_>,
        place: &UnitPlace<'_>,
    ) {
        let arrival = Arrival {
            topic: place.topic,
            queue_id: place.queue_id,
            next_offset: place.next_offset(),
            tags_code: request.tags_code,
            store_timestamp: request.store_timestamp,
            properties: request.properties,
        };
        // Dispatch does not stand still for a listener: the message is in its queue, whoever was told of it.
        if catch_unwind(AssertUnwindSafe(|| listener.arriving(&arrival))).is_err() {
            self.stats.count_listener_panic();
            tracing::error!(
                topic = arrival.topic,
                queue_id = arrival.queue_id,
                next_offset = arrival.next_offset,
                "whoever is told of arriving messages panicked; dispatch goes on"
            );
        }
    }
}

/// Whether a log of so many bytes could have held the messages of a queue from `next` up to `queue_offset`.
pub(crate) fn is_possible_gap(kind: QueueType, queue_offset: u64, next: u64, log_bytes: u64) -> bool {
    let of_record = if kind == QueueType::BatchCq { MAX_INNER } else { 1 };
    queue_offset.saturating_sub(next) <= (log_bytes / MIN_RECORD).saturating_mul(of_record)
}

/// The unit of a record at one of its places.
pub(super) fn unit_at(request: &DispatchRequest<'_>, place: &UnitPlace<'_>) -> CqUnit {
    CqUnit { queue_offset: place.queue_offset, count: place.count, unit: unit_of(request) }
}

fn unit_of(request: &DispatchRequest<'_>) -> Unit {
    Unit { phy_offset: request.phy_offset, size: request.msg_size, tags_code: request.tags_code }
}
