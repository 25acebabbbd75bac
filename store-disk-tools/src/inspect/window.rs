use crate::env::DiskFile;
use crate::error::Result;

/// Bytes read ahead.
const STEP: usize = 256 << 10;

/// A stretch of a file in memory that moves on as the file is read from its beginning to its end.
#[derive(Debug, Default)]
pub struct Window {
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// An empty window.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets what was read, before another file is.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Bytes of the file from `at` on: at least `want`, fewer only where the file (`len` bytes) ends.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn bytes(&mut self, file: &dyn DiskFile, len: u64, at: u64, want: usize) -> Result<&[u8]> {
        let want = want.min(usize::try_from(len.saturating_sub(at)).unwrap_or(usize::MAX));
        let end = self.start + self.bytes.len() as u64;
        if at < self.start || at + want as u64 > end {
            self.load(file, len, at, want)?;
        }
        let skip = (at - self.start) as usize;
        Ok(&self.bytes[skip..])
    }

    fn load(&mut self, file: &dyn DiskFile, len: u64, at: u64, want: usize) -> Result<()> {
        let left = usize::try_from(len.saturating_sub(at)).unwrap_or(usize::MAX);
        self.bytes.clear();
        self.bytes.resize(want.max(STEP).min(left), 0);
        self.start = at;
        let read = file.read_exact_at(&mut self.bytes, at);
        if read.is_err() {
            self.bytes.clear();
        }
        read
    }
}

/// Position behind the last byte of a file that is not zero, looked for in `from..len`; `None` when all are zero. Looks
/// from the end, so that the zeros there are all that is read; stretches that were never written are not read either.
///
/// # Errors
///
/// Whatever the disk reports.
pub fn last_data(file: &dyn DiskFile, from: u64, len: u64) -> Result<Option<u64>> {
    let mut buf = vec![0_u8; STEP];
    let mut end = len;
    while end > from {
        let start = end.saturating_sub(STEP as u64).max(from);
        if let Some(data) = file.next_data(start)?.filter(|data| *data < end) {
            let data = data.max(start);
            let part = &mut buf[..(end - data) as usize];
            file.read_exact_at(part, data)?;
            if let Some(byte) = part.iter().rposition(|byte| *byte != 0) {
                return Ok(Some(data + byte as u64 + 1));
            }
        }
        end = start;
    }
    Ok(None)
}
