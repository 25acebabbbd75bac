//! What the units of a queue have no room for (`enableConsumeQueueExt`): store time and filter bitmap beside the tag code.

pub mod format;

use crate::error::Result;
use format::{END_BLANK, END_MARK, ExtPlace, ExtUnit, MAX_UNIT_SIZE, address_of, offset_of};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store_mmap::{Env, MappedFileQueue, OnDemand, QueueOptions, ReservePolicy};

/// Bytes of an extension file reserved at a time.
const RESERVE_STEP: u64 = 64 << 10;

/// The extension files of one queue (`consumequeue_ext/{topic}/{queueId}/`).
///
/// Written by the dispatcher alone, a unit before the queue unit that points at it; read by everyone. All of it can be
/// built again from the log.
#[derive(Debug)]
pub struct ConsumeQueueExt {
    files: MappedFileQueue,
    /// Where the first file begins when there is none.
    begin_at: AtomicU64,
}

impl ConsumeQueueExt {
    /// Opens the files below `directory`; nothing is made on disk before the first unit.
    ///
    /// # Errors
    ///
    /// Files that do not belong there, named.
    pub fn open(env: &Env, directory: &Path, file_size: u64) -> Result<Self> {
        let reserve = ReservePolicy::Steps(RESERVE_STEP);
        let options = QueueOptions { file_size, reserve, ..QueueOptions::default() };
        Ok(Self {
            files: MappedFileQueue::load(env, directory, options, Arc::new(OnDemand))?,
            begin_at: AtomicU64::new(0),
        })
    }

    /// The files.
    pub fn files(&self) -> &MappedFileQueue {
        &self.files
    }

    /// The unit that a queue unit's tag code points at; `None` when it is no address, or nothing stands there.
    pub fn get(&self, tags_code: i64) -> Option<ExtUnit> {
        let offset = offset_of(tags_code)?;
        let rest = self.files.slice_rest(offset)?;
        match ExtUnit::decode(&rest[..rest.len().min(MAX_UNIT_SIZE)])? {
            ExtPlace::Unit(unit) => Some(unit),
            ExtPlace::End => None,
        }
    }

    /// Appends a unit and returns its address, the tag code for the queue unit; `None` when its bitmap is too long, or no
    /// file could hold it.
    ///
    /// # Errors
    ///
    /// The next file could not be made.
    pub fn put(&self, unit: &ExtUnit) -> Result<Option<i64>> {
        let Some(bytes) = unit.encode() else { return Ok(None) };
        let len = bytes.len() as u64;
        if len + END_BLANK > self.files.file_size() {
            return Ok(None);
        }
        let mut file = self.files.last_for_append(self.begin_at.load(Ordering::Relaxed))?;
        let rest = file.file_size() - file.wrote_position();
        if len + END_BLANK > rest {
            file.append_with(rest, |target| {
                let mark = target.len().min(END_MARK.len());
                target[..mark].copy_from_slice(&END_MARK[..mark]);
            })?;
            file = self.files.last_for_append(self.begin_at.load(Ordering::Relaxed))?;
        }
        let position = file.append(&bytes)?;
        Ok(Some(address_of(file.file_from_offset() + position)))
    }

    /// Units in order, each with its offset in the files, up to the first place that holds none.
    pub fn units(&self) -> impl Iterator<Item = (u64, ExtUnit)> + '_ {
        let mut offset = self.files.min_offset().unwrap_or(0);
        std::iter::from_fn(move || {
            loop {
                let rest = self.files.slice_rest(offset)?;
                match ExtUnit::decode(&rest[..rest.len().min(MAX_UNIT_SIZE)])? {
                    ExtPlace::Unit(unit) => {
                        let at = offset;
                        offset += unit.size() as u64;
                        return Some((at, unit));
                    }
                    ExtPlace::End => offset = self.files.roll_next(offset),
                }
            }
        })
    }

    /// Finds the end: behind the last unit. What stands behind is cut.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn recover(&self) -> Result<()> {
        let first = self.files.min_offset().unwrap_or(0);
        let end = self.units().last().map_or(first, |(at, unit)| at + unit.size() as u64);
        Ok(self.files.truncate(end)?)
    }

    /// Offset behind the last unit.
    pub fn end(&self) -> u64 {
        self.files.max_offset()
    }

    /// Drops everything; the next unit goes to a file that begins behind `offset`.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn begin_behind(&self, offset: u64) -> Result<()> {
        self.files.destroy()?;
        self.begin_at.store(self.files.roll_next(offset), Ordering::Relaxed);
        Ok(())
    }

    /// Deletes all files.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn destroy(&self) -> Result<()> {
        self.begin_at.store(0, Ordering::Relaxed);
        Ok(self.files.destroy()?)
    }

    /// Deletes files in front of the one that `tags_code`, the oldest address in the queue, points into. Returns their
    /// number.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn delete_before(&self, tags_code: i64) -> Result<usize> {
        let Some(offset) = offset_of(tags_code) else { return Ok(0) };
        let mut deleted = 0;
        while self.files.expire_first(|file| file.file_from_offset() + file.file_size() <= offset)? {
            deleted += 1;
        }
        Ok(deleted)
    }

    /// Writes what stands from `offset` on once more and makes it durable; see [`MappedFileQueue::rewrite_from`].
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn rewrite_from(&self, offset: u64) -> Result<()> {
        Ok(self.files.rewrite_from(offset)?)
    }

    /// Makes units durable; see [`MappedFileQueue::flush`].
    ///
    /// # Errors
    ///
    /// A failed sync; nothing may be trusted afterwards.
    pub fn flush(&self, least_pages: u32) -> Result<u64> {
        Ok(self.files.flush(least_pages)?)
    }
}

#[cfg(test)]
mod tests;
