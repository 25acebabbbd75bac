//! Inspectors for the files of a store, built on the same `format.rs` files that the store itself reads and writes with.
//!
//! Each kind of file has an [`Inspector`](store_mmap::inspect::Inspector), and the three that hold many entries a reader
//! besides, for whoever wants records, units and entries instead of text: [`LogReader`] walks the log and finds its way
//! past damage, [`QueueReader`] looks up units, [`IndexReader`] reads header, slots and entries. All of them open files
//! for reading only and hold a bounded part of them in memory.

mod batch_consume_queue;
mod batch_queue_reader;
mod checkpoint;
mod commit_log;
mod config_file;
mod consume_queue;
mod flushed_mark;
mod index_file;
mod index_reader;
mod log_reader;
mod marker_file;
mod message_fields;
mod notes_file;
mod queue_reader;

pub use batch_consume_queue::BatchConsumeQueueInspector;
pub use batch_queue_reader::{BatchPlace, BatchQueueReader};
pub use checkpoint::{CheckpointInspector, read_checkpoint};
pub use commit_log::{CommitLogInspector, damage_finding, is_selected, offset_bounds};
pub use config_file::ConfigFileInspector;
pub use consume_queue::ConsumeQueueInspector;
pub use flushed_mark::FlushedMarkInspector;
pub use index_file::IndexFileInspector;
pub use index_reader::IndexReader;
pub use log_reader::{Damage, LogItem, LogReader, LogSummary, MAX_RECORD};
pub use marker_file::MarkerFileInspector;
pub use message_fields::{facts, facts_of_parts, message_fields, record_fields};
pub use notes_file::NotesFileInspector;
pub use queue_reader::{QueueDirectory, QueuePlace, QueueReader};

use crate::index_file::format::IndexGeometry;
use store_mmap::Env;
use store_mmap::inspect::Registry;

/// Names of the conditions that the inspectors select by.
pub mod conditions {
    /// Topic of a record.
    pub const TOPIC: &str = "topic";
    /// Queue of a record.
    pub const QUEUE: &str = "queue";
    /// Key or unique id of a record, or its hash in an index.
    pub const KEY: &str = "key";
    /// Position of a record in the log, of a unit in its queue, of any other entry in its file.
    pub const OFFSET: &str = "offset";
    /// Store time, epoch milliseconds.
    pub const TIME: &str = "time";
}

/// An inspector for every kind of file of a store. `geometries` are the shapes an index file may have; the first one of
/// a file's length is taken.
pub fn registry(env: &Env, geometries: &[IndexGeometry]) -> Registry {
    Registry::new()
        .with(ConsumeQueueInspector::new(env))
        .with(BatchConsumeQueueInspector::new(env))
        .with(IndexFileInspector::new(env, geometries))
        .with(CheckpointInspector)
        .with(ConfigFileInspector)
        .with(MarkerFileInspector)
        .with(FlushedMarkInspector::new(env))
        .with(NotesFileInspector::new(env))
        .with(CommitLogInspector::new(env))
}

#[cfg(test)]
mod tests;
