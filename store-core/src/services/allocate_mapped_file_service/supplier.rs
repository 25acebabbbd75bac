//! The supplying side, which the log's file queue holds.

use super::{Delivered, Shared, Slot};
use crate::service::Wakeup;
use crate::sync::{Arc, PoisonError};
use std::path::Path;
use store_logic::{Env, FileRequest, FileSupplier, MapError, MappedFile, TransientStorePool};

/// A file is made ahead of need only when so many of its size would fit: a nearly full disk keeps its space for the
/// file that is needed.
const FREE_FILES_WANTED: u64 = 2;
/// Files made ahead of need.
const FILES_AHEAD: usize = 2;

/// How files are prepared.
#[derive(Debug, Clone, Default)]
pub(crate) struct Preparation {
    /// Make files ahead of need.
    pub(crate) ahead: bool,
    /// Touch and lock their pages.
    pub(crate) warm_up: bool,
    /// Write warm pages back, so many at a time.
    pub(crate) flush_every_pages: Option<u32>,
    /// Whose next write buffer is made ahead of need too.
    pub(crate) pool: Option<Arc<TransientStorePool>>,
}

/// Takes files from the worker's hands.
pub(crate) struct AheadSupplier {
    shared: Arc<Shared>,
    wakeup: Wakeup,
    preparation: Preparation,
}

impl AheadSupplier {
    pub(super) fn new(shared: Arc<Shared>, wakeup: Wakeup, preparation: Preparation) -> Self {
        Self { shared, wakeup, preparation }
    }

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

    fn note_delivered(&self, file: &Arc<MappedFile>, on_the_spot: bool) {
        if self.preparation.warm_up {
            self.shared.lock().delivered = Some(Delivered { file: Arc::clone(file), on_the_spot });
            self.wakeup.wake();
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
        let taken = self.take(request.from);
        let on_the_spot = taken.is_none();
        let file = match taken {
            Some(file) => file,
            None => Arc::new(request.create(env)?),
        };
        self.shared.lock().note_made(request);
        self.note_delivered(&file, on_the_spot);
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
