//! Whether the store may be written, and if not, why: the first reason wins and stays.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// State of a store as its services see it.
#[derive(Debug, Default)]
pub struct RunningFlags {
    /// Set once: something failed after which no write may be trusted.
    failure: OnceLock<String>,
    disk_full: AtomicBool,
    /// The level that was passed, for the message.
    disk_full_reason: Mutex<String>,
    stopped: AtomicBool,
}

impl RunningFlags {
    /// Refuses writes for good: a sync failed, or a queue could not be written. Later reasons are only logged.
    pub fn fail(&self, reason: impl Into<String>) {
        match self.failure.set(reason.into()) {
            Ok(()) => tracing::error!(reason = self.failure(), "the store refuses writes from now on"),
            Err(later) => tracing::debug!(reason = later, "a later reason to refuse writes"),
        }
    }

    /// Why writes are refused for good.
    pub fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// Refuses writes as long as the disk is this full.
    pub fn set_disk_full(&self, reason: String) {
        *self.disk_full_reason.lock().unwrap_or_else(PoisonError::into_inner) = reason.clone();
        if !self.disk_full.swap(true, Ordering::AcqRel) {
            tracing::error!(%reason, "the store refuses writes until space is free again");
        }
    }

    /// The disk has room again.
    pub fn clear_disk_full(&self) {
        if self.disk_full.swap(false, Ordering::AcqRel) {
            tracing::info!("the disk has room again: the store accepts writes");
        }
    }

    /// The store is going down.
    pub fn set_stopped(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// True once the store goes down.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Why a write is refused now; `None` when it is not.
    pub fn write_refusal(&self) -> Option<String> {
        if self.is_stopped() {
            return Some("the store is shutting down".to_owned());
        }
        if let Some(failure) = self.failure() {
            return Some(format!("the store is read-only since: {failure}"));
        }
        if self.disk_full.load(Ordering::Acquire) {
            return Some(self.disk_full_reason.lock().unwrap_or_else(PoisonError::into_inner).clone());
        }
        None
    }

    /// True when nothing stands against an orderly stop being called clean.
    pub fn is_intact(&self) -> bool {
        self.failure().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_stays() {
        let flags = RunningFlags::default();
        assert_eq!(flags.write_refusal(), None);
        flags.set_disk_full("disk 91 % used, limit 90".into());
        assert!(flags.write_refusal().unwrap().contains("91"));
        flags.clear_disk_full();
        assert_eq!(flags.write_refusal(), None);
        flags.fail("sync failed");
        flags.fail("something else");
        assert!(flags.write_refusal().unwrap().contains("sync failed"));
        assert!(!flags.is_intact());
    }
}
