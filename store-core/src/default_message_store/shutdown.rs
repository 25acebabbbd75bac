//! An orderly stop: nothing is lost, and the next start finds it clean.

use super::DefaultMessageStore;
use crate::abort_file;
use crate::error::StoreError;
use crate::store_snapshot::{self, StoreGeometry, StoreSnapshot};
use std::sync::PoisonError;

impl DefaultMessageStore {
    /// Refuses writes, lets the services finish (dispatch catches up), makes everything durable, and only then removes
    /// the abort file. Later calls do nothing.
    ///
    /// # Errors
    ///
    /// What could not be made durable. The abort file stays then, and the next start recovers.
    pub fn shutdown(&self) -> Result<(), StoreError> {
        let mut lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if lock.is_none() {
            return Ok(());
        }
        let shared = &self.shared;
        shared.flags.set_stopped();
        // A put that saw the store open finishes under the tail; taking it once means none is left.
        drop(shared.log.lock_tail(|| shared.env.now_millis()));
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads.into_iter().rev() {
            thread.stop();
        }
        let flushed = self.make_durable();
        // Dispatch may have had to wait for the last sync.
        while let Ok(true) = shared.dispatch_some() {}
        let settled = flushed.and_then(|()| self.make_durable());
        shared.log.files().discard_unused().map_err(store_logic::LogicError::from)?;
        if settled.is_ok() && shared.flags.is_intact() && shared.dispatch_behind_bytes() == 0 {
            let geometry = StoreGeometry::of(&shared.config);
            let snapshot = StoreSnapshot { geometry, clean_log_end: Some(shared.log.max_offset()) };
            store_snapshot::write(&shared.env, &shared.paths, &snapshot)?;
            abort_file::remove(&shared.env, &shared.paths)?;
        }
        *lock = None;
        settled
    }

    fn make_durable(&self) -> Result<(), StoreError> {
        let shared = &self.shared;
        // A failure is in the running flags, which keep the abort file.
        let _ = shared.flush_log(0);
        shared.flush_queues_thoroughly()?;
        if let Some(index) = &shared.index {
            index.flush()?;
        }
        Ok(shared.checkpoint.flush()?)
    }
}
