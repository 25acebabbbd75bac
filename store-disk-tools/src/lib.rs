//! Layer 1 of StrataMQ: the disk.
//!
//! Everything a store does that is not a function of its inputs comes through one value, the [`Env`]: files and
//! directories ([`Disk`], [`DiskFile`]), time ([`Clock`]) and randomness ([`Entropy`]). The layers above hold an `Env`
//! and call nothing else, so that a test can put a seeded world in its place and replay a run.
//!
//! The crate knows files, bytes, directories, durability and time. It does not know what a message, a queue or a record
//! is, and it never reads or writes content through a memory mapping: it only hands out the file to be mapped.
//!
//! Principal types:
//!
//! * [`Env`] — the door; [`Env::os`] is the real world.
//! * [`Disk`] and [`DiskFile`] — what a file system must offer, with the durability of each call written on it.
//! * [`atomic_file`] — replace a small file so that a crash leaves the old or the new one, never neither.
//! * [`LockFile`] — one process per store root, in a way that a Java broker respects.
//! * [`file_name`] — the names RocketMQ gives its files.
//! * [`preallocate`] — reserve blocks before they are mapped, and say so when the disk is too full.
//! * [`inspect`] — looking at files without changing them; the formats above plug into it.
//! * [`probe`] and [`residency`] — what a disk can do, and what of its files is in memory.
//! * [`sparse_archive`] — a directory of mostly empty, pre-sized files in one small file.
//!
//! ```
//! use store_disk_tools::{Env, OpenMode, atomic_file};
//!
//! let dir = tempfile::tempdir().unwrap();
//! let env = Env::os();
//! let path = dir.path().join("settings.json");
//! atomic_file::replace(env.disk(), &path, b"{}").unwrap();
//! let file = env.disk().open(&path, OpenMode::Read).unwrap();
//! assert_eq!(file.len().unwrap(), 2);
//! ```
#![deny(unsafe_code)]
#![cfg_attr(test, allow(non_snake_case, reason = "tests carry the number of their case: field_F03_…"))]

pub mod atomic_file;
mod env;
mod error;
pub mod file_name;
pub mod inspect;
mod lock_file;
mod os;
pub mod preallocate;
pub mod probe;
pub mod residency;
#[cfg(any(test, feature = "sim"))]
pub mod sim;
pub mod sparse_archive;
mod tree;
mod usage;
mod zero_rest;
mod zero_scan;

pub use env::{
    Clock, DirEntry, Disk, DiskFile, Entropy, Env, FileKind, FileStat, Mappable, Monotonic, OpenMode, Space,
    SystemClock, SystemEntropy, UnixMillis, local_hour,
};
pub use error::{DiskError, Result};
pub use lock_file::LockFile;
pub use os::{OsDisk, total_memory};
pub use tree::{copy_tree, remove_tree};
pub use usage::{directory_bytes, used_percent};
pub use zero_rest::zero_rest;
pub use zero_scan::{first_nonzero, last_nonzero};
