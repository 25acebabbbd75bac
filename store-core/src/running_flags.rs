//! Whether the store may be written, and if not, why: the first reason wins.

use crate::sync::{AtomicBool, Mutex, MutexGuard, OnceLock, Ordering, PoisonError};

/// State of a store as its services see it.
#[derive(Debug, Default)]
pub struct RunningFlags {
    /// Set once: something failed after which no write may be trusted.
    failure: OnceLock<String>,
    /// Reasons that pass, in the order in which they came.
    holds: Mutex<Vec<(Hold, String)>>,
    /// Whether there are any: puts ask for this alone.
    held: AtomicBool,
    stopped: AtomicBool,
}

/// What keeps writes away for a while. Each is ended by whoever began it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// A disk is fuller than `diskSpaceWarningLevelRatio`.
    DiskLevel,
    /// There was no space for a queue unit or an index entry.
    DispatchSpace,
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

    /// Refuses writes until [`RunningFlags::release`]. A later reason of the same kind takes the place of the earlier.
    pub fn hold(&self, hold: Hold, reason: String) {
        let mut holds = self.holds();
        match holds.iter_mut().find(|(kind, _)| *kind == hold) {
            Some((_, known)) => *known = reason,
            None => {
                tracing::error!(%reason, "the store refuses writes for the time being");
                holds.push((hold, reason));
            }
        }
        self.held.store(true, Ordering::Release);
    }

    /// Takes a reason back. Nothing happens when there was none.
    pub fn release(&self, hold: Hold) {
        if !self.held.load(Ordering::Acquire) {
            return;
        }
        let mut holds = self.holds();
        let before = holds.len();
        holds.retain(|(kind, _)| *kind != hold);
        if holds.len() < before {
            tracing::info!(?hold, accepts = holds.is_empty(), "a reason to refuse writes has passed");
        }
        self.held.store(!holds.is_empty(), Ordering::Release);
    }

    fn holds(&self) -> MutexGuard<'_, Vec<(Hold, String)>> {
        self.holds.lock().unwrap_or_else(PoisonError::into_inner)
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
        if self.held.load(Ordering::Acquire) {
            return self.holds().first().map(|(_, reason)| reason.clone());
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
        flags.hold(Hold::DiskLevel, "disk 91 % used, limit 90".into());
        assert!(flags.write_refusal().unwrap().contains("91"));
        flags.release(Hold::DiskLevel);
        assert_eq!(flags.write_refusal(), None);
        flags.fail("sync failed");
        flags.fail("something else");
        assert!(flags.write_refusal().unwrap().contains("sync failed"));
        assert!(!flags.is_intact());
    }

    #[test]
    fn each_reason_is_ended_by_its_own_end() {
        let flags = RunningFlags::default();
        flags.hold(Hold::DispatchSpace, "no space for a queue".into());
        flags.hold(Hold::DiskLevel, "91 %".into());
        flags.hold(Hold::DiskLevel, "92 %".into());
        assert_eq!(flags.write_refusal().unwrap(), "no space for a queue", "the first one");
        flags.release(Hold::DispatchSpace);
        assert_eq!(flags.write_refusal().unwrap(), "92 %", "as it is now");
        flags.release(Hold::DispatchSpace);
        assert!(flags.write_refusal().is_some());
        flags.release(Hold::DiskLevel);
        assert_eq!(flags.write_refusal(), None);
        assert!(flags.is_intact());
    }
}
