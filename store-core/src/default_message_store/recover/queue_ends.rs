//! The ends of all queues while the log is looked at, moved on as the walk would put units.

use crate::default_message_store::Shared;
use crate::default_message_store::dispatch::unit_at;
use crate::sync::Arc;
use foldhash::HashMap;
use store_logic::dispatch::{DispatchRequest, UnitPlace};
use store_logic::{QueueHandle, QueueWindow};

/// Queues by topic and number.
#[derive(Debug, Default)]
pub(super) struct QueueEnds(HashMap<String, HashMap<i32, QueueEnd>>);

#[derive(Debug)]
struct QueueEnd {
    /// Queue offset of the next message.
    next: u64,
    last_phy: Option<u64>,
    /// The queue as it is found, when it has messages.
    found: Option<Found>,
}

#[derive(Debug)]
struct Found {
    handle: Arc<QueueHandle>,
    /// Units from this number on do not count.
    end: u64,
    /// Queue offset behind the last that counts.
    next: u64,
    last_phy: Option<u64>,
    /// For looking at places in order.
    window: QueueWindow,
}

impl QueueEnd {
    fn of(found: Found) -> Self {
        Self { next: found.next, last_phy: found.last_phy, found: Some(found) }
    }
}

impl QueueEnds {
    /// Adds a queue that ends at unit number `end`.
    pub(super) fn add(&mut self, handle: &Arc<QueueHandle>, end: Option<u64>) {
        let queue = &handle.queue;
        let last = end.and_then(|end| Some((end, queue.unit_at(end.checked_sub(1)?)?)));
        let Some((end, last)) = last else { return };
        let last_phy = Some(last.unit).filter(|unit| !unit.is_blank()).map(|unit| unit.phy_offset);
        let (handle, next) = (Arc::clone(handle), last.next_offset());
        let found = Found { handle, end, next, last_phy, window: QueueWindow::default() };
        let topic = self.0.entry(queue.topic().to_owned()).or_default();
        topic.insert(queue.queue_id(), QueueEnd::of(found));
    }

    /// Forgets all queues.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Every queue as it was found.
    pub(super) fn rewind(&mut self) {
        for queues in self.0.values_mut() {
            queues.retain(|_, end| end.found.is_some());
            for end in queues.values_mut() {
                if let Some(found) = end.found.take() {
                    *end = QueueEnd::of(found);
                }
            }
        }
    }

    /// True when the record's unit stands in its place: the walk would do nothing about it.
    pub(super) fn hold(&mut self, request: &DispatchRequest<'_>, place: &UnitPlace<'_>) -> bool {
        let queues = self.0.get_mut(place.topic);
        let end = queues.and_then(|queues| queues.get_mut(&place.queue_id));
        let Some(found) = end.and_then(|end| end.found.as_mut()) else { return false };
        let (unit, stored) = (unit_at(request, place), request.store_timestamp);
        found.handle.queue.holds_at(&mut found.window, &unit, stored, found.end)
    }

    /// Takes in a record; true when units before its own are missing.
    pub(super) fn take(
        &mut self,
        shared: &Shared,
        request: &DispatchRequest<'_>,
        place: &UnitPlace<'_>,
        from_beginning: bool,
    ) -> bool {
        let queue_offset = place.queue_offset;
        let known = self.0.get_mut(place.topic).and_then(|queues| queues.get_mut(&place.queue_id));
        let (next, last_phy) = (place.next_offset(), Some(request.phy_offset));
        match known {
            None if queue_offset > 0 && !from_beginning => return true,
            None => {
                let topic = self.0.entry(place.topic.to_owned()).or_default();
                topic.insert(place.queue_id, QueueEnd { next, last_phy, found: None });
            }
            Some(end) if queue_offset < end.next => {}
            Some(end) if end.last_phy.is_some_and(|last| last > request.phy_offset) => {}
            Some(end) if queue_offset > end.next && !shared.is_possible_gap(request, place, end.next) => {}
            Some(end) if queue_offset > end.next && shared.holds_unit(request, place) => {}
            Some(end) if queue_offset > end.next && !from_beginning => return true,
            Some(end) => (end.next, end.last_phy) = (next, last_phy),
        }
        false
    }
}

impl Shared {
    /// True when a unit of the record stands in its queue, wherever.
    fn holds_unit(&self, request: &DispatchRequest<'_>, place: &UnitPlace<'_>) -> bool {
        let handle = self.queues.get(place.topic, place.queue_id);
        handle.is_some_and(|handle| handle.queue.holds(request.phy_offset))
    }
}
