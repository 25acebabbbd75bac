//! Locks and atomics of this crate: std's or, when compiled with `--cfg loom`, those of the model checker `loom`, which
//! then runs every order in which threads may meet (`src/models.rs`). Production code takes them from here and nowhere
//! else; `Arc` stays std's, as nothing but memory hangs on its count, and so does `OnceLock`, which is
//! set before a file is shared or under a lock.

#[cfg(loom)]
pub(crate) use crate::model_sync::{
    AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Mutex, MutexGuard, RwLock, RwLockReadGuard,
    RwLockWriteGuard,
};
pub(crate) use std::sync::atomic::Ordering;
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize};
pub(crate) use std::sync::{Arc, PoisonError};
#[cfg(not(loom))]
pub(crate) use std::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
