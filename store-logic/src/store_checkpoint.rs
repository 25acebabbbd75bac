//! How far the log, the queues and the index are known to be durable, in times.

use crate::error::Result;
use std::path::Path;
use store_mmap::{CellFile, Env};

pub mod format {
    //! Layout of the checkpoint file: 8-byte fields, then zeros up to one page.

    /// Bytes of the file.
    pub const FILE_SIZE: u64 = 4096;
    /// Store time up to which log records are durable.
    pub const PHYSIC_MSG_TIMESTAMP_AT: u64 = 0;
    /// Store time up to which queue units are durable.
    pub const LOGICS_MSG_TIMESTAMP_AT: u64 = 8;
    /// Store time up to which index entries are durable.
    pub const INDEX_MSG_TIMESTAMP_AT: u64 = 16;
    /// Replication: what the master has made durable (RocketMQ 5).
    pub const MASTER_FLUSHED_OFFSET_AT: u64 = 24;
    /// Replication: what is confirmed (RocketMQ 5).
    pub const CONFIRM_PHY_OFFSET_AT: u64 = 32;
    /// Position of the record that belongs to the queue time (5.5.0).
    pub const LOGICS_PHYSICAL_OFFSET_AT: u64 = 40;
}

/// The checkpoint (`checkpoint`).
#[derive(Debug)]
pub struct StoreCheckpoint {
    cells: CellFile,
}

/// Its fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CheckpointFields {
    /// Store time up to which log records are durable.
    pub physic_msg_timestamp: i64,
    /// Store time up to which queue units are durable.
    pub logics_msg_timestamp: i64,
    /// Store time up to which index entries are durable.
    pub index_msg_timestamp: i64,
    /// Replication: what the master has made durable.
    pub master_flushed_offset: i64,
    /// Replication: what is confirmed.
    pub confirm_phy_offset: i64,
    /// Position of the record that belongs to `logics_msg_timestamp`.
    pub logics_physical_offset: i64,
}

impl StoreCheckpoint {
    /// Opens the file; a missing one is made with all fields 0.
    pub fn open(env: &Env, path: &Path) -> Result<Self> {
        Ok(Self { cells: CellFile::open(env, path, format::FILE_SIZE, format::FILE_SIZE)? })
    }

    /// All fields.
    pub fn fields(&self) -> Result<CheckpointFields> {
        let load = |at| self.cells.load_u64(at).map(|value| value as i64);
        Ok(CheckpointFields {
            physic_msg_timestamp: load(format::PHYSIC_MSG_TIMESTAMP_AT)?,
            logics_msg_timestamp: load(format::LOGICS_MSG_TIMESTAMP_AT)?,
            index_msg_timestamp: load(format::INDEX_MSG_TIMESTAMP_AT)?,
            master_flushed_offset: load(format::MASTER_FLUSHED_OFFSET_AT)?,
            confirm_phy_offset: load(format::CONFIRM_PHY_OFFSET_AT)?,
            logics_physical_offset: load(format::LOGICS_PHYSICAL_OFFSET_AT)?,
        })
    }

    /// Log records stored up to `at` are durable.
    pub fn set_physic_msg_timestamp(&self, at: i64) -> Result<()> {
        Ok(self.cells.store_u64(format::PHYSIC_MSG_TIMESTAMP_AT, at as u64)?)
    }

    /// Queue units of records stored up to `at`, the last of them at `phy_offset`, are durable.
    pub fn set_logics(&self, at: i64, phy_offset: u64) -> Result<()> {
        self.cells.store_u64(format::LOGICS_MSG_TIMESTAMP_AT, at as u64)?;
        Ok(self.cells.store_u64(format::LOGICS_PHYSICAL_OFFSET_AT, phy_offset)?)
    }

    /// Index entries of records stored up to `at` are durable.
    pub fn set_index_msg_timestamp(&self, at: i64) -> Result<()> {
        Ok(self.cells.store_u64(format::INDEX_MSG_TIMESTAMP_AT, at as u64)?)
    }

    /// Replication: the master has made everything below `phy_offset` durable.
    pub fn set_master_flushed_offset(&self, phy_offset: u64) -> Result<()> {
        Ok(self.cells.store_u64(format::MASTER_FLUSHED_OFFSET_AT, phy_offset)?)
    }

    /// Everything below `phy_offset` counts as stored wherever it has to be.
    pub fn set_confirm_phy_offset(&self, phy_offset: u64) -> Result<()> {
        Ok(self.cells.store_u64(format::CONFIRM_PHY_OFFSET_AT, phy_offset)?)
    }

    /// Writes the fields back and waits for the disk.
    pub fn flush(&self) -> Result<()> {
        Ok(self.cells.flush(0, format::FILE_SIZE)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_where_apache_puts_them() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("checkpoint");
        let checkpoint = StoreCheckpoint::open(&Env::os(), &path).unwrap();
        assert_eq!(checkpoint.fields().unwrap(), CheckpointFields::default());
        checkpoint.set_physic_msg_timestamp(1).unwrap();
        checkpoint.set_logics(2, 6).unwrap();
        checkpoint.set_index_msg_timestamp(3).unwrap();
        checkpoint.set_master_flushed_offset(4).unwrap();
        checkpoint.set_confirm_phy_offset(5).unwrap();
        checkpoint.flush().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), 4096);
        let last_bytes: Vec<u8> = bytes[..48].chunks(8).map(|field| field[7]).collect();
        assert_eq!(last_bytes, [1, 2, 3, 4, 5, 6]);
        assert!(bytes[48..].iter().all(|byte| *byte == 0));
        let expected = CheckpointFields {
            physic_msg_timestamp: 1,
            logics_msg_timestamp: 2,
            index_msg_timestamp: 3,
            master_flushed_offset: 4,
            confirm_phy_offset: 5,
            logics_physical_offset: 6,
        };
        assert_eq!(StoreCheckpoint::open(&Env::os(), &path).unwrap().fields().unwrap(), expected);
    }

    #[test]
    fn another_size_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("checkpoint");
        std::fs::write(&path, [0; 100]).unwrap();
        let error = StoreCheckpoint::open(&Env::os(), &path).unwrap_err().to_string();
        assert!(error.contains("expected a file of 4096 bytes, found 100"), "{error}");
    }
}
