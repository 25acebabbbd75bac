//! The simulated disk as the store calls it.

use super::faults::{Fault, Operation};
use super::memory::SimMapping;
use super::names::Node;
use super::world::Shared;
use crate::env::{DirEntry, Disk, DiskFile, FileKind, FileStat, Mappable, OpenMode, Space};
use crate::error::{DiskError, Result};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of the whole disk, as far as anyone asks.
const TOTAL: u64 = 1 << 40;

#[derive(Debug)]
pub(super) struct SimDisk {
    pub(super) shared: Arc<Shared>,
}

#[derive(Debug)]
struct SimFile {
    shared: Arc<Shared>,
    path: PathBuf,
    file: u64,
    holds_lock: Mutex<bool>,
}

fn wrap<T>(action: &'static str, path: &Path, result: io::Result<T>) -> Result<T> {
    result.map_err(|error| DiskError::new(action, path, error))
}

impl Disk for SimDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> Result<Box<dyn DiskFile>> {
        let mut state = self.shared.lock();
        let file = match (state.names.get(path), mode) {
            (Some(Node::File(_)), OpenMode::CreateNew) => Err(io::ErrorKind::AlreadyExists.into()),
            (Some(Node::File(file)), _) => Ok(file),
            (Some(Node::Directory), _) => Err(io::ErrorKind::IsADirectory.into()),
            (None, OpenMode::Read | OpenMode::ReadWrite) => Err(io::ErrorKind::NotFound.into()),
            (None, OpenMode::CreateNew | OpenMode::OpenOrCreate) => {
                state.begin(Operation::Create).map(|()| state.create(path))
            }
        };
        drop(state);
        let file = wrap("open", path, file)?;
        let shared = Arc::clone(&self.shared);
        Ok(Box::new(SimFile { shared, path: path.to_owned(), file, holds_lock: Mutex::new(false) }))
    }

    fn create_dir_all(&self, path: &Path) -> Result<()> {
        let mut missing: Vec<&Path> = Vec::new();
        let mut state = self.shared.lock();
        for above in path.ancestors().filter(|above| above.parent().is_some()) {
            if state.names.get(above).is_some() {
                break;
            }
            missing.push(above);
        }
        for directory in missing.into_iter().rev() {
            wrap("make directory", directory, state.begin(Operation::Create))?;
            state.names.put(directory, Node::Directory);
            if let Some(parent) = directory.parent() {
                let synced = wrap("sync directory", parent, state.begin(Operation::Name));
                if synced.is_err() && state.begin(Operation::Name).is_ok() {
                    // As the real disk tries.
                    state.names.remove(directory);
                }
                synced?;
                state.names.sync(parent);
            }
        }
        Ok(())
    }

    fn read_dir(&self, path: &Path) -> Result<Vec<DirEntry>> {
        let state = self.shared.lock();
        let entry = |(name, node): (String, Node)| match node {
            Node::Directory => DirEntry { name, kind: FileKind::Directory, len: 0 },
            Node::File(file) => DirEntry { name, kind: FileKind::File, len: state.len(file) },
        };
        Ok(state.names.list(path).into_iter().map(entry).collect())
    }

    fn stat(&self, path: &Path) -> Result<Option<FileStat>> {
        let state = self.shared.lock();
        Ok(state.names.get(path).map(|node| match node {
            Node::Directory => FileStat { kind: FileKind::Directory, len: 0, modified: 0 },
            Node::File(file) => {
                let modified = state.files.get(&file).map_or(0, |content| content.modified);
                FileStat { kind: FileKind::File, len: state.len(file), modified }
            }
        }))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let mut state = self.shared.lock();
        if state.names.get(from).is_none() {
            return Err(DiskError::new("rename", from, io::ErrorKind::NotFound.into()));
        }
        wrap("rename", from, state.begin(Operation::Name))?;
        state.names.rename(from, to);
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        let mut state = self.shared.lock();
        if state.names.get(path).is_none() {
            return Err(DiskError::new("delete", path, io::ErrorKind::NotFound.into()));
        }
        wrap("delete", path, state.begin(Operation::Name))?;
        state.names.remove(path);
        Ok(())
    }

    fn remove_dir(&self, path: &Path) -> Result<()> {
        let mut state = self.shared.lock();
        if !state.names.list(path).is_empty() {
            return Err(DiskError::new("delete directory", path, io::ErrorKind::DirectoryNotEmpty.into()));
        }
        wrap("delete directory", path, state.begin(Operation::Name))?;
        state.names.remove(path);
        Ok(())
    }

    fn sync_dir(&self, path: &Path) -> Result<()> {
        let mut state = self.shared.lock();
        wrap("sync directory", path, state.begin(Operation::Name))?;
        state.names.sync(path);
        Ok(())
    }

    fn space(&self, _path: &Path) -> Result<Space> {
        let available = if self.shared.lock().is_full() { 0 } else { TOTAL / 2 };
        Ok(Space { total: TOTAL, available, used: TOTAL - available })
    }
}

impl SimFile {
    fn to_usize(&self, action: &'static str, number: u64) -> Result<usize> {
        usize::try_from(number)
            .map_err(|_| DiskError::new(action, &self.path, io::ErrorKind::FileTooLarge.into()))
    }

    fn sync(&self) -> Result<()> {
        let all = 0..usize::MAX;
        wrap("sync", &self.path, self.shared.sync_content(self.file, all))
    }
}

impl DiskFile for SimFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn len(&self) -> Result<u64> {
        Ok(self.shared.lock().content(self.file).len as u64)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> Result<()> {
        let from = self.to_usize("read", offset)?;
        let mut state = self.shared.lock();
        wrap("read", &self.path, state.begin(Operation::Read))?;
        let content = state.content(self.file);
        if from.checked_add(buf.len()).is_none_or(|end| end > content.len) {
            return Err(DiskError::new("read", &self.path, io::ErrorKind::UnexpectedEof.into()));
        }
        content.memory.read(from, buf);
        Ok(())
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        let at = self.to_usize("write", offset)?;
        let mut state = self.shared.lock();
        let fault = wrap("write", &self.path, state.begin_or_fault(Operation::Write))?;
        let written = match fault {
            None => bytes,
            Some(Fault::ShortWrite) => &bytes[..bytes.len() / 2],
            Some(_) => &[],
        };
        let now = state.now();
        let content = state.content(self.file);
        if !written.is_empty() {
            content.write(written, at);
            content.modified = now;
        }
        fault.map_or(Ok(()), |fault| Err(DiskError::new("write", &self.path, fault.error())))
    }

    fn set_len(&self, len: u64) -> Result<()> {
        let len = self.to_usize("resize", len)?;
        let mut state = self.shared.lock();
        wrap("resize", &self.path, state.begin(Operation::Resize))?;
        state.content(self.file).set_len(len);
        Ok(())
    }

    fn allocate(&self, offset: u64, len: u64) -> Result<()> {
        let end = self.to_usize("reserve blocks for", offset.saturating_add(len))?;
        let mut state = self.shared.lock();
        wrap("reserve blocks for", &self.path, state.begin(Operation::Resize))?;
        let content = state.content(self.file);
        if end > content.len {
            content.set_len(end);
        }
        Ok(())
    }

    fn sync_data(&self) -> Result<()> {
        self.sync()
    }

    fn sync_all(&self) -> Result<()> {
        self.sync()
    }

    fn try_lock_first_byte(&self) -> Result<bool> {
        let mut held = self.holds_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = self.shared.lock().locks.insert(self.file);
        *held |= taken;
        Ok(taken)
    }

    fn mappable(&self) -> Mappable<'_> {
        let memory = Arc::clone(&self.shared.lock().content(self.file).memory);
        Mappable::Sim(SimMapping { memory, world: Arc::clone(&self.shared), file: self.file })
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        let held = *self.holds_lock.lock().unwrap_or_else(PoisonError::into_inner);
        if held {
            self.shared.lock().locks.remove(&self.file);
        }
    }
}
