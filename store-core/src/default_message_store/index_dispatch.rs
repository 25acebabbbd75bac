//! From a record to its entries in the index. An index that cannot be written keeps no message from its consumers: it falls
//! behind, and catches up from the log.

use super::Shared;
use super::dispatch::STEP_BYTES;
use crate::sync::{Ordering, PoisonError};
use store_logic::Result;
use store_logic::commit_log::format::{Decoded, decode};
use store_logic::dispatch::DispatchRequest;

/// The index holds what was dispatched.
pub(super) const NOT_BEHIND: u64 = u64::MAX;

impl Shared {
    /// Puts a record into the index, unless the index is behind: it gets the record in its turn then. A failure makes it
    /// fall behind.
    pub(super) fn index_record(&self, request: &DispatchRequest<'_>) {
        if self.index.is_none() || self.is_index_behind() {
            return;
        }
        if let Err(error) = self.put_index(request) {
            tracing::error!(
                %error,
                from = request.phy_offset,
                "the index cannot be written; it is tried again, and messages go to their queues meanwhile"
            );
            self.index_behind.store(request.phy_offset, Ordering::Release);
        }
    }

    /// True when records were dispatched that the index does not hold.
    pub(crate) fn is_index_behind(&self) -> bool {
        self.index_behind.load(Ordering::Acquire) != NOT_BEHIND
    }

    /// Indexes a bounded piece of what the index is behind by; false when it is not behind any more.
    ///
    /// # Errors
    ///
    /// The index still cannot be written.
    pub(crate) fn index_some(&self) -> Result<bool> {
        if !self.is_index_behind() {
            return Ok(false);
        }
        let _dispatching = self.dispatching.lock().unwrap_or_else(PoisonError::into_inner);
        // What the log has lost meanwhile needs no entry.
        let from = self.index_behind.load(Ordering::Acquire).max(self.log.min_offset());
        let end = self.dispatched_offset();
        let mut at = from;
        while at < end && at - from < STEP_BYTES as u64 {
            let Some(rest) = self.log.files().slice_rest(at) else { return Ok(false) };
            match decode(&rest, false) {
                Ok(Decoded::Record(view)) => {
                    self.put_index(&DispatchRequest::new(at, &view, &self.config.delay_levels))?;
                    at += u64::from(view.total_size);
                }
                Ok(Decoded::Blank) => at = self.log.files().roll_next(at),
                Err(fault) => return Err(self.unreadable(at, &fault)),
            }
            self.index_behind.store(at, Ordering::Release);
        }
        if at >= end {
            self.index_behind.store(NOT_BEHIND, Ordering::Release);
            tracing::info!(from, to = at, "the index has caught up");
        }
        Ok(at < end)
    }

    fn put_index(&self, request: &DispatchRequest<'_>) -> Result<()> {
        let Some(index) = &self.index else { return Ok(()) };
        if let Some(closed) = index.put(request, || self.env.now_millis())? {
            self.closed_index_files.push(closed);
        }
        Ok(())
    }
}
