//! From a queue offset to units.

use super::ConsumeQueue;
use super::format::{UNIT_SIZE, Unit};
use super::search::first_where;
use store_mmap::MappedSlice;

/// Units of one queue file, from some queue offset on. A place that holds no unit (damage inside the queue) counts as
/// blank, so that whoever reads gets past it.
#[derive(Debug)]
pub struct Units<'a> {
    queue: &'a ConsumeQueue,
    bytes: MappedSlice,
    first: u64,
    next: usize,
}

impl Iterator for Units<'_> {
    type Item = (u64, Unit);

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.next * UNIT_SIZE as usize;
        let place = self.bytes.get(at..at + UNIT_SIZE as usize)?;
        let queue_offset = self.first + self.next as u64;
        self.next += 1;
        let unit = Unit::decode(place).map(|unit| self.queue.resolve(unit));
        Some((queue_offset, unit.unwrap_or(Unit::BLANK)))
    }
}

/// A view of one queue file, kept by whoever looks at the places of a queue one after the other.
#[derive(Debug, Default)]
pub struct UnitWindow {
    bytes: Option<MappedSlice>,
    /// Queue offset of its first unit.
    first: u64,
}

impl UnitWindow {
    fn place(&self, queue_offset: u64) -> Option<&[u8]> {
        let skip = usize::try_from(queue_offset.checked_sub(self.first)?).ok()?;
        let at = skip.checked_mul(UNIT_SIZE as usize)?;
        self.bytes.as_ref()?.get(at..at.checked_add(UNIT_SIZE as usize)?)
    }
}

impl ConsumeQueue {
    /// True when `unit` stands at `queue_offset`, so that putting it would find it present and there.
    pub fn holds_at(&self, window: &mut UnitWindow, queue_offset: u64, unit: Unit) -> bool {
        if window.place(queue_offset).is_none() {
            let bytes = queue_offset.checked_mul(UNIT_SIZE).and_then(|at| self.files.slice_rest(at));
            *window = UnitWindow { bytes, first: queue_offset };
        }
        let present = window.place(queue_offset).and_then(Unit::decode);
        present.is_some_and(|present| super::append::is_unit(&self.resolve(present), &unit))
    }

    /// The unit at `queue_offset`; `None` where nothing is.
    pub fn unit(&self, queue_offset: u64) -> Option<Unit> {
        let bytes = self.files.slice(queue_offset.checked_mul(UNIT_SIZE)?, UNIT_SIZE)?;
        Unit::decode(&bytes).map(|unit| self.resolve(unit))
    }

    /// Units from `queue_offset` to the end of its file; `None` where nothing is.
    pub fn units_from(&self, queue_offset: u64) -> Option<Units<'_>> {
        let bytes = self.files.slice_rest(queue_offset.checked_mul(UNIT_SIZE)?)?;
        Some(Units { queue: self, bytes, first: queue_offset, next: 0 })
    }

    /// Queue offset and unit of the first message at `queue_offset` or behind the blanks that stand there.
    pub fn message_from(&self, mut queue_offset: u64) -> Option<(u64, Unit)> {
        loop {
            let mut units = self.units_from(queue_offset)?;
            if let Some(found) = units.find(|(_, unit)| !unit.is_blank()) {
                return Some(found);
            }
            queue_offset = self.roll_next(queue_offset);
        }
    }

    /// True when a unit of the record at `phy_offset` stands anywhere in the queue.
    pub fn holds(&self, phy_offset: u64) -> bool {
        let first = self.files.min_offset().unwrap_or(0) / UNIT_SIZE;
        let behind = |queue_offset| {
            self.message_from(queue_offset).is_none_or(|(_, unit)| unit.phy_offset >= phy_offset)
        };
        let place = first_where(first, self.max_offset(), behind);
        self.message_from(place).is_some_and(|(_, unit)| unit.phy_offset == phy_offset)
    }

    /// Queue offset at which the next queue file begins.
    pub fn roll_next(&self, queue_offset: u64) -> u64 {
        self.files.roll_next(queue_offset.saturating_mul(UNIT_SIZE)) / UNIT_SIZE
    }

    /// The newest unit, when it stands for a message.
    pub fn last_unit(&self) -> Option<Unit> {
        let last = self.unit(self.max_offset().checked_sub(1)?)?;
        (!last.is_blank()).then_some(last)
    }
}
