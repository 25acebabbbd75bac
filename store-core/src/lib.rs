//! Layer 4 of StrataMQ: the running message store.
//!
//! A store is a value plus a list of services. The value ([`DefaultMessageStore`], behind the trait [`MessageStore`])
//! holds the objects of the layer below and does what callers ask; each service ([`service::Service`]) is a value too,
//! with a `step` that does a bounded piece of work and never waits. One file, `service.rs`, turns services into threads;
//! `services.rs` lists them all. Tests step services themselves.
//!
//! The crate knows threads, policies and recovery order. It does not know request codes, client
//! connections or processors.
//!
//! A put is in the log when [`MessageStore::put`] returns; its [`PutTicket`] is answered when it is as durable as
//! configured, without a thread parked for it. A failed sync turns the store read-only for good, because a later sync
//! may report success for bytes that were dropped.
//!
//! ```
//! use store_core::config::MessageStoreConfig;
//! use store_core::{DefaultMessageStore, Env, GetRequest, Message, MessageStore, PutMessageStatus};
//!
//! let dir = tempfile::tempdir().unwrap();
//! let mut config = MessageStoreConfig::new(dir.path());
//! config.commit_log.mapped_file_size_commit_log = 1 << 20;
//! let store = DefaultMessageStore::open(&Env::os(), config).unwrap();
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
//! assert_eq!(store.put(&message).wait().status, PutMessageStatus::PutOk);
//! store.shutdown().unwrap();
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(non_snake_case, reason = "tests carry the number of their case: field_F03_…"))]

// Support shared with the test programs names the crate as they do.
#[cfg(test)]
extern crate self as store_core;

mod abort_file;
pub mod config;
mod default_message_store;
mod error;
pub mod exchange;
mod get_result;
pub mod inspectors;
mod latency_histogram;
mod log_damage;
mod lost_places;
mod message_arrival;
mod message_store;
#[cfg(all(test, loom))]
mod models;
mod put_result;
mod put_ticket;
mod query_result;
pub mod rebuild;
pub mod repair;
mod running_flags;
pub mod service;
mod services;
mod set_aside;
mod store_notes;
mod store_paths;
mod sync;
mod tool_error;

pub use default_message_store::{DefaultMessageStore, RecoveryReport};
pub use error::StoreError;
pub use get_result::{GetMessageStatus, GetResult};
pub use log_damage::LogDamage;
pub use message_arrival::{Arrival, MessageArrivingListener};
pub use message_store::{GetRequest, LogPositions, MessageFilter, MessageStore, QueryRequest, QueueOffsets};
pub use put_result::{AppendResult, PutMessageStatus, PutResult};
pub use put_ticket::PutTicket;
pub use query_result::QueryResult;
pub use set_aside::SetAside;
pub use store_paths::StorePaths;
pub use tool_error::ToolError;

// Vocabulary from below.
pub use store_logic::commit_log::format as record_format;
pub use store_logic::consume_queue::{BoundaryType, Unit};
pub use store_logic::message::{Message, message_id, properties, sys_flag, tags_code};
pub use store_logic::multi_dispatch;
pub use store_logic::{
    Clock, DirEntry, Disk, DiskError, DiskFile, Entropy, Env, FileKind, FileStat, LogicError, Mappable,
    MappedSlice, Monotonic, OpenMode, OsDisk, QueueType, QueueTypes, Space, SystemClock, SystemEntropy,
    UnixMillis, atomic_file, copy_limit, copy_tree, inspect, java_json, probe, remove_tree, residency,
    sparse_archive,
};
