//! A queue of either kind, for all who treat both alike (`ConsumeQueueInterface`).
//!
//! Units have numbers, counted from byte 0 of the queue's files. In an ordinary queue the number of a unit is its queue
//! offset; in a batch queue a unit stands for as many queue offsets as its record has messages.

use crate::batch_consume_queue::format::NOT_COMPACTED;
use crate::batch_consume_queue::{BatchConsumeQueue, BatchUnit, BatchUnits, BatchWindow};
use crate::consume_queue::{BoundaryType, ConsumeQueue, PutUnit, Unit, UnitWindow, Units};
use crate::error::Result;
use crate::queue_type::QueueType;
use store_mmap::MappedFileQueue;

/// A unit and its place in the queue (`CqUnit`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CqUnit {
    /// Queue offset of the first message of the record.
    pub queue_offset: u64,
    /// Messages in the record, at least 1.
    pub count: u16,
    /// Where the record is.
    pub unit: Unit,
}

impl CqUnit {
    /// A unit of one message.
    pub fn single(queue_offset: u64, unit: Unit) -> Self {
        Self { queue_offset, count: 1, unit }
    }

    /// Queue offset behind the last message.
    pub fn next_offset(&self) -> u64 {
        self.queue_offset.saturating_add(u64::from(self.count))
    }
}

impl From<BatchUnit> for CqUnit {
    fn from(unit: BatchUnit) -> Self {
        Self { queue_offset: unit.base_offset, count: unit.batch_size, unit: unit.place() }
    }
}

/// Kept by whoever looks at the places of one queue one after the other.
#[derive(Debug, Default)]
pub struct QueueWindow {
    units: UnitWindow,
    batch: BatchWindow,
}

/// The units of one topic and queue.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "most queues are of the larger kind, and puts go straight to it"
)]
pub enum Queue {
    /// `queue.type=SimpleCQ`.
    Simple(ConsumeQueue),
    /// `queue.type=BatchCQ`.
    Batch(BatchConsumeQueue),
}

/// Calls the same method of either kind.
macro_rules! either {
    ($self:ident, $queue:ident => $call:expr) => {
        match $self {
            Queue::Simple($queue) => $call,
            Queue::Batch($queue) => $call,
        }
    };
}

impl Queue {
    /// Which kind it is.
    pub fn kind(&self) -> QueueType {
        match self {
            Self::Simple(_) => QueueType::SimpleCq,
            Self::Batch(_) => QueueType::BatchCq,
        }
    }

    /// Topic.
    pub fn topic(&self) -> &str {
        either!(self, queue => queue.topic())
    }

    /// Queue of the topic.
    pub fn queue_id(&self) -> i32 {
        either!(self, queue => queue.queue_id())
    }

    /// The files.
    pub fn files(&self) -> &MappedFileQueue {
        either!(self, queue => queue.files())
    }

    /// Queue offset of the first message that can still be read; equals the end when there is none.
    pub fn min_offset(&self) -> u64 {
        either!(self, queue => queue.min_offset())
    }

    /// Queue offset behind the last message.
    pub fn max_offset(&self) -> u64 {
        either!(self, queue => queue.max_offset())
    }

    /// True for a queue that may begin at any queue offset.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Simple(queue) => queue.files().file_count() == 0,
            Self::Batch(queue) => queue.last_unit().is_none(),
        }
    }

    /// Number behind the last unit: it falls when files of the queue get lost.
    pub fn unit_count(&self) -> u64 {
        match self {
            Self::Simple(queue) => queue.max_offset(),
            Self::Batch(queue) => queue.end(),
        }
    }

    /// The unit of the given number; `None` where nothing is. It may be blank in an ordinary queue.
    pub fn unit_at(&self, number: u64) -> Option<CqUnit> {
        match self {
            Self::Simple(queue) => queue.unit(number).map(|unit| CqUnit::single(number, unit)),
            Self::Batch(queue) => queue.unit(number).map(CqUnit::from),
        }
    }

    /// The unit whose record holds the message at `queue_offset`; `None` where no message is.
    pub fn unit_of(&self, queue_offset: u64) -> Option<CqUnit> {
        match self {
            Self::Simple(queue) => {
                let unit = queue.unit(queue_offset).filter(|unit| !unit.is_blank());
                unit.map(|unit| CqUnit::single(queue_offset, unit))
            }
            Self::Batch(queue) => {
                let unit = queue.units_from(queue_offset)?.next()?;
                (unit.base_offset <= queue_offset).then(|| unit.into())
            }
        }
    }

    /// Units from the one that holds `queue_offset` to the end of its file; `None` where nothing is.
    pub fn units_from(&self, queue_offset: u64) -> Option<CqUnits<'_>> {
        match self {
            Self::Simple(queue) => queue.units_from(queue_offset).map(CqUnits::Simple),
            Self::Batch(queue) => queue.units_from(queue_offset).map(CqUnits::Batch),
        }
    }

    /// Queue offset at which a reader goes on that found nothing at `queue_offset`.
    pub fn roll_next(&self, queue_offset: u64) -> u64 {
        match self {
            Self::Simple(queue) => queue.roll_next(queue_offset),
            Self::Batch(queue) => queue.max_offset().max(queue_offset),
        }
    }

    /// The newest unit, when it stands for a message.
    pub fn last_unit(&self) -> Option<CqUnit> {
        match self {
            Self::Simple(queue) => {
                queue.last_unit().map(|unit| CqUnit::single(queue.max_offset().saturating_sub(1), unit))
            }
            Self::Batch(queue) => queue.last_unit().map(CqUnit::from),
        }
    }

    /// True when the unit of a record that was stored at `store_timestamp` stands in its place, below unit number `end`:
    /// putting it would find it present and there.
    pub fn holds_at(&self, window: &mut QueueWindow, unit: &CqUnit, store_timestamp: i64, end: u64) -> bool {
        match self {
            Self::Simple(queue) => {
                unit.queue_offset < end && queue.holds_at(&mut window.units, unit.queue_offset, unit.unit)
            }
            Self::Batch(queue) => queue.holds_at(&mut window.batch, &batch_unit(unit, store_timestamp), end),
        }
    }

    /// True when a unit of the record at `phy_offset` stands anywhere in the queue.
    pub fn holds(&self, phy_offset: u64) -> bool {
        either!(self, queue => queue.holds(phy_offset))
    }

    /// Queue offset by store time; see [`ConsumeQueue::offset_by_time`]. `store_time` looks a unit's record up in the
    /// log; units of a batch queue know the time themselves.
    pub fn offset_by_time(
        &self,
        timestamp: i64,
        boundary: BoundaryType,
        store_time: impl Fn(&Unit) -> Option<i64>,
    ) -> u64 {
        match self {
            Self::Simple(queue) => queue.offset_by_time(timestamp, boundary, store_time),
            Self::Batch(queue) => queue.offset_by_time(timestamp, boundary),
        }
    }

    /// Puts the unit of a record that was stored at `store_timestamp`; see [`ConsumeQueue::put`]. An ordinary queue has
    /// one place for it, however many messages it holds.
    ///
    /// # Errors
    ///
    /// The next file could not be made.
    pub fn put(&self, unit: &CqUnit, store_timestamp: i64) -> Result<PutUnit> {
        match self {
            Self::Simple(queue) => queue.put_stored(unit.queue_offset, unit.unit, Some(store_timestamp)),
            Self::Batch(queue) => queue.put(batch_unit(unit, store_timestamp)),
        }
    }

    /// The same behind places whose messages are lost: they stay empty.
    ///
    /// # Errors
    ///
    /// As [`Queue::put`].
    pub fn put_behind_gap(&self, unit: &CqUnit, store_timestamp: i64) -> Result<PutUnit> {
        match self {
            Self::Simple(queue) => {
                queue.pad_to(unit.queue_offset)?;
                queue.put_stored(unit.queue_offset, unit.unit, Some(store_timestamp))
            }
            Self::Batch(queue) => queue.put_behind_gap(batch_unit(unit, store_timestamp)),
        }
    }

    /// Makes way for a new queue of this name: the unit that holds `queue_offset` and all behind it go.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn restart_at(&self, queue_offset: u64) -> Result<()> {
        either!(self, queue => queue.restart_at(queue_offset))
    }

    /// Cuts the unit of the given number and all behind it.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn cut_at(&self, number: u64) -> Result<()> {
        match self {
            Self::Simple(queue) => queue.restart_at(number),
            Self::Batch(queue) => queue.cut_at(number),
        }
    }

    /// Number at which the queue ends in a log that ends at `log_end`; see [`ConsumeQueue::end_in`]. Changes nothing.
    pub fn end_in(&self, log_end: u64) -> Option<u64> {
        either!(self, queue => queue.end_in(log_end))
    }

    /// Cuts everything behind [`Queue::end_in`].
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn recover(&self, log_end: u64) -> Result<()> {
        either!(self, queue => queue.recover(log_end))
    }

    /// Cuts units of records at or behind `log_end`.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn truncate(&self, log_end: u64) -> Result<()> {
        either!(self, queue => queue.truncate(log_end))
    }

    /// Writes the units of records at or behind `phy_offset` once more and makes them durable, whatever is known of them;
    /// see [`ConsumeQueue::rewrite_records_from`]. Returns whether they are all the queue has.
    ///
    /// # Errors
    ///
    /// A failed sync.
    pub fn rewrite_records_from(&self, phy_offset: u64) -> Result<bool> {
        either!(self, queue => queue.rewrite_records_from(phy_offset))
    }

    /// Moves the minimum to the first unit whose record is not below `log_min`.
    pub fn correct_min_offset(&self, log_min: u64) {
        either!(self, queue => queue.correct_min_offset(log_min));
    }

    /// Deletes files whose last record lies below `log_min` (the last file stays), then corrects the minimum. Returns the
    /// number of files deleted.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn delete_expired(&self, log_min: u64) -> Result<usize> {
        either!(self, queue => queue.delete_expired(log_min))
    }

    /// Makes units durable; see [`MappedFileQueue::flush`].
    ///
    /// # Errors
    ///
    /// A failed sync; nothing may be trusted afterwards.
    pub fn flush(&self, least_pages: u32) -> Result<u64> {
        either!(self, queue => queue.flush(least_pages))
    }

    /// Deletes the queue's files.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn destroy(&self) -> Result<()> {
        either!(self, queue => queue.destroy())
    }
}

fn batch_unit(unit: &CqUnit, store_timestamp: i64) -> BatchUnit {
    BatchUnit {
        phy_offset: unit.unit.phy_offset,
        size: unit.unit.size,
        tags_code: unit.unit.tags_code,
        store_timestamp,
        base_offset: unit.queue_offset,
        batch_size: unit.count,
        compacted_offset: NOT_COMPACTED,
    }
}

/// Units of one queue file, from some queue offset on.
#[derive(Debug)]
pub enum CqUnits<'a> {
    /// Of an ordinary queue; places without a message are blank.
    Simple(Units<'a>),
    /// Of a batch queue.
    Batch(BatchUnits),
}

impl Iterator for CqUnits<'_> {
    type Item = CqUnit;

    fn next(&mut self) -> Option<CqUnit> {
        match self {
            Self::Simple(units) => {
                units.next().map(|(queue_offset, unit)| CqUnit::single(queue_offset, unit))
            }
            Self::Batch(units) => units.next().map(CqUnit::from),
        }
    }
}
