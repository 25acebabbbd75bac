//! From a queue offset, or a time, to units.

use super::BatchConsumeQueue;
use super::append::is_unit;
use super::format::{BatchUnit, UNIT_SIZE};
use crate::consume_queue::{BoundaryType, first_where};
use crate::sync::Ordering;
use store_mmap::MappedSlice;

/// Units of one queue file, from some unit on; ends at the first place that holds none.
#[derive(Debug)]
pub struct BatchUnits {
    bytes: MappedSlice,
    next: usize,
}

impl Iterator for BatchUnits {
    type Item = BatchUnit;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.next * UNIT_SIZE as usize;
        let unit = BatchUnit::decode(self.bytes.get(at..at + UNIT_SIZE as usize)?)?;
        self.next += 1;
        Some(unit)
    }
}

/// Where whoever looks at the units of a queue one after the other has come to.
#[derive(Debug, Default)]
pub struct BatchWindow {
    /// Number of the unit that is looked at next.
    next: u64,
}

impl BatchConsumeQueue {
    /// True when `unit` stands in its place, as one of the units below number `end`, so that putting it would find it
    /// present.
    pub fn holds_at(&self, window: &mut BatchWindow, unit: &BatchUnit, end: u64) -> bool {
        let stands_at = |number| self.unit(number).is_some_and(|present| is_unit(&present, unit));
        let number = if stands_at(window.next) {
            window.next
        } else {
            match self.number_of(unit.base_offset).filter(|number| stands_at(*number)) {
                Some(number) => number,
                None => return false,
            }
        };
        window.next = number + 1;
        number < end
    }

    /// The unit of the given number, counted from byte 0 of the queue; `None` where nothing is.
    pub fn unit(&self, number: u64) -> Option<BatchUnit> {
        BatchUnit::decode(&self.files.slice(number.checked_mul(UNIT_SIZE)?, UNIT_SIZE)?)
    }

    /// The newest unit.
    pub fn last_unit(&self) -> Option<BatchUnit> {
        self.unit(self.end().checked_sub(1)?)
    }

    /// Units from the one that holds `queue_offset` (which may lie in the middle of its batch), or the first one behind it
    /// where the messages are lost, to the end of its file; `None` outside the queue.
    pub fn units_from(&self, queue_offset: u64) -> Option<BatchUnits> {
        let number = self.number_of(queue_offset)?;
        let bytes = self.files.slice_rest(number * UNIT_SIZE)?;
        Some(BatchUnits { bytes, next: 0 })
    }

    /// Number of the unit that holds `queue_offset`, or of the first one behind it; `None` outside the queue.
    pub(super) fn number_of(&self, queue_offset: u64) -> Option<u64> {
        let (begin, end) = (self.begin(), self.end());
        let ends_behind = |number| self.unit(number).is_some_and(|unit| unit.next_offset() > queue_offset);
        let number = first_where(begin, end, ends_behind);
        let unit = self.unit(number)?;
        (number > begin || unit.base_offset <= queue_offset).then_some(number)
    }

    /// True when the unit of the record at `phy_offset` stands anywhere in the queue.
    pub fn holds(&self, phy_offset: u64) -> bool {
        let behind = |number| self.unit(number).is_none_or(|unit| unit.phy_offset >= phy_offset);
        let number = first_where(self.begin(), self.end(), behind);
        self.unit(number).is_some_and(|unit| unit.phy_offset == phy_offset)
    }

    /// Queue offset by store time, which the units hold themselves. LOWER: first message of the first record stored at the
    /// time or later, the end when there is none. UPPER: first message of the last record stored at the time or earlier,
    /// the minimum when there is none.
    pub fn offset_by_time(&self, timestamp: i64, boundary: BoundaryType) -> u64 {
        let (first, end) = (self.first_unit.load(Ordering::Acquire).max(self.begin()), self.end());
        let time_at = |number| self.unit(number).map_or(i64::MAX, |unit| unit.store_timestamp);
        let number = match boundary {
            BoundaryType::Lower => first_where(first, end, |number| time_at(number) >= timestamp),
            BoundaryType::Upper => {
                first_where(first, end, |number| time_at(number) > timestamp).saturating_sub(1).max(first)
            }
        };
        self.unit(number).map_or(self.max_offset(), |unit| unit.base_offset)
    }
}
