//! One more unit. The same unit may come again after a restart; it never lands in another place than its own.

use super::format::{UNIT_SIZE, Unit};
use super::{ConsumeQueue, LOOK_UP};
use crate::error::Result;
use crate::sync::{Arc, Ordering};
use store_mmap::MappedFile;

/// What became of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutUnit {
    /// Written.
    Appended,
    /// It stands there already.
    Present,
    /// Nothing is to be written any more: the place was given up as lost, or the unit is of a former queue of this name,
    /// which was deleted, and a later record has the place now.
    Stale,
    /// The record has its place, but its unit is another: it was torn by a crash. Nothing was written.
    Torn(Unit),
    /// Its place is taken by a record that stands earlier in the log: the units from there on are of a former queue of
    /// this name. Nothing was written.
    Taken(Unit),
    /// Units before it are missing. Nothing was written.
    Gap {
        /// Queue offset that should come next.
        next: u64,
    },
}

impl ConsumeQueue {
    /// Puts `unit` at `queue_offset`. An empty queue may begin anywhere: the places before in its first file are filled
    /// with blank units.
    pub fn put(&self, queue_offset: u64, unit: Unit) -> Result<PutUnit> {
        self.put_stored(queue_offset, unit, None)
    }

    /// The same for a record stored at `store_timestamp`, which the queue's extension keeps beside the tag code when
    /// there is one to write.
    pub fn put_stored(&self, queue_offset: u64, unit: Unit, store_timestamp: Option<i64>) -> Result<PutUnit> {
        if let Some(file) = self.file_of_next(queue_offset, unit.phy_offset) {
            self.append_to(&file, self.extend(unit, store_timestamp)?)?;
            return Ok(PutUnit::Appended);
        }
        let next = self.max_offset();
        // A place beyond what a file name can say is no place.
        let end = queue_offset.checked_mul(UNIT_SIZE).and_then(|at| at.checked_add(self.files.file_size()));
        if end.is_none() {
            return Ok(PutUnit::Gap { next });
        }
        if queue_offset < next {
            return Ok(self.compare(queue_offset, unit));
        }
        if self.files.file_count() == 0 {
            self.begin_at(queue_offset)?;
        } else if self.last_unit().is_some_and(|last| last.phy_offset > unit.phy_offset) {
            return Ok(PutUnit::Stale);
        } else if queue_offset > next {
            return Ok(PutUnit::Gap { next });
        }
        self.append(self.extend(unit, store_timestamp)?)?;
        Ok(PutUnit::Appended)
    }

    /// The file to append to when `queue_offset` is the next place and `phy_offset` is known to follow the newest record:
    /// nearly always, and then nothing has to be looked up.
    fn file_of_next(&self, queue_offset: u64, phy_offset: u64) -> Option<Arc<MappedFile>> {
        let newest = self.newest_record.load(Ordering::Relaxed);
        let file = self.files.last().filter(|_| newest != LOOK_UP && newest <= phy_offset)?;
        let position = file.committed_position();
        let inside = position > 0 && position < file.file_size();
        let next = (file.file_from_offset() + position) / UNIT_SIZE;
        (inside && queue_offset == next).then_some(file)
    }

    fn compare(&self, queue_offset: u64, unit: Unit) -> PutUnit {
        match self.unit(queue_offset) {
            // Below the first file: long gone.
            None => PutUnit::Present,
            Some(present) if present.is_blank() => PutUnit::Stale,
            Some(present) if is_unit(&present, &unit) => PutUnit::Present,
            Some(present) if present.phy_offset == unit.phy_offset => PutUnit::Torn(present),
            Some(present) if present.phy_offset > unit.phy_offset => PutUnit::Stale,
            Some(present) => PutUnit::Taken(present),
        }
    }

    /// Fills the places up to `queue_offset` with blank units: their messages are lost, and no later one may take their
    /// place.
    pub fn pad_to(&self, queue_offset: u64) -> Result<()> {
        if self.files.file_count() == 0 {
            return self.begin_at(queue_offset);
        }
        while self.max_offset() < queue_offset {
            self.append(Unit::BLANK)?;
        }
        Ok(())
    }

    fn begin_at(&self, queue_offset: u64) -> Result<()> {
        let file = self.files.last_for_append(queue_offset * UNIT_SIZE)?;
        let first = file.file_from_offset() / UNIT_SIZE;
        if queue_offset > first {
            let blanks = queue_offset - first;
            file.append_with(blanks * UNIT_SIZE, |target| {
                for place in target.chunks_exact_mut(UNIT_SIZE as usize) {
                    place.copy_from_slice(&Unit::BLANK.encode());
                }
            })?;
        }
        self.newest_record.store(LOOK_UP, Ordering::Relaxed);
        self.min_offset.store(queue_offset, Ordering::Release);
        Ok(())
    }

    fn append(&self, unit: Unit) -> Result<()> {
        let file = self.files.last_for_append(self.files.max_offset())?;
        self.append_to(&file, unit)
    }

    fn append_to(&self, file: &MappedFile, unit: Unit) -> Result<()> {
        file.append(&unit.encode())?;
        self.newest_record.store(if unit.is_blank() { 0 } else { unit.phy_offset }, Ordering::Relaxed);
        Ok(())
    }
}

/// True when what stands in a place is the unit.
pub(super) fn is_unit(present: &Unit, unit: &Unit) -> bool {
    present == unit || is_extended(present, unit)
}

/// True when `present` is `unit` with an address in the queue's extension in place of its tag code. The upper half of a
/// negative hash alone, which a crash may leave, is no address.
fn is_extended(present: &Unit, unit: &Unit) -> bool {
    let same_record = (present.phy_offset, present.size) == (unit.phy_offset, unit.size);
    same_record && present.has_ext_address() && present.tags_code >> 32 != -1
}
