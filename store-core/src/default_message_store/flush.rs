//! Making parts of the store durable, and the checkpoint that says so.

use super::Shared;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use store_logic::Result;

impl Shared {
    /// Syncs the log; returns the position below which it is durable.
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
        let end = self.log.max_offset();
        match self.log.flush(least_pages) {
            Ok(durable) => {
                if durable >= end && newest > 0 {
                    self.note_physic(newest);
                }
                Ok(durable)
            }
            Err(error) => {
                self.flags.fail(error.to_string());
                Err(error.to_string())
            }
        }
    }

    fn note_physic(&self, timestamp: i64) {
        if let Err(error) = self.checkpoint.set_physic_msg_timestamp(timestamp) {
            self.flags.fail(error.to_string());
        }
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
