//! One file of the key index: from a key's hash to records.

pub mod format;
mod keys;
mod put;
mod query;
mod recover;

pub(crate) use keys::all_key_hashes_of;
pub use keys::{key_hashes_of, keys_of, tags_hash_of};

use crate::error::Result;
use format::IndexGeometry;
use std::path::Path;
use store_mmap::{CellFile, Env, file_name};

/// Bytes of entries reserved at a time.
const RESERVE_STEP: u64 = 4 << 20;

/// A hash table in a file (`index/{local time}`): slots that hold the newest entry of each chain, then entries in the
/// order they were put. Written by the dispatcher alone; read by everyone.
#[derive(Debug)]
pub struct IndexFile {
    cells: CellFile,
    geometry: IndexGeometry,
}

/// The numbers at the head of an index file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexHeader {
    /// Store time of the first entry.
    pub begin_timestamp: i64,
    /// Store time of the last entry.
    pub end_timestamp: i64,
    /// Record of the first entry.
    pub begin_phy_offset: u64,
    /// Record of the last entry.
    pub end_phy_offset: u64,
    /// Slots in use.
    pub hash_slot_count: u32,
    /// Number of the next entry; begins at 1.
    pub index_count: u32,
}

impl IndexFile {
    /// Opens or makes the file.
    pub fn open(env: &Env, path: &Path, geometry: IndexGeometry) -> Result<Self> {
        let cells = CellFile::open(env, path, geometry.file_size(), geometry.entry_at(0))?;
        Ok(Self { cells, geometry })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        self.cells.path()
    }

    /// Its shape.
    pub fn geometry(&self) -> IndexGeometry {
        self.geometry
    }

    /// True for a name an index file can have.
    pub fn is_file_name(name: &str) -> bool {
        file_name::parse_offset_name(name).is_some()
    }

    /// The header.
    pub fn header(&self) -> Result<IndexHeader> {
        Ok(IndexHeader {
            begin_timestamp: self.cells.load_u64(format::BEGIN_TIMESTAMP_AT)? as i64,
            end_timestamp: self.cells.load_u64(format::END_TIMESTAMP_AT)? as i64,
            begin_phy_offset: self.cells.load_u64(format::BEGIN_PHY_OFFSET_AT)?,
            end_phy_offset: self.cells.load_u64(format::END_PHY_OFFSET_AT)?,
            hash_slot_count: self.cells.load_u32(format::HASH_SLOT_COUNT_AT)?,
            index_count: self.index_count()?,
        })
    }

    /// Replaces the header (a new file takes over the end of the one before).
    pub fn set_header(&self, header: &IndexHeader) -> Result<()> {
        self.cells.store_u64(format::BEGIN_TIMESTAMP_AT, header.begin_timestamp as u64)?;
        self.cells.store_u64(format::END_TIMESTAMP_AT, header.end_timestamp as u64)?;
        self.cells.store_u64(format::BEGIN_PHY_OFFSET_AT, header.begin_phy_offset)?;
        self.cells.store_u64(format::END_PHY_OFFSET_AT, header.end_phy_offset)?;
        self.cells.store_u32(format::HASH_SLOT_COUNT_AT, header.hash_slot_count)?;
        self.cells.store_u32(format::INDEX_COUNT_AT, header.index_count)?;
        Ok(())
    }

    /// Number of the next entry. A fresh file holds 0, which means 1.
    pub fn index_count(&self) -> Result<u32> {
        Ok(self.cells.load_u32(format::INDEX_COUNT_AT)?.clamp(1, self.geometry.entries))
    }

    /// True when all keys of the record at `phy_offset` are there, in this file or an older one, this being the newest.
    /// Records are indexed in order and each as a whole, so the newest one tells.
    pub(crate) fn is_indexed(&self, phy_offset: u64) -> Result<bool> {
        let end = self.cells.load_u64(format::END_PHY_OFFSET_AT)?;
        // A file just begun holds the end of the one before, whose last record may continue here.
        Ok(phy_offset < end || (phy_offset == end && self.index_count()? > 1))
    }

    /// True when no entry fits any more.
    pub fn is_full(&self) -> Result<bool> {
        Ok(self.index_count()? >= self.geometry.entries)
    }

    /// Writes everything back and waits for the disk.
    pub fn flush(&self) -> Result<()> {
        let end = self.geometry.entry_at(self.index_count()?);
        Ok(self.cells.flush(0, end)?)
    }
}

#[cfg(test)]
mod field_tests;
#[cfg(test)]
mod tests;
