//! One more unit. The same unit may come again after a restart; it never lands in another place than its own.

use super::BatchConsumeQueue;
use super::format::{BatchUnit, UNIT_SIZE};
use crate::consume_queue::PutUnit;
use crate::error::Result;

impl BatchConsumeQueue {
    /// Puts a unit behind the last one; what becomes of it is told as by an ordinary queue. An empty queue may begin at
    /// any queue offset.
    ///
    /// # Errors
    ///
    /// The next file could not be made.
    pub fn put(&self, unit: BatchUnit) -> Result<PutUnit> {
        let next = self.max_offset();
        if unit.base_offset < next {
            return Ok(self.compare(&unit));
        }
        match self.last_unit() {
            Some(last) if last.phy_offset >= unit.phy_offset => Ok(PutUnit::Stale),
            Some(_) if unit.base_offset > next => Ok(PutUnit::Gap { next }),
            _ => self.append(&unit),
        }
    }

    /// The same, but the queue offsets between the last unit and this one stay empty: their messages are lost.
    ///
    /// # Errors
    ///
    /// As [`BatchConsumeQueue::put`].
    pub fn put_behind_gap(&self, unit: BatchUnit) -> Result<PutUnit> {
        match self.put(unit)? {
            PutUnit::Gap { .. } => self.append(&unit),
            put => Ok(put),
        }
    }

    fn compare(&self, unit: &BatchUnit) -> PutUnit {
        let present = self.number_of(unit.base_offset).and_then(|number| self.unit(number));
        let Some(present) = present else { return PutUnit::Present };
        if present.base_offset > unit.base_offset || present.phy_offset > unit.phy_offset {
            // Its place was given up, or is a later record's.
            PutUnit::Stale
        } else if is_unit(&present, unit) {
            PutUnit::Present
        } else if present.phy_offset == unit.phy_offset {
            PutUnit::Torn(present.place())
        } else {
            PutUnit::Taken(present.place())
        }
    }

    fn append(&self, unit: &BatchUnit) -> Result<PutUnit> {
        // A queue offset or a byte beyond what a file can say is no place.
        let end = i64::try_from(unit.next_offset()).is_ok();
        if !end || unit.batch_size == 0 || i16::try_from(unit.batch_size).is_err() {
            return Ok(PutUnit::Gap { next: self.max_offset() });
        }
        let file = self.files.last_for_append(self.files.max_offset())?;
        debug_assert_eq!(file.wrote_position() % UNIT_SIZE, 0);
        file.append(&unit.encode())?;
        Ok(PutUnit::Appended)
    }
}

/// True when what stands in a place is the unit, whatever it says of a compacted log.
pub(super) fn is_unit(present: &BatchUnit, unit: &BatchUnit) -> bool {
    BatchUnit { compacted_offset: unit.compacted_offset, ..*present } == *unit
}
