use super::clock::SimClock;
use super::content::Content;
use super::faults::{Fault, Operation};
use super::memory::SimMapping;
use super::names::{Names, Node};
use super::random::{Random, SimEntropy};
use crate::env::{DirEntry, Disk, DiskFile, Env, FileKind, FileStat, Mappable, OpenMode, Space};
use crate::error::{DiskError, Result};
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A simulated machine: a disk, a clock, and numbers from a seed.
#[derive(Debug, Clone)]
pub struct SimWorld {
    shared: Arc<Shared>,
    clock: SimClock,
    seed: u64,
}

#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    names: Names,
    files: BTreeMap<u64, Content>,
    next_file: u64,
    locks: HashSet<u64>,
    /// Operations so far.
    operations: u64,
    faults: BTreeMap<u64, Fault>,
    faults_hit: u64,
    power_cut_at: Option<u64>,
    random: Random,
    /// What is left, once the power is off.
    left: Option<Box<State>>,
}

impl SimWorld {
    /// An empty disk at the time `now` (epoch milliseconds).
    pub fn new(seed: u64, now: i64) -> Self {
        let state = State {
            names: Names::default(),
            files: BTreeMap::new(),
            next_file: 1,
            locks: HashSet::new(),
            operations: 0,
            faults: BTreeMap::new(),
            faults_hit: 0,
            power_cut_at: None,
            random: Random::new(seed),
            left: None,
        };
        Self { shared: Arc::new(Shared { state: Mutex::new(state) }), clock: SimClock::new(now), seed }
    }

    /// The world as a store sees it.
    pub fn env(&self) -> Env {
        Env::new(
            Arc::new(SimDisk { shared: Arc::clone(&self.shared) }),
            Arc::new(self.clock.clone()),
            Arc::new(SimEntropy::new(self.seed)),
        )
    }

    /// The clock.
    pub fn clock(&self) -> &SimClock {
        &self.clock
    }

    /// Operations so far: what [`SimWorld::cut_power_at`] and [`SimWorld::plan_fault`] count.
    pub fn operations(&self) -> u64 {
        self.shared.lock().operations
    }

    /// The operation with this number, and all later ones, find no power.
    pub fn cut_power_at(&self, operation: u64) {
        self.shared.lock().power_cut_at = Some(operation);
    }

    /// The first operation from this number on that the fault can hit is hit by it.
    pub fn plan_fault(&self, operation: u64, fault: Fault) {
        self.shared.lock().faults.insert(operation, fault);
    }

    /// Faults that have hit an operation.
    pub fn faults_hit(&self) -> u64 {
        self.shared.lock().faults_hit
    }

    /// True once the power is off.
    pub fn is_off(&self) -> bool {
        self.shared.lock().left.is_some()
    }

    /// Cuts the power now, unless it is off, and returns the machine as it comes up again: with what had reached the
    /// disk, and some of what had not.
    pub fn restart_after_power_cut(&self) -> Self {
        let mut state = self.shared.lock();
        state.cut_power();
        let left = state.left.as_ref().map(|left| left.copy_after_kill());
        drop(state);
        self.with(left.unwrap_or_else(|| unreachable!("the power has just been cut")))
    }

    /// The machine after its process was killed: everything written is there, what was not durable still is not.
    pub fn restart_after_kill(&self) -> Self {
        self.with(self.shared.lock().copy_after_kill())
    }

    fn with(&self, state: State) -> Self {
        Self {
            shared: Arc::new(Shared { state: Mutex::new(state) }),
            clock: self.clock.clone(),
            seed: self.seed,
        }
    }
}

impl State {
    fn fresh(&self, names: Names, files: BTreeMap<u64, Content>) -> Self {
        Self {
            names,
            files,
            next_file: self.next_file,
            locks: HashSet::new(),
            operations: 0,
            faults: BTreeMap::new(),
            faults_hit: 0,
            power_cut_at: None,
            random: self.random.clone(),
            left: None,
        }
    }

    fn copy_after_kill(&self) -> Self {
        let files = self.files.iter().map(|(file, content)| (*file, content.after_kill())).collect();
        self.fresh(self.names.after_kill(), files)
    }

    fn cut_power(&mut self) {
        if self.left.is_some() {
            return;
        }
        let names = self.names.after_power_cut(&mut self.random);
        let mut files = BTreeMap::new();
        let kept: Vec<u64> = names.files().collect();
        for file in kept {
            if let Some(content) = self.files.get(&file) {
                files.insert(file, content.after_power_cut(&mut self.random));
            }
        }
        self.left = Some(Box::new(self.fresh(names, files)));
    }

    /// Counts an operation; fails when the power is off or a fault is planned for it.
    fn begin(&mut self, operation: Operation) -> io::Result<()> {
        self.operations += 1;
        if self.power_cut_at.is_some_and(|at| self.operations >= at) {
            self.cut_power();
        }
        if self.left.is_some() {
            return Err(io::Error::other("the power is off"));
        }
        let due = self.faults.range(..=self.operations).find(|(_, fault)| fault.can_hit(operation));
        let Some((at, fault)) = due.map(|(at, fault)| (*at, *fault)) else { return Ok(()) };
        self.faults.remove(&at);
        self.faults_hit += 1;
        Err(match fault {
            Fault::NoSpace => io::ErrorKind::StorageFull.into(),
            Fault::SyncError | Fault::WriteError | Fault::NameError => io::Error::other("input/output error"),
        })
    }

    fn content(&mut self, file: u64) -> &mut Content {
        self.files.entry(file).or_insert_with(Content::new)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn sync_content(&self, file: u64, range: Range<usize>) -> io::Result<()> {
        let mut state = self.lock();
        let begun = state.begin(Operation::Sync);
        let off = state.left.is_some();
        let content = state.content(file);
        match begun {
            Ok(()) => content.sync(&range),
            Err(_) if off => {}
            Err(_) => content.drop_pages(&range),
        }
        begun
    }
}

#[derive(Debug)]
struct SimDisk {
    shared: Arc<Shared>,
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
                state.begin(Operation::Create).map(|()| {
                    let file = state.next_file;
                    state.next_file += 1;
                    state.files.insert(file, Content::new());
                    state.names.put(path, Node::File(file));
                    file
                })
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
                wrap("sync directory", parent, state.begin(Operation::Name))?;
                state.names.sync(parent);
            }
        }
        Ok(())
    }

    fn read_dir(&self, path: &Path) -> Result<Vec<DirEntry>> {
        let state = self.shared.lock();
        let entry = |(name, node): (String, Node)| match node {
            Node::Directory => DirEntry { name, kind: FileKind::Directory, len: 0 },
            Node::File(file) => {
                let len = state.files.get(&file).map_or(0, |content| content.len as u64);
                DirEntry { name, kind: FileKind::File, len }
            }
        };
        Ok(state.names.list(path).into_iter().map(entry).collect())
    }

    fn stat(&self, path: &Path) -> Result<Option<FileStat>> {
        let state = self.shared.lock();
        Ok(state.names.get(path).map(|node| match node {
            Node::Directory => FileStat { kind: FileKind::Directory, len: 0, modified: 0 },
            Node::File(file) => {
                let len = state.files.get(&file).map_or(0, |content| content.len as u64);
                FileStat { kind: FileKind::File, len, modified: 0 }
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
        Ok(Space { total: 1 << 40, available: 1 << 39, used: 1 << 39 })
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
        let content = state.content(self.file);
        if from.checked_add(buf.len()).is_none_or(|end| end > content.len) {
            return Err(DiskError::new("read", &self.path, io::ErrorKind::UnexpectedEof.into()));
        }
        for (offset, byte) in buf.iter_mut().enumerate() {
            *byte = content.memory.get(from + offset);
        }
        Ok(())
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        let at = self.to_usize("write", offset)?;
        let mut state = self.shared.lock();
        wrap("write", &self.path, state.begin(Operation::Write))?;
        state.content(self.file).write(bytes, at);
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<()> {
        let len = self.to_usize("resize", len)?;
        let mut state = self.shared.lock();
        wrap("resize", &self.path, state.begin(Operation::Write))?;
        state.content(self.file).set_len(len);
        Ok(())
    }

    fn allocate(&self, offset: u64, len: u64) -> Result<()> {
        let end = self.to_usize("reserve blocks for", offset.saturating_add(len))?;
        let mut state = self.shared.lock();
        wrap("reserve blocks for", &self.path, state.begin(Operation::Write))?;
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
