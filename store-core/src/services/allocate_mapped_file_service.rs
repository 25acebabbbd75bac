//! Makes the log file behind the one just taken, so that the writer never waits for the disk at a roll, and warms it up.

mod page_locks;
mod supplier;
#[cfg(test)]
mod tests;

pub(crate) use supplier::{AheadSupplier, Preparation};

use crate::service::{Service, Step, Wakeup};
use crate::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use page_locks::PageLocks;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use store_logic::{Env, FileRequest, MappedFile, MemoryLock, WarmUp};

/// Rest of the worker without requests; a request wakes it.
const IDLE: Duration = Duration::from_secs(3600);

/// The worker.
pub(crate) struct AllocateMappedFileService {
    env: Env,
    shared: Arc<Shared>,
    preparation: Preparation,
    /// The file last delivered, which is written.
    active: Option<Arc<MappedFile>>,
    warm_ups: VecDeque<WarmUp>,
    locks: PageLocks,
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
    /// The file that is written from now on, until the worker has seen it.
    delivered: Option<Delivered>,
    /// The worker takes no request any more.
    closed: bool,
}

impl Files {
    fn note_made(&mut self, request: &FileRequest) {
        self.made_to = self.made_to.max(request.from + request.size);
    }
}

/// A file that was handed to the writer.
struct Delivered {
    file: Arc<MappedFile>,
    /// It was made on the spot, so nobody has warmed it up.
    on_the_spot: bool,
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

    /// The file that begins at `from`, made and not taken yet.
    fn ready(&self, from: u64) -> Option<Arc<MappedFile>> {
        match self.lock().slots.get(&from) {
            Some(Slot::Ready(file)) => Some(Arc::clone(file)),
            _ => None,
        }
    }
}

/// Both sides.
pub(crate) fn allocate_mapped_file_service(
    env: &Env,
    preparation: Preparation,
    wakeup: Wakeup,
) -> (Arc<AheadSupplier>, AllocateMappedFileService) {
    let shared = Arc::new(Shared::default());
    let supplier = AheadSupplier::new(Arc::clone(&shared), wakeup, preparation.clone());
    let service = AllocateMappedFileService {
        env: env.clone(),
        shared,
        preparation,
        active: None,
        warm_ups: VecDeque::new(),
        locks: PageLocks::new(|file| MemoryLock::new(file).map_err(|error| error.to_string())),
    };
    (Arc::new(supplier), service)
}

impl AllocateMappedFileService {
    /// Makes a file. It can be taken as soon as it is there, warmed up or not.
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
        match made {
            Ok(file) => {
                let mut files = self.shared.lock();
                files.note_made(request);
                files.slots.insert(request.from, Slot::Ready(Arc::clone(&file)));
                drop(files);
                self.begin_warm_up(file);
            }
            Err(error) => {
                // Whoever needs the file tries again and gets the error as an answer.
                tracing::warn!(%error, "could not make the next log file ahead of need");
                self.shared.lock().slots.remove(&request.from);
            }
        }
        self.shared.changed.notify_all();
        if let Some(pool) = &self.preparation.pool {
            pool.prepare();
        }
    }

    fn begin_warm_up(&mut self, file: Arc<MappedFile>) {
        if self.preparation.warm_up {
            self.warm_ups.push_back(WarmUp::new(file, self.preparation.flush_every_pages));
        }
    }

    fn note_delivered(&mut self, delivered: Delivered) {
        self.active = Some(Arc::clone(&delivered.file));
        if delivered.on_the_spot {
            self.begin_warm_up(delivered.file);
        }
        self.lock_pages();
    }

    /// Warms some pages up; false when there is nothing to warm up.
    fn warm_up(&mut self) -> bool {
        let Some(warm_up) = self.warm_ups.front_mut() else { return false };
        match warm_up.step() {
            Ok(true) => return true,
            Ok(false) => {}
            // The next flush of the file reports it again, and the store stops accepting.
            Err(error) => tracing::error!(%error, "a log file could not be warmed up"),
        }
        self.warm_ups.pop_front();
        self.lock_pages();
        true
    }

    /// Locks the file that is written and the next one, once they are warm: locking brings every page at once.
    fn lock_pages(&mut self) {
        if !self.preparation.warm_up {
            return;
        }
        let Some(active) = self.active.clone() else { return };
        let next = self.shared.ready(active.file_from_offset() + active.file_size());
        let is_warm =
            |file: &Arc<MappedFile>| !self.warm_ups.iter().any(|warm| Arc::ptr_eq(warm.file(), file));
        let wanted: Vec<_> = std::iter::once(active).chain(next).filter(is_warm).collect();
        self.locks.keep(&wanted);
    }
}

impl Service for AllocateMappedFileService {
    fn name(&self) -> &'static str {
        "AllocateMappedFile"
    }

    /// Files first: nobody waits for a warm-up.
    fn step(&mut self) -> Step {
        let mut files = self.shared.lock();
        if let Some(request) = files.requests.pop_front() {
            drop(files);
            self.make(&request);
        } else if let Some(delivered) = files.delivered.take() {
            drop(files);
            self.note_delivered(delivered);
        } else {
            drop(files);
            if !self.warm_up() {
                return Step::Wait(IDLE);
            }
        }
        Step::Again
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
