use crate::consume_queue::format::{UNIT_SIZE, Unit};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use store_mmap::inspect::{FileSequence, last_data};
use store_mmap::{Disk, DiskError, Env, FileKind, OpenMode};

/// Units kept in memory of a queue that is looked up in order.
const CHUNK_UNITS: u64 = 204;

/// Where the files of a queue are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueueDirectory {
    /// Topic.
    pub topic: String,
    /// Queue of the topic.
    pub queue_id: i32,
    /// `consumequeue/{topic}/{queueId}`.
    pub path: PathBuf,
}

impl QueueDirectory {
    /// Queues below `consumequeue`, in the order of topics and queue numbers. Names that are no queue number are left
    /// out, as a broker does.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn list(disk: &dyn Disk, root: &Path) -> Result<Vec<Self>, DiskError> {
        let mut queues = Vec::new();
        for topic in disk.read_dir(root)?.into_iter().filter(|entry| entry.kind == FileKind::Directory) {
            let directory = root.join(&topic.name);
            for queue in
                disk.read_dir(&directory)?.into_iter().filter(|entry| entry.kind == FileKind::Directory)
            {
                let Ok(queue_id) = queue.name.parse() else { continue };
                let path = directory.join(&queue.name);
                queues.push(Self { topic: topic.name.clone(), queue_id, path });
            }
        }
        queues.sort();
        Ok(queues)
    }
}

/// What stands at a place of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueuePlace {
    /// No file holds it.
    Outside,
    /// Zeros.
    Empty,
    /// A place without a message, before the first one of the queue.
    Blank,
    /// A message.
    Unit(Unit),
    /// Bytes that are no unit.
    Broken([u8; UNIT_SIZE as usize]),
}

impl QueuePlace {
    fn of(bytes: &[u8]) -> Self {
        match Unit::decode(bytes) {
            Some(unit) if unit.is_blank() => Self::Blank,
            Some(unit) => Self::Unit(unit),
            None if bytes.iter().all(|byte| *byte == 0) => Self::Empty,
            None => bytes.try_into().map_or(Self::Outside, Self::Broken),
        }
    }
}

/// One queue, read from its files without mapping them.
#[derive(Debug)]
pub struct QueueReader {
    env: Env,
    files: FileSequence,
    /// Queue offset of the first unit in memory.
    chunk_from: u64,
    chunk: Vec<u8>,
}

impl QueueReader {
    /// The queue in a directory.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn open(env: &Env, directory: &Path) -> Result<Self, DiskError> {
        Ok(Self::new(env, FileSequence::list(env.disk(), directory)?))
    }

    /// One file of a queue; `offset` is the one in its name.
    pub fn of_file(env: &Env, path: &Path, offset: u64, len: u64) -> Self {
        Self::new(env, FileSequence::of_file(path, offset, len))
    }

    fn new(env: &Env, files: FileSequence) -> Self {
        Self { env: env.clone(), files, chunk_from: 0, chunk: Vec::new() }
    }

    /// The files.
    pub fn files(&self) -> &FileSequence {
        &self.files
    }

    /// Queue offset of the first place.
    pub fn first(&self) -> u64 {
        self.files.start().unwrap_or(0).div_ceil(UNIT_SIZE)
    }

    /// Queue offset behind the last place that is not empty; [`QueueReader::first`] when all are.
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
    pub fn location(&self, queue_offset: u64) -> (PathBuf, u64) {
        let at = queue_offset.saturating_mul(UNIT_SIZE);
        match self.files.file_at(at) {
            Some(file) => (file.path.clone(), at - file.offset),
            None => (self.files.directory().to_owned(), at),
        }
    }

    /// What stands at a place. Made for many queues that are each asked in order: keeps some 4 KiB and no file open.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn place(&mut self, queue_offset: u64) -> Result<QueuePlace, DiskError> {
        if let Some(place) = self.in_chunk(queue_offset) {
            return Ok(place);
        }
        let at = queue_offset.saturating_mul(UNIT_SIZE);
        let Some(file) = self.files.file_at(at) else { return Ok(QueuePlace::Outside) };
        let len = (CHUNK_UNITS * UNIT_SIZE).min(file.end() - at);
        let open = self.env.disk().open(&file.path, OpenMode::Read)?;
        let first = at - file.offset;
        self.chunk.clear();
        self.chunk.resize(len as usize, 0);
        let read = open.read_exact_at(&mut self.chunk, first);
        self.chunk_from = queue_offset;
        if read.is_err() {
            self.chunk.clear();
        }
        read?;
        Ok(self.in_chunk(queue_offset).unwrap_or(QueuePlace::Outside))
    }

    fn in_chunk(&self, queue_offset: u64) -> Option<QueuePlace> {
        let skip = usize::try_from(queue_offset.checked_sub(self.chunk_from)?).ok()?;
        let at = skip.checked_mul(UNIT_SIZE as usize)?;
        self.chunk.get(at..at.checked_add(UNIT_SIZE as usize)?).map(QueuePlace::of)
    }

    /// Shows every place from `from` to before `to` until `visit` breaks.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn walk(
        &mut self,
        from: u64,
        to: u64,
        visit: &mut dyn FnMut(u64, QueuePlace) -> ControlFlow<()>,
    ) -> Result<(), DiskError> {
        let mut queue_offset = from;
        'files: while queue_offset < to {
            let bytes = self.files.bytes(self.env.disk(), queue_offset * UNIT_SIZE, UNIT_SIZE as usize)?;
            let mut places = bytes.chunks_exact(UNIT_SIZE as usize).peekable();
            if places.peek().is_none() {
                // No file here: every place up to the next one is missing.
                let next = self.files.files().iter().find(|file| file.offset > queue_offset * UNIT_SIZE);
                let next = next.map_or(to, |file| file.offset.div_ceil(UNIT_SIZE)).min(to);
                if visit(queue_offset, QueuePlace::Outside).is_break() {
                    break;
                }
                queue_offset = next.max(queue_offset + 1);
                continue;
            }
            for place in places {
                if queue_offset >= to || visit(queue_offset, QueuePlace::of(place)).is_break() {
                    break 'files;
                }
                queue_offset += 1;
            }
        }
        self.files.rest();
        Ok(())
    }
}
