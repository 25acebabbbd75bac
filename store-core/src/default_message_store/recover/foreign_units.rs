//! Units whose places in the log hold something else: left from before an earlier cut, or damaged. They would hand a
//! record to the wrong queue, and keep the right unit from its place.

use crate::default_message_store::Shared;
use crate::error::StoreError;
use store_logic::commit_log::format::{Decoded, decode};
use store_logic::dispatch::{DispatchRequest, UnitPlace};
use store_logic::multi_dispatch::LMQ_PREFIX;
use store_logic::{CqUnit, Queue};

impl Shared {
    /// Cuts such units at the end of every queue, as far back as the log from `from` on.
    pub(super) fn cut_foreign_units(&self, from: u64) -> Result<(), StoreError> {
        self.queues.all().iter().try_for_each(|handle| self.cut_foreign_end(&handle.queue, from))
    }

    fn cut_foreign_end(&self, queue: &Queue, from: u64) -> Result<(), StoreError> {
        let end = self.end_of_own(queue, queue.unit_count(), from);
        if end < queue.unit_count() {
            tracing::warn!(
                topic = queue.topic(),
                queue_id = queue.queue_id(),
                end,
                units = queue.unit_count() - end,
                "the last units of a queue name no records of it; cutting them"
            );
            queue.cut_at(end)?;
        }
        Ok(())
    }

    /// Where a queue that ends at unit number `end` ends without such units.
    pub(super) fn end_of_own(&self, queue: &Queue, mut end: u64, from: u64) -> u64 {
        // What stands in light queues is known only while they are served.
        if queue.topic().starts_with(LMQ_PREFIX) && !self.config.multi_dispatch.is_on() {
            return end;
        }
        while let Some(last) = end.checked_sub(1) {
            let found = queue.unit_at(last);
            let found = found.filter(|found| !found.unit.is_blank() && found.unit.phy_offset >= from);
            if found.is_none_or(|found| self.is_own(&found, queue)) {
                break;
            }
            end = last;
        }
        end
    }

    /// True when the unit's record is there and has its place where the unit stands.
    pub(super) fn is_own(&self, found: &CqUnit, queue: &Queue) -> bool {
        let unit = found.unit;
        let Some(record) = self.log.slice(unit.phy_offset, unit.size) else { return false };
        match decode(&record, false) {
            Ok(Decoded::Record(view)) if view.total_size == unit.size => {
                let place = UnitPlace {
                    topic: queue.topic(),
                    queue_id: queue.queue_id(),
                    queue_offset: found.queue_offset,
                    count: found.count,
                };
                let request = DispatchRequest::new(unit.phy_offset, &view, &self.config.delay_levels);
                self.own_place(&request) == place || request.light_places().any(|light| light == place)
            }
            _ => false,
        }
    }
}
