use crate::env::DiskFile;
use crate::error::Result;
use crate::zero_scan::last_nonzero;

/// Bytes read ahead: few calls, and still a small part of the processor's cache.
const STEP: usize = 512 << 10;

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
        self.bytes.resize(want.max(STEP).min(left), 0);
        self.start = at;
        let read = file.read_exact_at(&mut self.bytes, at);
        if read.is_err() {
            self.bytes.clear();
        }
        read
    }
}

/// Where the content of a file that is filled from its beginning ends, found by halving and so with few reads: a stretch
/// of zeros within the content may be taken for its end. For telling progress, not for deciding anything.
///
/// # Errors
///
/// Whatever the disk reports.
pub fn probable_end(file: &dyn DiskFile, len: u64) -> Result<u64> {
    const PAGE: u64 = 4096;
    let mut buf = [0_u8; PAGE as usize];
    // Pages before `used` hold something, those from `empty` on do not.
    let (mut used, mut empty) = (0, len.div_ceil(PAGE));
    while used < empty {
        let page = used + (empty - used) / 2;
        let part = &mut buf[..PAGE.min(len - page * PAGE) as usize];
        file.read_exact_at(part, page * PAGE)?;
        if last_nonzero(part).is_some() { used = page + 1 } else { empty = page }
    }
    Ok((used * PAGE).min(len))
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
            if let Some(byte) = last_nonzero(part) {
                return Ok(Some(data + byte as u64 + 1));
            }
        }
        end = start;
    }
    Ok(None)
}
