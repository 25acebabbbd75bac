//! The queue's extension: where it is written or found, tag codes are addresses on disk and codes again for whoever
//! reads.

use super::ConsumeQueue;
use super::format::{UNIT_SIZE, Unit};
use crate::consume_queue_ext::ConsumeQueueExt;
use crate::consume_queue_ext::format::{ExtUnit, offset_of};
use crate::error::Result;

/// The extension of a queue.
#[derive(Debug)]
pub(super) struct QueueExt {
    files: ConsumeQueueExt,
    /// New units get an extension.
    write: bool,
}

impl ConsumeQueue {
    /// The same queue with its extension, which new units are given when `write` says so. Called before
    /// [`ConsumeQueue::recover`].
    #[must_use]
    pub fn with_ext(mut self, files: ConsumeQueueExt, write: bool) -> Self {
        self.ext = Some(QueueExt { files, write });
        self
    }

    /// The extension of a unit; `None` when it has none.
    pub fn ext_unit(&self, queue_offset: u64) -> Option<ExtUnit> {
        let unit = self.raw_unit(queue_offset)?;
        self.ext.as_ref()?.files.get(unit.tags_code)
    }

    /// The unit as it stands in the queue file.
    fn raw_unit(&self, queue_offset: u64) -> Option<Unit> {
        Unit::decode(&self.files.slice(queue_offset.checked_mul(UNIT_SIZE)?, UNIT_SIZE)?)
    }

    /// The unit with the tag code that its address leads to. An address that leads nowhere stays: the record itself has the
    /// tags ([`Unit::has_ext_address`]).
    pub(super) fn resolve(&self, unit: Unit) -> Unit {
        if !unit.has_ext_address() {
            return unit;
        }
        let found = self.ext.as_ref().and_then(|ext| ext.files.get(unit.tags_code));
        found.map_or(unit, |found| Unit { tags_code: found.tags_code, ..unit })
    }

    /// The unit to be written: its tag code goes into the extension, when there is one to write.
    pub(super) fn extend(&self, unit: Unit, store_timestamp: Option<i64>) -> Result<Unit> {
        let (Some(ext), Some(store_timestamp)) = (&self.ext, store_timestamp) else { return Ok(unit) };
        if !ext.write {
            return Ok(unit);
        }
        let address =
            ext.files.put(&ExtUnit { tags_code: unit.tags_code, store_timestamp, bitmap: Vec::new() })?;
        Ok(address.map_or(unit, |tags_code| Unit { tags_code, ..unit }))
    }

    pub(super) fn flush_ext(&self, least_pages: u32) -> Result<()> {
        match &self.ext {
            Some(ext) => ext.files.flush(least_pages).map(drop),
            None => Ok(()),
        }
    }

    pub(super) fn destroy_ext(&self) -> Result<()> {
        match &self.ext {
            Some(ext) => ext.files.destroy(),
            None => Ok(()),
        }
    }

    /// Finds the extension's end. It must lie behind every address in the queue, or an old address would lead to a new
    /// unit: an extension that has lost its end begins again in a later file.
    pub(super) fn recover_ext(&self) -> Result<()> {
        let Some(ext) = &self.ext else { return Ok(()) };
        ext.files.recover()?;
        let first = self.files.min_offset().unwrap_or(0) / UNIT_SIZE;
        let addresses =
            (first..self.max_offset()).rev().filter_map(|at| offset_of(self.raw_unit(at)?.tags_code));
        match addresses.take(1).next() {
            Some(newest) if newest >= ext.files.end() => {
                tracing::warn!(
                    topic = self.topic(),
                    queue_id = self.queue_id(),
                    newest,
                    end = ext.files.end(),
                    "the extension of a queue has lost its end; beginning again behind it"
                );
                ext.files.begin_behind(newest)
            }
            _ => Ok(()),
        }
    }

    /// Writes what units from `queue_offset` on have in the extension once more, and makes it durable.
    pub(super) fn rewrite_ext_from(&self, queue_offset: u64) -> Result<()> {
        let Some(ext) = &self.ext else { return Ok(()) };
        let mut units = queue_offset..self.max_offset();
        let first = units.find_map(|at| offset_of(self.raw_unit(at)?.tags_code));
        first.map_or(Ok(()), |first| ext.files.rewrite_from(first))
    }

    pub(super) fn delete_expired_ext(&self) -> Result<()> {
        let Some(ext) = &self.ext else { return Ok(()) };
        if let Some(oldest) = self.raw_unit(self.min_offset()) {
            ext.files.delete_before(oldest.tags_code)?;
        }
        Ok(())
    }
}
