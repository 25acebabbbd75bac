//! Layer 2 of StrataMQ: fixed-size files as memory, and an ordered queue of them.
//!
//! A mapping has three doors, and each byte is reached through one of them only:
//!
//! * bytes **above** the published mark belong to the one writer ([`MappedFile::append_with`]);
//! * bytes **below** the mark never change while anyone looks and may be borrowed ([`MappedSlice`]);
//! * files that are rewritten in place while others read ([`CellFile`]: index files, the checkpoint) are reached as
//!   atomic cells of 4 or 8 bytes, never as slices.
//!
//! That is why no `&mut [u8]` over shared mapped memory exists outside the writer's own stretch, and why the layers
//! above need no `unsafe`: this crate's folder `mapping` is the only place that dereferences mapped memory.
//!
//! The crate knows files as memory and their marks (wrote ≥ committed ≥ flushed). It does not know records, topics, threads,
//! sockets or clocks.
//!
//! Principal types: [`MappedFile`], [`MappedFileQueue`] (files as one continuous range of bytes), [`MappedSlice`],
//! [`CellFile`], [`TransientStorePool`] (write buffers in front of new files), and the seam [`FileSupplier`] through which
//! a service makes files ahead of need.
//!
//! ```
//! use store_mmap::{Env, MappedFileQueue, OnDemand, QueueOptions};
//! use std::sync::Arc;
//!
//! let dir = tempfile::tempdir().unwrap();
//! let options = QueueOptions { file_size: 4096, ..QueueOptions::default() };
//! let queue = MappedFileQueue::load(&Env::os(), dir.path(), options, Arc::new(OnDemand)).unwrap();
//! let file = queue.last_for_append(0).unwrap();
//! file.append(b"hello").unwrap();
//! assert_eq!(&*queue.slice(0, 5).unwrap(), b"hello");
//! assert_eq!(queue.flush(0).unwrap(), 5);
//! ```
#![deny(unsafe_code)]
#![cfg_attr(test, allow(non_snake_case, reason = "tests carry the number of their case: field_F03_…"))]

mod access_policy;
mod cell_file;
pub mod copy_limit;
mod error;
mod file_supplier;
mod mapped_file;
mod mapped_file_queue;
mod mapped_slice;
mod mapping;
mod memory_lock;
#[cfg(loom)]
pub mod model_sync;
#[cfg(all(test, loom))]
mod models;
mod queue_directories;
mod sync;
mod transient_store_pool;
mod warm_up;

pub use access_policy::AccessPolicy;
pub use cell_file::CellFile;
pub use error::{MapError, Result};
pub use file_supplier::{FileRequest, FileSupplier, OnDemand};
pub use mapped_file::{MappedFile, ReservePolicy};
pub use mapped_file_queue::{MappedFileQueue, QueueOptions};
pub use mapped_slice::MappedSlice;
pub use mapping::mapping_faults;
pub use memory_lock::MemoryLock;
pub use queue_directories::QueueDirectories;
pub use transient_store_pool::TransientStorePool;
pub use warm_up::WarmUp;

// Vocabulary from below.
#[cfg(any(test, feature = "sim"))]
pub use store_disk_tools::sim;
pub use store_disk_tools::{
    Clock, DirEntry, Disk, DiskError, DiskFile, Entropy, Env, FileKind, FileStat, LockFile, Mappable,
    Monotonic, OpenMode, OsDisk, Space, SystemClock, SystemEntropy, UnixMillis, atomic_file, copy_tree,
    directory_bytes, file_name, inspect, local_hour, probe, remove_tree, residency, sparse_archive,
    total_memory, used_percent, zero_rest,
};
