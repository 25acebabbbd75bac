use crate::batch_consume_queue::BatchUnit;
use crate::batch_consume_queue::format::UNIT_SIZE;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use store_mmap::inspect::{FileSequence, last_data};
use store_mmap::{DiskError, Env, OpenMode};

/// What stands at a place of a batch queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchPlace {
    /// No file holds it.
    Outside,
    /// Zeros.
    Empty,
    /// A record.
    Unit(BatchUnit),
    /// Bytes that are no unit.
    Broken([u8; UNIT_SIZE as usize]),
}

impl BatchPlace {
    fn of(bytes: &[u8]) -> Self {
        match BatchUnit::decode(bytes) {
            Some(unit) => Self::Unit(unit),
            None if bytes.iter().all(|byte| *byte == 0) => Self::Empty,
            None => bytes.try_into().map_or(Self::Outside, Self::Broken),
        }
    }
}

/// One batch queue, read from its files without mapping them. Places are numbered from byte 0 of the queue.
#[derive(Debug)]
pub struct BatchQueueReader {
    env: Env,
    files: FileSequence,
}

impl BatchQueueReader {
    /// The queue in a directory.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn open(env: &Env, directory: &Path) -> Result<Self, DiskError> {
        Ok(Self { env: env.clone(), files: FileSequence::list(env.disk(), directory)? })
    }

    /// One file of a queue; `offset` is the one in its name.
    pub fn of_file(env: &Env, path: &Path, offset: u64, len: u64) -> Self {
        Self { env: env.clone(), files: FileSequence::of_file(path, offset, len) }
    }

    /// The files.
    pub fn files(&self) -> &FileSequence {
        &self.files
    }

    /// Number of the first place.
    pub fn first(&self) -> u64 {
        self.files.start().unwrap_or(0).div_ceil(UNIT_SIZE)
    }

    /// Number behind the last place that is not empty; [`BatchQueueReader::first`] when all are.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn end(&self) -> Result<u64, DiskError> {
        for file in self.files.files().iter().rev() {
            let open = self.env.disk().open(&file.path, OpenMode::Read)?;
            if let Some(used) = last_data(&*open, 0, file.len)? {
                return Ok((file.offset + used).div_ceil(UNIT_SIZE));
            }
        }
        Ok(self.first())
    }

    /// File and byte of a place.
    pub fn location(&self, number: u64) -> (PathBuf, u64) {
        let at = number.saturating_mul(UNIT_SIZE);
        match self.files.file_at(at) {
            Some(file) => (file.path.clone(), at - file.offset),
            None => (self.files.directory().to_owned(), at),
        }
    }

    /// What stands at a place.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn place(&mut self, number: u64) -> Result<BatchPlace, DiskError> {
        let at = number.saturating_mul(UNIT_SIZE);
        let bytes = self.files.bytes(self.env.disk(), at, UNIT_SIZE as usize)?;
        Ok(bytes.get(..UNIT_SIZE as usize).map_or(BatchPlace::Outside, BatchPlace::of))
    }

    /// The newest unit; `None` when the last place that is used holds none.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn last_unit(&mut self) -> Result<Option<BatchUnit>, DiskError> {
        let end = self.end()?;
        if end <= self.first() {
            return Ok(None);
        }
        match self.place(end - 1)? {
            BatchPlace::Unit(unit) => Ok(Some(unit)),
            _ => Ok(None),
        }
    }

    /// The unit whose record holds the message at `queue_offset`.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn unit_of(&mut self, queue_offset: u64) -> Result<Option<BatchUnit>, DiskError> {
        let (mut from, mut to) = (self.first(), self.end()?);
        while from < to {
            let middle = from + (to - from) / 2;
            match self.place(middle)? {
                BatchPlace::Unit(unit) if unit.next_offset() > queue_offset => to = middle,
                _ => from = middle + 1,
            }
        }
        match self.place(from)? {
            BatchPlace::Unit(unit) if (unit.base_offset..unit.next_offset()).contains(&queue_offset) => {
                Ok(Some(unit))
            }
            _ => Ok(None),
        }
    }

    /// Shows every place until `visit` breaks.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn walk(
        &mut self,
        visit: &mut dyn FnMut(u64, BatchPlace) -> ControlFlow<()>,
    ) -> Result<(), DiskError> {
        for number in self.first()..self.end()? {
            let place = self.place(number)?;
            if visit(number, place).is_break() {
                break;
            }
        }
        self.files.rest();
        Ok(())
    }
}
