//! Locks and atomics of the model checker `loom`, as the crates of the store use them in builds with `--cfg loom`. They
//! make up for two things loom does not do:
//!
//! * loom takes a `SeqCst` access for an `AcqRel` one, and only a `SeqCst` fence for what it is. Here a `SeqCst` access has
//!   a fence on either side, which says the same to loom. An access that asks for less gets none: a weaker ordering in
//!   production code is a weaker ordering in the model.
//! * loom leaves out orders that it takes for equal, but remembers only the last access to each object, and takes loads for
//!   independent of each other: a thread's own load hides the other threads' loads before it, and the orders in which its
//!   store comes before them are never run. Here every access also touches a companion, in a way that depends on all
//!   others, so that none is hidden.

use loom::sync::atomic::fence;
pub use loom::sync::{Mutex, MutexGuard, RwLockReadGuard, RwLockWriteGuard};
use std::sync::LockResult;
use std::sync::atomic::Ordering;

/// What makes every access depend on every other one. It orders nothing: its accesses are relaxed.
#[derive(Debug, Default)]
struct Companion(loom::sync::atomic::AtomicBool);

impl Companion {
    fn touch(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn around<T>(&self, order: Ordering, access: impl FnOnce() -> T) -> T {
        self.touch();
        if order != Ordering::SeqCst {
            return access();
        }
        fence(Ordering::SeqCst);
        let value = access();
        fence(Ordering::SeqCst);
        value
    }
}

macro_rules! atomic {
    ($name:ident, $value:ty, $($operation:ident),*) => {
        #[doc = concat!("`std::sync::atomic::", stringify!($name), "` for loom.")]
        #[derive(Debug, Default)]
        pub struct $name {
            value: loom::sync::atomic::$name,
            companion: Companion,
        }

        #[allow(missing_docs, reason = "std documents them")]
        impl $name {
            pub fn new(value: $value) -> Self {
                Self { value: loom::sync::atomic::$name::new(value), companion: Companion::default() }
            }

            pub fn load(&self, order: Ordering) -> $value {
                self.companion.around(order, || self.value.load(order))
            }

            pub fn store(&self, value: $value, order: Ordering) {
                self.companion.around(order, || self.value.store(value, order));
            }

            $(pub fn $operation(&self, value: $value, order: Ordering) -> $value {
                self.companion.around(order, || self.value.$operation(value, order))
            })*
        }
    };
}

atomic!(AtomicBool, bool, swap);
atomic!(AtomicI64, i64, swap, fetch_add, fetch_sub, fetch_max, fetch_min);
atomic!(AtomicU32, u32, swap, fetch_add, fetch_sub, fetch_max, fetch_min);
atomic!(AtomicU64, u64, swap, fetch_add, fetch_sub, fetch_max, fetch_min);
atomic!(AtomicUsize, usize, swap, fetch_add, fetch_sub, fetch_max, fetch_min);

/// `std::sync::RwLock` for loom.
#[derive(Debug)]
pub struct RwLock<T> {
    lock: loom::sync::RwLock<T>,
    companion: Companion,
}

#[allow(missing_docs, reason = "std documents them")]
impl<T> RwLock<T> {
    pub fn new(value: T) -> Self {
        Self { lock: loom::sync::RwLock::new(value), companion: Companion::default() }
    }

    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        self.companion.touch();
        self.lock.read()
    }

    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        self.companion.touch();
        self.lock.write()
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}
