//! An orderly stop: nothing is lost, and the next start finds it clean.

use super::DefaultMessageStore;
use crate::abort_file;
use crate::error::StoreError;
use crate::message_store::{LogPositions, MessageStore};
use crate::store_notes::CleanStop;
use crate::sync::PoisonError;

impl DefaultMessageStore {
    /// Refuses writes, lets the services finish (dispatch catches up), makes everything durable, and only then removes
    /// the abort file. Later calls do nothing.
    ///
    /// # Errors
    ///
    /// What could not be made durable. The abort file stays then, and the next start recovers.
    pub fn shutdown(&self) -> Result<(), StoreError> {
        self.shutdown_with(|_| ())
    }

    /// A stop that lets its caller save what counts on the log: `last` is called once, when the log is as durable as it
    /// will be, and while nobody else can open the store.
    ///
    /// # Errors
    ///
    /// As [`DefaultMessageStore::shutdown`].
    pub fn shutdown_with(&self, last: impl FnOnce(LogPositions)) -> Result<(), StoreError> {
        let mut lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if lock.is_none() {
            return Ok(());
        }
        let shared = &self.shared;
        shared.flags.set_stopped();
        // A put looks at the flag again once it holds the tail: taking the tail here means that none is left.
        drop(shared.log.lock_tail(|| shared.env.now_millis()));
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads.into_iter().rev() {
            thread.stop();
        }
        let flushed = self.make_durable();
        // Dispatch may have had to wait for the last sync.
        while let Ok(true) = shared.dispatch_some() {}
        while let Ok(true) = shared.index_some() {}
        let settled = flushed.and_then(|()| self.make_durable());
        shared.group_commit.close(shared.flush_log(0));
        last(self.log_positions());
        shared.log.files().discard_unused().map_err(store_logic::LogicError::from)?;
        let nothing_left = shared.dispatch_behind_bytes() == 0
            && !shared.is_index_behind()
            && shared.log.files().dirty_bytes() == 0;
        if settled.is_ok() && shared.flags.is_intact() && nothing_left {
            let index = shared.index_extent()?;
            let (log_end, units) = (shared.log.max_offset(), shared.count_units());
            shared.notes.set_clean_stop(Some(CleanStop { log_end, units, index }));
            shared.notes.write()?;
            abort_file::remove(&shared.env, &shared.paths)?;
        }
        *lock = None;
        settled
    }

    fn make_durable(&self) -> Result<(), StoreError> {
        let shared = &self.shared;
        // A failure is in the running flags, which keep the abort file. After a failed sync the log is not synced again,
        // but what stands in write buffers goes to the files.
        let _ = shared.commit_log(0);
        let _ = shared.flush_log(0);
        shared.flush_queues_thoroughly()?;
        if let Some(index) = &shared.index {
            index.flush()?;
        }
        // As a start would set it: a stop and a start change nothing.
        shared.checkpoint.set_confirm_phy_offset(shared.log.max_offset())?;
        Ok(shared.flush_checkpoint()?)
    }
}
