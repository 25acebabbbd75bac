//! Accesses to mapped memory as the model checker sees them: it knows nothing of raw memory, so each stretch of a mapping
//! has a cell of loom's beside it, and whoever borrows bytes touches the cells of their stretches. loom fails when an access
//! for writing is not ordered after all others of its cell.
#![allow(unsafe_code, reason = "shares cells between model threads")]

use loom::cell::UnsafeCell;

/// Stretches of a mapping; more would only make models slower.
const MOST_CELLS: usize = 16;
/// Bytes of the shortest stretch.
const LEAST_BYTES: usize = 4;

#[derive(Debug)]
pub(super) struct Watched {
    cells: Vec<UnsafeCell<()>>,
    bytes_each: usize,
}

// SAFETY: the cells hold nothing; loom itself judges who may touch them when.
unsafe impl Sync for Watched {}

impl Watched {
    pub(super) fn new(len: usize) -> Self {
        let bytes_each = len.div_ceil(MOST_CELLS).max(LEAST_BYTES);
        Self { cells: (0..len.div_ceil(bytes_each)).map(|_| UnsafeCell::new(())).collect(), bytes_each }
    }

    fn cells(&self, at: usize, len: usize) -> &[UnsafeCell<()>] {
        if len == 0 {
            return &[];
        }
        &self.cells[at / self.bytes_each..(at + len).div_ceil(self.bytes_each)]
    }

    /// The bytes are looked at.
    pub(super) fn read(&self, at: usize, len: usize) {
        self.cells(at, len).iter().for_each(|cell| cell.with(|_| ()));
    }

    /// The bytes are written to.
    pub(super) fn write(&self, at: usize, len: usize) {
        self.cells(at, len).iter().for_each(|cell| cell.with_mut(|_| ()));
    }
}
