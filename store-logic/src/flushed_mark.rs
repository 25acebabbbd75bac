//! How far the log is durable, in bytes: a file of StrataMQ's own (`stratamq.flushed`).
//!
//! | bytes | field |
//! |---|---|
//! | 8 | position below which the log is durable |
//! | 8 | the checkpoint's `physicMsgTimestamp` at that moment |
//! | 8 | check of the two |
//! | … | zeros up to one page |
//!
//! Stored after each sync of the log, without a sync of its own: the page reaches the disk whenever the kernel writes
//! it, so the mark on disk may be old, but never too high. Whoever cuts the log lowers it durably first.
//!
//! A Java broker does not know the file. One that ran since has moved `physicMsgTimestamp` on, so a mark whose time is
//! below the checkpoint's is not believed.

use crate::bytes::Reader;
use crate::error::Result;
use std::path::Path;
use store_mmap::{CellFile, DiskError, Env, OpenMode};

/// Bytes of the file.
pub const FILE_SIZE: u64 = 4096;
/// Bytes of it that mean something.
const LEN: usize = 24;
const CHECK: u64 = 0x5354_5241_5441_4D51;

fn check(position: u64, timestamp: i64) -> u64 {
    (position ^ CHECK).rotate_left(17).wrapping_add((timestamp as u64).rotate_left(40))
}

/// The mark, open.
#[derive(Debug)]
pub struct FlushedMark {
    cells: CellFile,
}

/// What a mark says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlushedPosition {
    /// The log is durable below.
    pub position: u64,
    /// The checkpoint's `physicMsgTimestamp` when that was noted.
    pub physic_msg_timestamp: i64,
}

impl FlushedMark {
    /// Reads a mark without opening it for writing; `None` when there is none or it is damaged.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn read(env: &Env, path: &Path) -> std::result::Result<Option<FlushedPosition>, DiskError> {
        let file = match env.disk().open(path, OpenMode::Read) {
            Ok(file) => file,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        if file.len()? < LEN as u64 {
            return Ok(None);
        }
        let mut bytes = [0; LEN];
        file.read_exact_at(&mut bytes, 0)?;
        let mut reader = Reader::new(&bytes);
        let (position, timestamp, found) = (reader.i64(), reader.i64(), reader.i64());
        let (Some(position), Some(timestamp), Some(found)) = (position, timestamp, found) else {
            return Ok(None);
        };
        let whole = found as u64 == check(position as u64, timestamp);
        Ok(whole.then_some(FlushedPosition { position: position as u64, physic_msg_timestamp: timestamp }))
    }

    /// Opens the file, making it when absent.
    ///
    /// # Errors
    ///
    /// A file of another size; whatever the disk reports.
    pub fn open(env: &Env, path: &Path) -> Result<Self> {
        Ok(Self { cells: CellFile::open(env, path, FILE_SIZE, FILE_SIZE)? })
    }

    /// Notes that the log is durable below `position`. For one caller at a time, after the sync.
    ///
    /// # Errors
    ///
    /// None that a whole file gives.
    pub fn set(&self, mark: FlushedPosition) -> Result<()> {
        // Whoever finds the three out of step takes the mark for none.
        self.cells.store_u64(16, 0)?;
        self.cells.store_u64(0, mark.position)?;
        self.cells.store_u64(8, mark.physic_msg_timestamp as u64)?;
        Ok(self.cells.store_u64(16, check(mark.position, mark.physic_msg_timestamp))?)
    }

    /// Makes the mark itself durable.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn flush(&self) -> Result<()> {
        Ok(self.cells.flush(0, FILE_SIZE)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_comes_back_and_a_damaged_one_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stratamq.flushed");
        assert_eq!(FlushedMark::read(&Env::os(), &path).unwrap(), None);
        let mark = FlushedPosition { position: 12_345, physic_msg_timestamp: 1_700_000_000_000 };
        let file = FlushedMark::open(&Env::os(), &path).unwrap();
        assert_eq!(FlushedMark::read(&Env::os(), &path).unwrap(), None, "a new one says nothing");
        file.set(mark).unwrap();
        file.flush().unwrap();
        assert_eq!(FlushedMark::read(&Env::os(), &path).unwrap(), Some(mark));
        drop(file);
        let bytes = std::fs::read(&path).unwrap();
        for bit in 0..LEN * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, flipped).unwrap();
            assert_eq!(FlushedMark::read(&Env::os(), &path).unwrap(), None, "bit {bit}");
        }
        std::fs::write(&path, b"short").unwrap();
        assert_eq!(FlushedMark::read(&Env::os(), &path).unwrap(), None);
    }
}
