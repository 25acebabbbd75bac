//! Locks and atomics of this crate: std's or, when compiled with `--cfg loom`, those of the model checker `loom`. Production
//! code takes them from here and nowhere else; `Arc` stays std's, as nothing but memory hangs on its count.

pub(crate) use std::sync::atomic::Ordering;
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64};
pub(crate) use std::sync::{Arc, PoisonError};
#[cfg(not(loom))]
pub(crate) use std::sync::{Mutex, MutexGuard, RwLock, RwLockWriteGuard};
#[cfg(loom)]
pub(crate) use store_mmap::model_sync::{
    AtomicBool, AtomicI64, AtomicU64, Mutex, MutexGuard, RwLock, RwLockWriteGuard,
};
