//! Makes the log file behind the one just taken, so that the writer never waits for the disk at a roll.

use crate::service::{Service, Step, Wakeup};
use crate::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::time::Duration;
use store_logic::{Env, FileRequest, FileSupplier, MapError, MappedFile, MemoryLock, warm_up};

/// Rest of the worker without requests; a request wakes it.
const IDLE: Duration = Duration::from_secs(3600);
/// A file is made ahead of need only when so many of its size would fit: a nearly full disk keeps its space for the
/// file that is needed.
const FREE_FILES_WANTED: u64 = 2;
/// Files made ahead of need.
const FILES_AHEAD: usize = 2;
/// Locked files that are kept: the one being written and those ahead.
const LOCKS_KEPT: usize = 1 + FILES_AHEAD;

/// How files are prepared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Preparation {
    /// Make files ahead of need.
    pub(crate) ahead: bool,
    /// Touch and lock their pages.
    pub(crate) warm_up: bool,
}

/// The supplying side, which the log's file queue holds.
pub(crate) struct AheadSupplier {
    shared: Arc<Shared>,
    wakeup: Wakeup,
    preparation: Preparation,
}

/// The worker.
pub(crate) struct AllocateMappedFileService {
    env: Env,
    shared: Arc<Shared>,
    preparation: Preparation,
    locks: Vec<MemoryLock>,
}

#[derive(Default)]
struct Shared {
    files: Mutex<Files>,
    changed: Condvar,
}

/// Files ahead of need.
#[derive(Default)]
struct Files {
    /// By the offset each begins at: the directory of a file is chosen when it is made.
    slots: BTreeMap<u64, Slot>,
    /// Up to here files were made without a gap. None is made beyond: after a crash a log with a gap could not be opened.
    made_to: u64,
    /// Asked for and not begun, in order. Each has its slot.
    requests: VecDeque<FileRequest>,
    /// The worker takes no request any more.
    closed: bool,
}

impl Files {
    fn note_made(&mut self, request: &FileRequest) {
        self.made_to = self.made_to.max(request.from + request.size);
    }
}

enum Slot {
    /// Asked for or being made.
    Making,
    /// Made, not taken yet.
    Ready(Arc<MappedFile>),
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Both sides.
pub(crate) fn allocate_mapped_file_service(
    env: &Env,
    preparation: Preparation,
    wakeup: Wakeup,
) -> (Arc<AheadSupplier>, AllocateMappedFileService) {
    let shared = Arc::new(Shared::default());
    let supplier = AheadSupplier { shared: Arc::clone(&shared), wakeup, preparation };
    let service = AllocateMappedFileService { env: env.clone(), shared, preparation, locks: Vec::new() };
    (Arc::new(supplier), service)
}

impl AheadSupplier {
    /// Asks for a file ahead of need; nothing happens when it is on its way or the disk is too full.
    fn ask_ahead(&self, env: &Env, request: FileRequest) {
        if !self.preparation.ahead || !has_room(env, &request) {
            return;
        }
        let from = request.from;
        let mut files = self.shared.lock();
        // Without a worker the file will be made when it is needed.
        if files.closed || files.slots.contains_key(&from) {
            return;
        }
        files.slots.insert(from, Slot::Making);
        files.requests.push_back(request);
        drop(files);
        self.wakeup.wake();
    }

    /// The file if it is ready or on its way; `None` when nobody makes it.
    fn take(&self, from: u64) -> Option<Arc<MappedFile>> {
        let mut files = self.shared.lock();
        loop {
            match files.slots.get(&from) {
                None => return None,
                Some(Slot::Ready(_)) => {}
                Some(Slot::Making) => {
                    files = self.shared.changed.wait(files).unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
            }
            return match files.slots.remove(&from) {
                Some(Slot::Ready(file)) => Some(file),
                _ => None,
            };
        }
    }
}

fn successors(request: &FileRequest) -> impl Iterator<Item = FileRequest> {
    std::iter::successors(request.following(), FileRequest::following)
}

fn has_room(env: &Env, request: &FileRequest) -> bool {
    match env.disk().space(request.path().parent().unwrap_or(Path::new("."))) {
        Ok(space) if space.available < request.size.saturating_mul(FREE_FILES_WANTED) => {
            tracing::info!(
                available = space.available,
                file_size = request.size,
                "not reserving the next log file ahead of need: the disk is too full"
            );
            false
        }
        // Unknown space: as roomy as Apache takes every disk to be.
        _ => true,
    }
}

impl FileSupplier for AheadSupplier {
    fn supply(&self, env: &Env, request: &FileRequest) -> Result<Arc<MappedFile>, MapError> {
        let file = match self.take(request.from) {
            Some(file) => file,
            None => Arc::new(request.create(env)?),
        };
        self.shared.lock().note_made(request);
        // The next and the next but one: a writer that outruns the first still finds the second.
        for following in successors(request).take(FILES_AHEAD) {
            self.ask_ahead(env, following);
        }
        Ok(file)
    }

    fn discard_unused(&self, env: &Env) -> Result<(), MapError> {
        let mut files = self.shared.lock();
        while files.slots.values().any(|slot| matches!(slot, Slot::Making)) {
            files = self.shared.changed.wait(files).unwrap_or_else(PoisonError::into_inner);
        }
        // From the last on: whatever fails, what stays has no gap.
        while let Some((_, slot)) = files.slots.pop_last() {
            let Slot::Ready(file) = slot else { continue };
            env.disk().remove_file(file.path())?;
            if let Some(directory) = file.path().parent() {
                env.disk().sync_dir(directory)?;
            }
        }
        Ok(())
    }
}

impl AllocateMappedFileService {
    fn make(&mut self, request: &FileRequest) {
        let mut files = self.shared.lock();
        if request.from > files.made_to {
            tracing::debug!(from = request.from, "not made ahead of need: the file before it is missing");
            files.slots.remove(&request.from);
            drop(files);
            self.shared.changed.notify_all();
            return;
        }
        drop(files);
        let made = request.create(&self.env).map(Arc::new);
        if let Ok(file) = &made {
            self.prepare(file);
        }
        let mut files = self.shared.lock();
        match made {
            Ok(file) => {
                files.note_made(request);
                files.slots.insert(request.from, Slot::Ready(file));
            }
            Err(error) => {
                // Whoever needs the file tries again and gets the error as an answer.
                tracing::warn!(%error, "could not make the next log file ahead of need");
                files.slots.remove(&request.from);
            }
        }
        drop(files);
        self.shared.changed.notify_all();
    }

    fn prepare(&mut self, file: &Arc<MappedFile>) {
        if !self.preparation.warm_up {
            return;
        }
        let warmed = warm_up(file);
        tracing::debug!(file = %file.path().display(), warmed, "warmed up");
        match MemoryLock::new(Arc::clone(file)) {
            Ok(lock) => {
                self.locks.push(lock);
                if self.locks.len() > LOCKS_KEPT {
                    self.locks.remove(0);
                }
            }
            Err(error) => {
                tracing::info!(%error, "log files are not locked in memory (see the limit of locked memory)")
            }
        }
    }
}

impl Service for AllocateMappedFileService {
    fn name(&self) -> &'static str {
        "AllocateMappedFile"
    }

    fn step(&mut self) -> Step {
        let request = self.shared.lock().requests.pop_front();
        match request {
            Some(request) => {
                self.make(&request);
                Step::Again
            }
            None => Step::Wait(IDLE),
        }
    }

    fn finish(&mut self) {
        // Nobody may wait for a file that is no longer made, nor for one whose making ended in a panic.
        let mut files = self.shared.lock();
        files.closed = true;
        files.requests.clear();
        files.slots.retain(|_, slot| matches!(slot, Slot::Ready(_)));
        drop(files);
        self.shared.changed.notify_all();
    }
}

impl Drop for AllocateMappedFileService {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::wakeup;
    use store_logic::ReservePolicy;
    use store_logic::sim::{Fault, SimWorld};

    fn request(directory: &Path, from: u64) -> FileRequest {
        FileRequest { directories: directory.into(), from, size: 4096, reserve: ReservePolicy::Whole }
    }

    /// Does what the worker's thread would until it rests.
    fn work(service: &mut AllocateMappedFileService) {
        while service.step() == Step::Again {}
    }

    #[test]
    fn the_next_files_are_there_before_they_are_needed_and_go_unused() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::os();
        let preparation = Preparation { ahead: true, warm_up: true };
        let (supplier, mut service) = allocate_mapped_file_service(&env, preparation, wakeup().0);
        let exists = |from| request(dir.path(), from).path().exists();
        supplier.supply(&env, &request(dir.path(), 0)).unwrap();
        assert!(!exists(4096));
        work(&mut service);
        assert!(exists(4096) && exists(8192) && !exists(12_288), "the next and the next but one");
        supplier.supply(&env, &request(dir.path(), 4096)).unwrap();
        work(&mut service);
        assert!(exists(12_288));
        supplier.discard_unused(&env).unwrap();
        assert!(exists(4096) && !exists(8192) && !exists(12_288));
    }

    #[test]
    fn behind_a_file_that_could_not_be_made_none_is_made() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::os();
        let preparation = Preparation { ahead: true, warm_up: false };
        let (supplier, mut service) = allocate_mapped_file_service(&env, preparation, wakeup().0);
        let path = |from| request(dir.path(), from).path();
        // In the way of the next file.
        std::fs::create_dir(path(4096)).unwrap();
        supplier.supply(&env, &request(dir.path(), 0)).unwrap();
        work(&mut service);
        assert!(!path(8192).exists());
        std::fs::remove_dir(path(4096)).unwrap();
        supplier.supply(&env, &request(dir.path(), 4096)).unwrap();
        work(&mut service);
        assert!(path(8192).exists() && path(12_288).exists());
    }

    #[test]
    fn when_unused_files_cannot_be_deleted_no_gap_is_left() {
        for failing in 1..=4 {
            let world = SimWorld::new(1, 0);
            let env = world.env();
            let preparation = Preparation { ahead: true, warm_up: false };
            let (supplier, mut service) = allocate_mapped_file_service(&env, preparation, wakeup().0);
            supplier.supply(&env, &request(Path::new("/log"), 0)).unwrap();
            work(&mut service);
            // Deletion and sync of one file, then of the other.
            world.plan_fault(world.operations() + failing, Fault::NameError);
            supplier.discard_unused(&env).unwrap_err();
            let exists = |from| env.disk().stat(&request(Path::new("/log"), from).path()).unwrap().is_some();
            assert!(exists(4096) || !exists(8192), "operation {failing} fails");
        }
    }

    #[test]
    fn without_a_worker_files_come_on_demand() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::os();
        let preparation = Preparation { ahead: true, warm_up: false };
        let (supplier, service) = allocate_mapped_file_service(&env, preparation, wakeup().0);
        drop(service);
        for from in [0, 4096, 8192] {
            supplier.supply(&env, &request(dir.path(), from)).unwrap();
        }
        supplier.discard_unused(&env).unwrap();
    }
}
