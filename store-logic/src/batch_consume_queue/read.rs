//! From a queue offset, or a time, to units.

use super::BatchConsumeQueue;
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

impl BatchConsumeQueue {
    /// The unit of the given number, counted from byte 0 of the queue; `None` where nothing is.
    pub fn unit(&self, number: u64) -> Option<BatchUnit> {
        BatchUnit::decode(&self.files.slice(number.checked_mul(UNIT_SIZE)?, UNIT_SIZE)?)
    }

    /// The newest unit.
    pub fn last_unit(&self) -> Option<BatchUnit> {
        self.unit(self.end().checked_sub(1)?)
    }

    /// Units from the one that holds `queue_offset` (which may lie in the middle of its batch) to the end of its file;
    /// `None` when no unit that can be read holds it.
    pub fn units_from(&self, queue_offset: u64) -> Option<BatchUnits> {
        let number = self.number_of(queue_offset)?;
        let bytes = self.files.slice_rest(number * UNIT_SIZE)?;
        Some(BatchUnits { bytes, next: 0 })
    }

    fn number_of(&self, queue_offset: u64) -> Option<u64> {
        let first = self.first_unit.load(Ordering::Acquire).max(self.begin());
        let end = self.end();
        let ends_behind = |number| self.unit(number).is_some_and(|unit| unit.next_offset() > queue_offset);
        let number = first_where(first, end, ends_behind);
        let holds = self.unit(number).is_some_and(|unit| unit.base_offset <= queue_offset);
        holds.then_some(number)
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
