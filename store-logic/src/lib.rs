//! Layer 3 of StrataMQ: the objects a message store is made of, and their formats.
//!
//! One append feeds three objects. The [`CommitLog`](commit_log::CommitLog) takes every message of every topic in one
//! sequence. Two objects are derived from it, record by record, and could be thrown away and built again: the
//! [`ConsumeQueue`](consume_queue::ConsumeQueue) (which record is the n-th message of this queue) and the
//! [`IndexFile`](index_file::IndexFile) (which records carry this key). What they need to know of a record travels as a
//! [`DispatchRequest`](dispatch::DispatchRequest). The [`StoreCheckpoint`](store_checkpoint::StoreCheckpoint) says how
//! far each of them is durable.
//!
//! Each on-disk layout has one home, a `format.rs`, which is pure: writer, reader, recovery and tools share it, and its
//! tests hold it against bytes made by Apache RocketMQ.
//!
//! The crate knows records. It does not know threads or sockets, it reads no clock (time is an argument) and makes no
//! file system call of its own.
//!
//! ```
//! use std::sync::Arc;
//! use store_logic::commit_log::{CommitLog, RecordBatch};
//! use store_logic::message::Message;
//! use store_logic::{Env, OnDemand};
//!
//! let dir = tempfile::tempdir().unwrap();
//! let log = CommitLog::open(&Env::os(), dir.path(), 1 << 20, Arc::new(OnDemand)).unwrap();
//! let mut batch = RecordBatch::new();
//! let message = Message {
//!     topic: "TopicTest",
//!     queue_id: 0,
//!     flag: 0,
//!     sys_flag: 0,
//!     born_timestamp: 1_700_000_000_000,
//!     born_host: "127.0.0.1:40000".parse().unwrap(),
//!     store_host: "127.0.0.1:10911".parse().unwrap(),
//!     reconsume_times: 0,
//!     prepared_transaction_offset: 0,
//!     body: b"hello",
//!     properties: "",
//! };
//! batch.push(&message, 4 << 20).unwrap();
//! let (mut tail, now) = log.lock_tail(|| 1_700_000_000_001);
//! let appended = tail.append(&mut batch, 0, now).unwrap();
//! assert_eq!(log.record_at(appended.phy_offset).unwrap().len() as u64, appended.end_offset);
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(non_snake_case, reason = "tests carry the number of their case: field_F03_…"))]

pub mod batch_consume_queue;
pub mod bytes;
pub mod commit_log;
pub mod consume_queue;
pub mod consume_queue_ext;
mod consume_queue_table;
pub mod dispatch;
mod error;
pub mod flushed_mark;
pub mod index_file;
mod index_file_set;
pub mod inspectors;
pub mod java_json;
pub mod message;
pub mod multi_dispatch;
mod queue;
mod queue_type;
pub mod snapshot_file;
pub mod store_checkpoint;
mod sync;

pub use consume_queue_table::{BatchQueues, ConsumeQueueTable, ExtQueues, LightQueueLimit, QueueHandle};
pub use error::{LogicError, Result};
pub use index_file_set::{IndexEnd, IndexFileSet};
pub use queue::{CqUnit, CqUnits, Queue, QueueWindow};
pub use queue_type::{QueueType, QueueTypes};

// Vocabulary from below.
#[cfg(loom)]
pub use store_mmap::model_sync;
#[cfg(any(test, feature = "sim"))]
pub use store_mmap::sim;
pub use store_mmap::{
    AccessPolicy, Clock, DirEntry, Disk, DiskError, DiskFile, Entropy, Env, FileKind, FileRequest, FileStat,
    FileSupplier, LockFile, MapError, Mappable, MappedFile, MappedSlice, MemoryLock, Monotonic, OnDemand,
    OpenMode, OsDisk, QueueDirectories, ReservePolicy, Space, SystemClock, SystemEntropy, TransientStorePool,
    UnixMillis, WarmUp, atomic_file, copy_limit, copy_tree, directory_bytes, file_name, inspect, local_hour,
    mapping_faults, probe, remove_tree, residency, sparse_archive, total_memory, used_percent, zero_rest,
};
