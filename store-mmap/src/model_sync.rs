//! Locks and atomics of the model checker `loom`, as the crates of the store use them in builds with `--cfg loom`. They
//! make up for two things loom does not do:
//!
//! * loom takes a `SeqCst` access for an `AcqRel` one, and only a `SeqCst` fence for what it is. Here a fence stands between
//!   two `SeqCst` accesses of a thread, which says the same to loom. Where either asks for less there is none: a weaker
//!   ordering in production code is a weaker ordering in the model.
//! * loom leaves out orders that it takes for equal, but remembers only the last access to each object, and takes loads for
//!   independent of each other: a thread's own load hides the other threads' loads before it, and the orders in which its
//!   store comes before them are never run. Here every access also touches a companion, in a way that depends on all
//!   others, so that none is hidden.

use loom::sync::atomic::fence;
pub use loom::sync::{Mutex, MutexGuard, RwLockReadGuard, RwLockWriteGuard};
use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, LockResult};

loom::thread_local! {
    /// This thread has made a `SeqCst` access.
    static AFTER_SEQ_CST: Cell<bool> = Cell::new(false);
}

/// What makes every access depend on every other one. It orders nothing: its accesses are relaxed.
#[derive(Debug, Default)]
struct Companion(loom::sync::atomic::AtomicBool);

impl Companion {
    fn touch(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn around<T>(&self, order: Ordering, access: impl FnOnce() -> T) -> T {
        self.touch();
        if order == Ordering::SeqCst {
            // A thread that is past its end may have accessed anything.
            if AFTER_SEQ_CST.try_with(|after| after.replace(true)).unwrap_or(true) {
                fence(Ordering::SeqCst);
            }
        }
        access()
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

            pub fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                update: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                self.companion.around(set, || self.value.fetch_update(set, fetch, update))
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

/// Words of a thread's stack; loom's own measure is too small for the simulated disk.
pub const STACK_WORDS: usize = 0x20_000;
/// Operations of one run; more means that it never ends.
const MOST_BRANCHES: usize = 50_000;

/// Runs `body` in every order and prints how many there were. `preemptions` bounds how often a thread may be interrupted
/// where it need not be; `None` for no bound.
///
/// # Panics
///
/// When an order breaks what the body asserts, when no thread can go on, and when two accesses race.
pub fn explore(name: &str, preemptions: Option<usize>, body: impl Fn() + Send + Sync + 'static) {
    // std's, not loom's: it counts over all runs.
    let orders = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let (counted, body) = (Arc::clone(&orders), Arc::new(body));
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(preemptions);
    builder.max_branches = MOST_BRANCHES;
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        let body = Arc::clone(&body);
        join(spawn(move || body()));
    });
    let bound = preemptions.map_or_else(|| "all".to_owned(), |most| format!("at most {most} preemptions"));
    println!("model {name}: {} orders, {bound}", orders.load(Ordering::Relaxed));
}

/// A thread of a model.
pub type Thread = loom::thread::JoinHandle<()>;

/// Begins a thread of a model.
pub fn spawn(run: impl FnOnce() + Send + 'static) -> Thread {
    let thread = loom::thread::Builder::new().stack_size(STACK_WORDS).spawn(run);
    thread.expect("loom gives every thread")
}

/// Waits for its end.
///
/// # Panics
///
/// If the thread did.
pub fn join(thread: Thread) {
    thread.join().expect("no thread of the model panics");
}
