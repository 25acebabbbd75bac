//! The first two doors: a mark parts the bytes of a mapping into those that the one writer owns and those that everyone
//! may borrow.
//!
//! Two things are taken for granted by the blocks below: a file is mapped once per process (the lock of the store root
//! sees to that between processes), and nobody writes to a mapped file by other means but inside [`PublishedMapping::cut`]
//! and [`PublishedMapping::publish_with`], under the writer's lock and above the mark. `MappedFile::rewrite_from` also writes
//! below the mark, through the file: in recovery, when no view is held, and the bytes that stand there already.
#![allow(unsafe_code, reason = "borrows mapped memory on either side of the mark")]

use super::Mapping;
use crate::error::Result;
use crate::sync::{Arc, AtomicU64, AtomicUsize, Mutex, MutexGuard, Ordering, PoisonError};
use std::ops::{Deref, Range};

/// Distance of the bytes that are touched to make pages present: the smallest page there is.
const TOUCHED_PAGE: u64 = 4096;

/// A mapping with a published end.
#[derive(Debug)]
pub(crate) struct PublishedMapping {
    map: Mapping,
    /// Bytes below may be read and do not change while a view is held.
    wrote: AtomicU64,
    /// Views that keep bytes borrowed.
    views: AtomicUsize,
    /// Held by whoever moves the mark; readers never take it.
    writer: Mutex<()>,
}

/// Why a mark was not lowered. It stands where it stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CutRefused {
    /// So many views are held, and some may lie above.
    ViewsHeld(usize),
    /// It stands here already, below.
    AboveMark(u64),
}

impl PublishedMapping {
    pub(crate) fn new(map: Mapping, wrote: u64) -> Self {
        Self { map, wrote: AtomicU64::new(wrote), views: AtomicUsize::new(0), writer: Mutex::new(()) }
    }

    /// The memory, for calls that touch no byte.
    pub(crate) fn map(&self) -> &Mapping {
        &self.map
    }

    /// The published end.
    pub(crate) fn wrote(&self) -> u64 {
        self.wrote.load(Ordering::Acquire)
    }

    /// Views held.
    pub(crate) fn views(&self) -> usize {
        self.views.load(Ordering::SeqCst)
    }

    /// Lets `fill` write `len` bytes behind the mark, then publishes them unless it refuses; returns where they begin.
    /// `prepare` is asked first, with begin and end, and may refuse too.
    ///
    /// # Panics
    ///
    /// If `prepare` lets bytes pass that leave the mapping.
    pub(crate) fn append_with(
        &self,
        len: u64,
        prepare: impl FnOnce(u64, u64) -> Result<()>,
        fill: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<u64> {
        let _writer = self.lock_writer();
        let position = self.wrote.load(Ordering::Relaxed);
        let end = position.saturating_add(len);
        prepare(position, end)?;
        // SAFETY: bytes above the mark are reached only here, under the writer's lock; views lie below the mark, and the
        // mark is lowered only when no view is held. `slice_mut` checks the bounds.
        let target = unsafe { self.map.slice_mut(position as usize, len as usize) };
        fill(target)?;
        self.wrote.store(end, Ordering::Release);
        Ok(position)
    }

    /// Lets `write` put bytes behind the mark by other means than the mapping (a call that writes to the file), then
    /// publishes up to the end it returns. It is given the mark. Returns the new mark.
    ///
    /// # Panics
    ///
    /// If that end lies below the mark or outside the mapping.
    pub(crate) fn publish_with(&self, write: impl FnOnce(u64) -> Result<u64>) -> Result<u64> {
        let _writer = self.lock_writer();
        let position = self.wrote.load(Ordering::Relaxed);
        let end = write(position)?;
        assert!(position <= end && end <= self.map.len() as u64, "published {end} behind {position}");
        self.wrote.store(end, Ordering::Release);
        Ok(end)
    }

    /// Makes the pages of `from..to` that lie whole above the mark present, without changing a byte: one byte of each is
    /// read and written back, while no writer is at work.
    pub(crate) fn touch(&self, from: u64, to: u64) {
        let _writer = self.lock_writer();
        let above = self.wrote.load(Ordering::Relaxed).max(from).div_ceil(TOUCHED_PAGE) * TOUCHED_PAGE;
        for page in (above..to).step_by(TOUCHED_PAGE as usize) {
            // SAFETY: as in `append_with`: the byte lies above the mark and the writer's lock is held.
            let byte = unsafe { self.map.slice_mut(page as usize, 1) };
            byte[0] = std::hint::black_box(byte[0]);
        }
    }

    /// Lowers the mark to `at`: what stands above belongs to the writer again, and `clear` may do away with it while no
    /// writer is at work. Refused while views are held, and above the mark.
    pub(crate) fn cut(
        &self,
        at: u64,
        clear: impl FnOnce() -> Result<()>,
    ) -> std::result::Result<Result<()>, CutRefused> {
        let _writer = self.lock_writer();
        let before = self.wrote.load(Ordering::Relaxed);
        if at > before {
            return Err(CutRefused::AboveMark(before));
        }
        self.wrote.store(at, Ordering::SeqCst);
        // A view is counted before it looks at the mark, so one that is not seen here has seen the new mark.
        let views = self.views();
        if views > 0 && before > at {
            self.wrote.store(before, Ordering::SeqCst);
            return Err(CutRefused::ViewsHeld(views));
        }
        Ok(clear())
    }

    /// A view of published bytes; `None` unless all of them are.
    pub(crate) fn view(self: &Arc<Self>, position: u64, len: u64) -> Option<View> {
        // Counted first, checked second: `cut` counts after it has moved the mark.
        self.views.fetch_add(1, Ordering::SeqCst);
        let view = View { mapping: Arc::clone(self), position: position as usize, len: len as usize };
        let published = position.checked_add(len).is_some_and(|end| end <= self.wrote.load(Ordering::SeqCst));
        // Dropping the view takes it out of the count.
        published.then_some(view)
    }

    fn lock_writer(&self) -> MutexGuard<'_, ()> {
        // The lock guards no data of its own: a writer that panicked left the mark where it was.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Published bytes, borrowed and counted. Keeps the mapping alive.
#[derive(Debug)]
pub(crate) struct View {
    mapping: Arc<PublishedMapping>,
    position: usize,
    len: usize,
}

impl View {
    /// A view of a part of this one.
    ///
    /// # Panics
    ///
    /// If the range leaves this view.
    pub(crate) fn part(&self, range: Range<usize>) -> Self {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "{range:?} leaves a view of {} bytes",
            self.len
        );
        self.mapping.views.fetch_add(1, Ordering::SeqCst);
        Self {
            mapping: Arc::clone(&self.mapping),
            position: self.position + range.start,
            len: range.end - range.start,
        }
    }
}

impl Deref for View {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the range was below the mark when this view was already counted (`view`), or is part of such a view.
        // The writer stays above the mark, and `cut` refuses to lower it while a view is counted.
        unsafe { self.mapping.map.slice(self.position, self.len) }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        self.mapping.views.fetch_sub(1, Ordering::SeqCst);
    }
}
