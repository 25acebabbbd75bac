//! Locks, atomics and threads of this crate: std's or, when compiled with `--cfg loom`, those of the model checker `loom`,
//! which then runs every order in which threads may meet (`src/models.rs`). Production code takes them from here and
//! nowhere else; `Arc` stays std's, as nothing but memory hangs on its count.

#[cfg(loom)]
pub(crate) use model::*;
#[cfg(not(loom))]
pub(crate) use real::*;
pub(crate) use std::sync::atomic::Ordering;
pub(crate) use std::sync::{Arc, PoisonError};

#[cfg(not(loom))]
mod real {
    pub(crate) use crossbeam::sync::{Parker, Unparker};
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64};
    pub(crate) use std::sync::{
        Condvar, Mutex, MutexGuard, OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard,
    };
    pub(crate) use std::thread::JoinHandle;
    pub(crate) use std::thread_local;
    use std::time::Duration;

    pub(crate) fn spawn_thread(
        name: &str,
        run: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<JoinHandle<()>> {
        std::thread::Builder::new().name(name.to_owned()).spawn(run)
    }

    /// Waits while `condition` holds, for at most `timeout`.
    pub(crate) fn wait_while<'a, T>(
        changed: &Condvar,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
        condition: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        let waited = changed.wait_timeout_while(guard, timeout, condition);
        waited.unwrap_or_else(std::sync::PoisonError::into_inner).0
    }
}

#[cfg(loom)]
mod model {
    //! Nothing times out here: a thread that should have been woken and was not stays where it is, and loom reports that no
    //! thread can go on.

    use super::Arc;
    pub(crate) use loom::sync::Condvar;
    pub(crate) use loom::thread::JoinHandle;
    pub(crate) use loom::thread_local;
    use std::sync::PoisonError;
    use std::sync::atomic::Ordering;
    use std::time::Duration;
    use store_logic::model_sync::STACK_WORDS;
    pub(crate) use store_logic::model_sync::{
        AtomicBool, AtomicI64, AtomicU32, AtomicU64, Mutex, MutexGuard, RwLock, RwLockReadGuard,
        RwLockWriteGuard,
    };

    pub(crate) fn spawn_thread(
        name: &str,
        run: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<JoinHandle<()>> {
        loom::thread::Builder::new().name(name.to_owned()).stack_size(STACK_WORDS).spawn(run)
    }

    pub(crate) fn wait_while<'a, T>(
        changed: &Condvar,
        mut guard: MutexGuard<'a, T>,
        _timeout: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        while condition(&mut guard) {
            guard = changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        guard
    }

    /// crossbeam's `Parker`, of parts that loom knows.
    #[derive(Debug, Default)]
    pub(crate) struct Parker(Unparker);

    #[derive(Debug, Default, Clone)]
    pub(crate) struct Unparker(Arc<(Mutex<bool>, Condvar)>);

    impl Parker {
        pub(crate) fn new() -> Self {
            Self::default()
        }

        pub(crate) fn unparker(&self) -> &Unparker {
            &self.0
        }

        pub(crate) fn park_timeout(&self, timeout: Duration) {
            let (token, changed) = &*(self.0).0;
            let guard = token.lock().unwrap_or_else(PoisonError::into_inner);
            *wait_while(changed, guard, timeout, |token| !*token) = false;
        }
    }

    impl Unparker {
        pub(crate) fn unpark(&self) {
            let (token, changed) = &*self.0;
            *token.lock().unwrap_or_else(PoisonError::into_inner) = true;
            changed.notify_all();
        }
    }

    /// std's `OnceLock`, of parts that loom knows.
    #[derive(Debug)]
    pub(crate) struct OnceLock<T> {
        value: std::sync::OnceLock<T>,
        is_set: AtomicBool,
        setting: Mutex<()>,
    }

    impl<T> Default for OnceLock<T> {
        fn default() -> Self {
            Self::new()
        }
    }

    impl<T> OnceLock<T> {
        pub(crate) fn new() -> Self {
            Self {
                value: std::sync::OnceLock::new(),
                is_set: AtomicBool::new(false),
                setting: Mutex::new(()),
            }
        }

        pub(crate) fn get(&self) -> Option<&T> {
            self.is_set.load(Ordering::Acquire).then(|| self.value.get()).flatten()
        }

        pub(crate) fn get_or_init(&self, init: impl FnOnce() -> T) -> &T {
            if self.get().is_none() {
                // Whoever was faster has set it.
                let _ = self.set(init());
            }
            self.get().unwrap_or_else(|| unreachable!("it has just been set"))
        }

        pub(crate) fn set(&self, value: T) -> Result<(), T> {
            let _setting = self.setting.lock().unwrap_or_else(PoisonError::into_inner);
            self.value.set(value)?;
            self.is_set.store(true, Ordering::Release);
            Ok(())
        }
    }
}
