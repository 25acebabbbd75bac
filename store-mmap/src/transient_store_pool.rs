//! Write buffers of a log file's size, lent to new files: appends go to memory that is no page cache, and reach the
//! file when they are committed.

use crate::mapping::{Mapping, PublishedMapping};
use crate::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A pool of write buffers (`transientStorePoolEnable`).
///
/// Buffers are made when they are first needed and then kept. Their memory is anonymous, comes page by page as it is
/// written, and is locked (`mlock`) where the limit of locked memory allows; else it works unlocked, after one warning.
#[derive(Debug)]
pub struct TransientStorePool {
    buffer_size: u64,
    size: usize,
    fails_fast: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    free: Vec<Buffer>,
    /// Buffers that exist, free or lent.
    made: usize,
    /// No more are made: memory was refused.
    exhausted: bool,
    /// The limit of locked memory was met and told.
    told_unlocked: bool,
}

/// Memory for one file.
struct Buffer {
    // Unlocks on drop, so it goes before the memory (fields drop in order).
    lock: Option<region::LockGuard>,
    memory: Arc<PublishedMapping>,
    /// Holds what an earlier file was given.
    used: bool,
}

/// A buffer in use. It goes back to its pool when dropped.
#[derive(Debug)]
pub(crate) struct LentBuffer {
    pool: Arc<TransientStorePool>,
    buffer: Option<Buffer>,
}

impl TransientStorePool {
    /// A pool of at most `size` (`transientStorePoolSize`) buffers of `buffer_size` bytes. With `fails_fast`
    /// (`fastFailIfNoBufferInStorePool`) a file is refused while all buffers are lent; without, the writer first commits
    /// what stands before that file, which gives buffers back.
    pub fn new(buffer_size: u64, size: usize, fails_fast: bool) -> Arc<Self> {
        Arc::new(Self { buffer_size, size, fails_fast, state: Mutex::default() })
    }

    /// Buffers that could be lent now (`availableBufferNums`).
    pub fn available(&self) -> usize {
        let state = self.lock();
        let makeable = if state.exhausted { 0 } else { self.size - state.made };
        state.free.len() + makeable
    }

    /// Bytes of a buffer.
    pub fn buffer_size(&self) -> u64 {
        self.buffer_size
    }

    /// Makes a buffer ahead of need, unless one is free: locking memory makes it present, which takes time.
    pub fn prepare(&self) {
        if self.lock().free.is_empty() {
            if let Some(buffer) = self.make() {
                self.lock().free.push(buffer);
            }
        }
    }

    /// True when a file is to be refused for now: all buffers are lent, and they come back.
    pub(crate) fn refuses(&self) -> bool {
        self.fails_fast && self.available() == 0 && self.lock().made > 0
    }

    /// A buffer of zeros; `None` when all are lent or memory was refused.
    pub(crate) fn borrow_buffer(self: &Arc<Self>) -> Option<LentBuffer> {
        let free = self.lock().free.pop();
        let buffer = free.or_else(|| self.make())?;
        Some(LentBuffer { pool: Arc::clone(self), buffer: Some(buffer) })
    }

    /// One more buffer, unless there are enough. Nobody waits for a lock meanwhile.
    fn make(&self) -> Option<Buffer> {
        {
            let mut state = self.lock();
            if state.made >= self.size || state.exhausted {
                return None;
            }
            state.made += 1;
        }
        let memory = match Mapping::anonymous(self.buffer_size) {
            Ok(memory) => memory,
            Err(error) => {
                let mut state = self.lock();
                state.made -= 1;
                state.exhausted = true;
                tracing::warn!(
                    %error,
                    bytes = self.buffer_size,
                    made = state.made,
                    wanted = self.size,
                    "no memory for a write buffer; the pool stays smaller"
                );
                return None;
            }
        };
        memory.advise_huge();
        let lock = self.lock_in_memory(&memory);
        Some(Buffer { lock, memory: Arc::new(PublishedMapping::new(memory, 0)), used: false })
    }

    fn lock_in_memory(&self, memory: &Mapping) -> Option<region::LockGuard> {
        match region::lock(memory.address(), memory.len()) {
            Ok(lock) => Some(lock),
            Err(error) => {
                if !std::mem::replace(&mut self.lock().told_unlocked, true) {
                    tracing::warn!(
                        %error,
                        bytes = self.buffer_size,
                        "write buffers are not locked in memory (see the limit of locked memory)"
                    );
                }
                None
            }
        }
    }

    fn take_back(&self, mut buffer: Buffer) {
        let mut state = self.lock();
        buffer.used = true;
        // Whoever still reads it keeps the memory; the pool makes another.
        match buffer.memory.cut(0, || Ok(())) {
            Ok(Ok(())) => state.free.push(buffer),
            _ => state.made -= 1,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is whole once made; a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Buffer")
            .field("locked", &self.lock.is_some())
            .field("wrote", &self.memory.wrote())
            .field("used", &self.used)
            .finish()
    }
}

impl LentBuffer {
    /// The memory and the end of what was appended.
    pub(crate) fn memory(&self) -> &Arc<PublishedMapping> {
        match &self.buffer {
            Some(buffer) => &buffer.memory,
            None => unreachable!("only taken when dropped"),
        }
    }

    /// True when it may hold other bytes than zeros.
    pub(crate) fn is_used(&self) -> bool {
        self.buffer.as_ref().is_some_and(|buffer| buffer.used)
    }
}

impl Drop for LentBuffer {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            self.pool.take_back(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill_abc(target: &mut [u8]) -> crate::Result<()> {
        target.copy_from_slice(b"abc");
        Ok(())
    }

    #[test]
    fn lends_as_many_as_it_has_and_takes_them_back() {
        let pool = TransientStorePool::new(8192, 2, true);
        assert_eq!(pool.available(), 2);
        assert!(!pool.refuses());
        let (first, second) = (pool.borrow_buffer().unwrap(), pool.borrow_buffer().unwrap());
        assert!(pool.borrow_buffer().is_none() && pool.refuses());
        assert!(!first.is_used());
        first.memory().append_with(3, |_, _| Ok(()), fill_abc).unwrap();
        drop(first);
        assert_eq!(pool.available(), 1);
        let again = pool.borrow_buffer().unwrap();
        assert!(again.is_used());
        assert_eq!(again.memory().wrote(), 0);
        drop((again, second));
        assert_eq!(pool.available(), 2);
    }

    #[test]
    fn memory_that_is_still_read_is_not_lent_again() {
        let pool = TransientStorePool::new(4096, 1, false);
        let lent = pool.borrow_buffer().unwrap();
        lent.memory().append_with(3, |_, _| Ok(()), fill_abc).unwrap();
        let view = lent.memory().view(0, 3).unwrap();
        drop(lent);
        let other = pool.borrow_buffer().unwrap();
        assert!(!other.is_used(), "another one");
        assert_eq!(&*view, b"abc");
    }

    #[test]
    fn a_pool_that_gets_no_memory_refuses_nothing() {
        let pool = TransientStorePool::new(u64::MAX, 3, true);
        pool.prepare();
        assert!(pool.borrow_buffer().is_none());
        assert_eq!(pool.available(), 0);
        assert!(!pool.refuses(), "nothing would ever come back");
    }
}
