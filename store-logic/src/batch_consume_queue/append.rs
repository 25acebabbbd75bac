//! One more unit.

use super::BatchConsumeQueue;
use super::format::BatchUnit;
use crate::error::Result;

/// What became of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutBatchUnit {
    /// Written.
    Appended,
    /// Its record is in the queue already, or was.
    Present,
    /// Its first message would not follow the last one. Nothing was written.
    OutOfPlace {
        /// Queue offset that comes next.
        next: u64,
    },
}

impl BatchConsumeQueue {
    /// Puts a unit behind the last one. Units come in the order of the log; one whose record does not lie behind the
    /// newest record of the queue has been put before. An empty queue may begin at any queue offset.
    ///
    /// # Errors
    ///
    /// The next file could not be made.
    pub fn put(&self, unit: BatchUnit) -> Result<PutBatchUnit> {
        if let Some(last) = self.last_unit() {
            if unit.phy_offset <= last.phy_offset {
                return Ok(PutBatchUnit::Present);
            }
            if unit.base_offset != last.next_offset() {
                return Ok(PutBatchUnit::OutOfPlace { next: last.next_offset() });
            }
        }
        let file = self.files.last_for_append(self.files.max_offset())?;
        file.append(&unit.encode())?;
        Ok(PutBatchUnit::Appended)
    }
}
