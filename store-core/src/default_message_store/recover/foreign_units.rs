//! Units whose places in the log hold something else: left from before an earlier cut, or damaged. They would hand a
//! record to the wrong queue, and keep the right unit from its place.

use crate::default_message_store::Shared;
use crate::error::StoreError;
use store_logic::commit_log::format::{Decoded, decode};
use store_logic::consume_queue::{ConsumeQueue, Unit};
use store_logic::dispatch::{DispatchRequest, UnitPlace};
use store_logic::multi_dispatch::LMQ_PREFIX;

impl Shared {
    /// Cuts such units at the end of every queue, as far back as the log from `from` on.
    pub(super) fn cut_foreign_units(&self, from: u64) -> Result<(), StoreError> {
        self.queues.all().iter().try_for_each(|handle| self.cut_foreign_end(&handle.queue, from))
    }

    fn cut_foreign_end(&self, queue: &ConsumeQueue, from: u64) -> Result<(), StoreError> {
        let end = self.end_of_own(queue, queue.max_offset(), from);
        if end < queue.max_offset() {
            tracing::warn!(
                topic = queue.topic(),
                queue_id = queue.queue_id(),
                end,
                units = queue.max_offset() - end,
                "the last units of a queue name no records of it; cutting them"
            );
            queue.restart_at(end)?;
        }
        Ok(())
    }

    /// Where a queue that ends at `end` ends without such units.
    pub(super) fn end_of_own(&self, queue: &ConsumeQueue, mut end: u64, from: u64) -> u64 {
        // What stands in light queues is known only while they are served.
        if queue.topic().starts_with(LMQ_PREFIX) && !self.config.multi_dispatch.is_on() {
            return end;
        }
        while let Some(last) = end.checked_sub(1) {
            let unit = queue.unit(last).filter(|unit| !unit.is_blank() && unit.phy_offset >= from);
            if unit.is_none_or(|unit| self.is_unit_of(&unit, queue, last)) {
                break;
            }
            end = last;
        }
        end
    }

    fn is_unit_of(&self, unit: &Unit, queue: &ConsumeQueue, queue_offset: u64) -> bool {
        let Some(record) = self.log.slice(unit.phy_offset, unit.size) else { return false };
        match decode(&record, false) {
            Ok(Decoded::Record(view)) if view.total_size == unit.size => {
                let place = UnitPlace { topic: queue.topic(), queue_id: queue.queue_id(), queue_offset };
                let request = DispatchRequest::new(unit.phy_offset, &view, &self.config.delay_levels);
                request.own_place() == place || request.light_places().any(|light| light == place)
            }
            _ => false,
        }
    }
}
