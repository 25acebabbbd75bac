use crate::bytes::Reader;
use crate::index_file::IndexHeader;
use crate::index_file::format::{ENTRY_SIZE, HEADER_SIZE, IndexEntry, IndexGeometry, SLOT_SIZE, key_hash};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use store_mmap::inspect::{InspectError, Window};
use store_mmap::{Disk, DiskError, DiskFile, OpenMode};

/// An index file, read without mapping it.
#[derive(Debug)]
pub struct IndexReader {
    path: PathBuf,
    file: Box<dyn DiskFile>,
    len: u64,
    geometry: IndexGeometry,
    window: Window,
}

impl IndexReader {
    /// Opens an index file. How many slots and entries it has is not in it: the first of `geometries` that makes a file
    /// of its length is taken.
    ///
    /// # Errors
    ///
    /// None of them does, and whatever the disk reports.
    pub fn open(disk: &dyn Disk, path: &Path, geometries: &[IndexGeometry]) -> Result<Self, InspectError> {
        let file = disk.open(path, OpenMode::Read)?;
        let len = file.len()?;
        let Some(geometry) = geometry_of(len, geometries) else {
            return Err(InspectError::Unreadable {
                path: path.to_owned(),
                expected: expected_lengths(geometries),
                found: format!("{len} bytes"),
            });
        };
        Ok(Self { path: path.to_owned(), file, len, geometry, window: Window::new() })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its shape.
    pub fn geometry(&self) -> IndexGeometry {
        self.geometry
    }

    /// The header.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn header(&self) -> Result<IndexHeader, DiskError> {
        let mut bytes = [0; HEADER_SIZE as usize];
        self.file.read_exact_at(&mut bytes, 0)?;
        Ok(decode_header(&bytes).unwrap_or_default())
    }

    /// Number behind the last entry: what the header says, within what the file can hold.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn index_count(&self) -> Result<u32, DiskError> {
        Ok(self.header()?.index_count.clamp(1, self.geometry.entries))
    }

    /// An entry by its number; `None` beyond what the file can hold.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn entry(&mut self, number: u32) -> Result<Option<IndexEntry>, DiskError> {
        if number >= self.geometry.entries {
            return Ok(None);
        }
        let at = self.geometry.entry_at(number);
        let bytes = self.window.bytes(&*self.file, self.len, at, ENTRY_SIZE as usize)?;
        Ok(IndexEntry::decode(bytes))
    }

    /// Bytes of the entries from `number` on: of at least `want` of them, of fewer only where the file ends.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn entries_from(&mut self, number: u32, want: usize) -> Result<&[u8], DiskError> {
        let at = self.geometry.entry_at(number);
        self.window.bytes(&*self.file, self.len, at, want * ENTRY_SIZE as usize)
    }

    /// Shows the entries from number `from` to before `to` until `visit` breaks.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn walk(
        &mut self,
        from: u32,
        to: u32,
        visit: &mut dyn FnMut(u32, IndexEntry) -> ControlFlow<()>,
    ) -> Result<(), DiskError> {
        let to = to.min(self.geometry.entries);
        let mut number = from;
        while number < to {
            let before = number;
            let entries = self.entries_from(number, 1)?.chunks_exact(ENTRY_SIZE as usize);
            for entry in entries.take((to - number) as usize).map_while(IndexEntry::decode) {
                if visit(number, entry).is_break() {
                    return Ok(());
                }
                number += 1;
            }
            if number == before {
                break;
            }
        }
        Ok(())
    }

    /// Shows every slot's content until `visit` breaks.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn slots(&self, visit: &mut dyn FnMut(u32, u32) -> ControlFlow<()>) -> Result<(), DiskError> {
        let mut window = Window::new();
        let mut slot = 0;
        while slot < self.geometry.slots {
            let at = self.geometry.slot_at(slot);
            let bytes = window.bytes(&*self.file, self.len, at, SLOT_SIZE as usize)?;
            let left = (self.geometry.slots - slot) as usize;
            for content in bytes.chunks_exact(SLOT_SIZE as usize).take(left) {
                if visit(slot, Reader::new(content).u32().unwrap_or(0)).is_break() {
                    return Ok(());
                }
                slot += 1;
            }
        }
        Ok(())
    }

    /// Shows the positions of records that may carry a key, newest first, until `visit` breaks. A chain that leads
    /// nowhere ends.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn lookup(&self, key: &str, visit: &mut dyn FnMut(u64) -> ControlFlow<()>) -> Result<(), DiskError> {
        let hash = key_hash(key);
        let mut slot = [0; SLOT_SIZE as usize];
        self.file.read_exact_at(&mut slot, self.geometry.slot_at(self.geometry.slot_of(hash)))?;
        let mut number = u32::from_be_bytes(slot);
        let mut limit = self.index_count()?;
        while number > 0 && number < limit {
            let mut bytes = [0; ENTRY_SIZE as usize];
            self.file.read_exact_at(&mut bytes, self.geometry.entry_at(number))?;
            let Some(entry) = IndexEntry::decode(&bytes) else { break };
            if entry.key_hash == hash && visit(entry.phy_offset).is_break() {
                break;
            }
            // A predecessor has a smaller number, so the chain ends.
            limit = number;
            number = entry.previous;
        }
        Ok(())
    }
}

/// The first geometry that makes a file of this length.
pub(super) fn geometry_of(len: u64, geometries: &[IndexGeometry]) -> Option<IndexGeometry> {
    geometries.iter().copied().find(|geometry| geometry.slots > 0 && geometry.file_size() == len)
}

/// The lengths a file may have, in words.
pub(super) fn expected_lengths(geometries: &[IndexGeometry]) -> String {
    let mut known: Vec<String> = Vec::new();
    for geometry in geometries {
        let text = format!(
            "{} bytes (maxHashSlotNum {}, maxIndexNum {})",
            geometry.file_size(),
            geometry.slots,
            geometry.entries
        );
        if !known.contains(&text) {
            known.push(text);
        }
    }
    known.join(" or ")
}

/// Reads a header; `None` when there are too few bytes.
pub(super) fn decode_header(bytes: &[u8]) -> Option<IndexHeader> {
    let mut reader = Reader::new(bytes);
    Some(IndexHeader {
        begin_timestamp: reader.i64()?,
        end_timestamp: reader.i64()?,
        begin_phy_offset: reader.i64()? as u64,
        end_phy_offset: reader.i64()? as u64,
        hash_slot_count: reader.u32()?,
        index_count: reader.u32()?,
    })
}
