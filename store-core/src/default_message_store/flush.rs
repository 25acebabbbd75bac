//! Making parts of the store durable, and the checkpoint that says so.

use super::Shared;
use crate::sync::{Ordering, PoisonError};
use store_logic::flushed_mark::FlushedPosition;
use store_logic::{Result, mapping_faults};

impl Shared {
    /// Moves appended records from write buffers to the log files; returns the position below which they can be read.
    ///
    /// # Errors
    ///
    /// The reason why the store refuses writes from now on. Nothing is lost by it: the records are still in the buffer,
    /// and unlike a sync a write that succeeds later can be believed, so it is tried again.
    pub(crate) fn commit_log(&self, least_pages: u32) -> std::result::Result<u64, String> {
        self.log.commit(least_pages).map_err(|error| {
            self.flags.fail(error.to_string());
            error.to_string()
        })
    }

    /// Commits what stands in a write buffer when the record at `phy_offset` is part of that.
    pub(crate) fn commit_for(&self, phy_offset: u64) {
        if (self.log.max_offset()..self.log.wrote_offset()).contains(&phy_offset) {
            // A failure is in the running flags; the record is then not there yet.
            let _ = self.commit_log(0);
        }
    }

    /// Syncs the log, after what stands in write buffers was committed; returns the position below which it is durable.
    ///
    /// # Errors
    ///
    /// The reason why the store refuses writes from now on. A sync is never tried again after one has failed: the kernel
    /// may report success for bytes it has dropped.
    pub(crate) fn flush_log(&self, least_pages: u32) -> std::result::Result<u64, String> {
        let _flushing = self.flushing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reason) = self.flags.failure() {
            return Err(reason.to_owned());
        }
        // Read before the sync: records of that time are then covered by it.
        let newest = self.log.files().last().map_or(0, |file| file.store_timestamp());
        let end = self.log.wrote_offset();
        self.commit_log(least_pages)?;
        match self.log.flush(least_pages) {
            Ok(durable) => {
                if durable >= end && newest > 0 {
                    self.note_physic(newest);
                }
                self.note_flushed(durable);
                Ok(durable)
            }
            Err(error) => {
                self.flags.fail(error.to_string());
                Err(error.to_string())
            }
        }
    }

    /// Refuses writes when a mapped page of log or queues could not be delivered since this was last asked.
    pub(crate) fn check_mappings(&self) {
        let faults = mapping_faults();
        if self.mapping_faults.swap(faults, Ordering::AcqRel) == faults {
            return;
        }
        let of_queues = || self.queues.all().iter().try_for_each(|handle| handle.queue.files().check_fault());
        if let Err(error) = self.log.files().check_fault().and_then(|()| of_queues()) {
            self.flags.fail(error.to_string());
        }
    }

    /// True when the log holds `phy_offset` in a file whose pages cannot all be read.
    pub(super) fn is_unreadable(&self, phy_offset: u64) -> bool {
        let file = self.log.files().find(phy_offset);
        file.is_some_and(|file| file.check_fault().is_err())
    }

    fn note_physic(&self, timestamp: i64) {
        if let Err(error) = self.checkpoint.set_physic_msg_timestamp(timestamp) {
            self.flags.fail(error.to_string());
        }
    }

    /// Notes how far the log is durable, in memory: the kernel writes it sooner or later.
    pub(super) fn note_flushed(&self, position: u64) {
        let Some(mark) = self.flushed_mark.get() else { return };
        let noted = self.checkpoint.fields().and_then(|fields| {
            mark.set(FlushedPosition { position, physic_msg_timestamp: fields.physic_msg_timestamp })
        });
        if let Err(error) = noted {
            self.flags.fail(error.to_string());
        }
    }

    /// Makes the checkpoint durable, and before it the mark of how far the log is: a checkpoint that is newer than the
    /// mark makes it worthless.
    pub(crate) fn flush_checkpoint(&self) -> Result<()> {
        if let Some(mark) = self.flushed_mark.get() {
            mark.flush()?;
        }
        self.checkpoint.flush()
    }

    /// Syncs queues that have enough dirty pages. After a failure nothing is synced any more: what a later sync reports
    /// cannot be believed.
    pub(crate) fn flush_queues(&self, least_pages: u32) -> Result<()> {
        if self.flags.failure().is_some() {
            return Ok(());
        }
        for handle in self.queues.all() {
            if handle.queue.files().dirty_bytes() > 0 {
                handle.queue.flush(least_pages)?;
            }
        }
        Ok(())
    }

    /// Syncs all queues and moves the checkpoint's queue time to what was dispatched before.
    pub(crate) fn flush_queues_thoroughly(&self) -> Result<()> {
        let timestamp = self.dispatched_timestamp.load(Ordering::Acquire);
        let record = self.dispatched_record.load(Ordering::Acquire);
        self.flush_queues(0)?;
        if timestamp > 0 && self.flags.failure().is_none() {
            self.checkpoint.set_logics(timestamp, record)?;
        }
        Ok(())
    }
}
