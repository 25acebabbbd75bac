use crate::error::Result;
use crate::mapped_file::MappedFile;
use crate::sync::Arc;

/// Unit of `flushLeastPagesWhenWarmMapedFile`, in bytes.
const OS_PAGE_SIZE: u64 = 4096;
/// Bytes of a step that nothing else decides: the disk is not asked for a whole gigabyte in one call.
const STEP: u64 = 16 << 20;
/// Bytes touched while the writer is kept away.
const TOUCHED_AT_ONCE: u64 = 1 << 20;

/// Makes the pages of a new file present and writable ahead of the appends (`warmMapedFileEnable`), step by step.
///
/// Stored bytes never change, so the file may be in use already: where the kernel has `MADV_POPULATE_WRITE` (Linux 5.14)
/// no byte is touched, and a full disk is a refusal instead of a SIGBUS; elsewhere one byte of every page that nothing was
/// appended to yet is read and written back, while the writer is kept away.
///
/// For a store that syncs each put, the pages are also written back, `flush_every_pages` at a time: blocks that were
/// written once are synced several times faster than reserved ones, and the disk never has more to write than that.
#[derive(Debug)]
pub struct WarmUp {
    file: Arc<MappedFile>,
    at: u64,
    step: u64,
    flush: bool,
}

impl WarmUp {
    /// The warm-up of `file`, not begun; with `flush_every_pages` (4 KiB each, at least 1) what was made present is
    /// written back.
    pub fn new(file: Arc<MappedFile>, flush_every_pages: Option<u32>) -> Self {
        let step = flush_every_pages.map_or(STEP, |pages| u64::from(pages.max(1)) * OS_PAGE_SIZE);
        Self { file, at: 0, step, flush: flush_every_pages.is_some() }
    }

    /// The file.
    pub fn file(&self) -> &Arc<MappedFile> {
        &self.file
    }

    /// Warms the next pages up; false when there is nothing left to do, as the file is at its end, full or deleted.
    ///
    /// # Errors
    ///
    /// [`crate::MapError::Flush`]. Every later flush of the file fails then too.
    pub fn step(&mut self) -> Result<bool> {
        let file = &self.file;
        if self.at >= file.file_size() || file.is_full() || file.is_deleted() {
            return Ok(false);
        }
        let end = (self.at + self.step).min(file.file_size());
        if !file.populate(self.at, end) {
            let mut from = self.at;
            while from < end {
                let to = (from + TOUCHED_AT_ONCE).min(end);
                file.touch(from, to);
                from = to;
            }
        }
        if self.flush {
            file.write_back(self.at, end)?;
        }
        self.at = end;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapped_file::ReservePolicy;
    use store_disk_tools::Env;
    use store_disk_tools::sim::SimWorld;

    fn file(env: &Env, size: u64) -> Arc<MappedFile> {
        let path = std::path::Path::new("/0");
        Arc::new(MappedFile::create(env, path, 0, size, ReservePolicy::Whole).unwrap())
    }

    #[test]
    fn field_F94_warm_up_changes_no_stored_byte() {
        let world = SimWorld::new(1, 0);
        let file = file(&world.env(), 10 * 4096);
        file.append(&[7; 5000]).unwrap();
        let mut warm_up = WarmUp::new(Arc::clone(&file), Some(2));
        warm_up.step().unwrap();
        file.append(&[9; 6000]).unwrap();
        file.touch(0, 10 * 4096);
        while warm_up.step().unwrap() {}
        let read = file.slice(0, 11_000).unwrap();
        assert!(read[..5000].iter().all(|byte| *byte == 7) && read[5000..].iter().all(|byte| *byte == 9));
        file.append_with(4096, |rest| assert!(rest.iter().all(|byte| *byte == 0))).unwrap();
    }

    #[test]
    fn pages_are_written_back_so_many_at_a_time() {
        let world = SimWorld::new(1, 0);
        let file = file(&world.env(), 10 * 4096);
        for (flush_every, syncs) in [(None, 0), (Some(4), 3), (Some(0), 10), (Some(4096), 1)] {
            let before = world.operations();
            let mut warm_up = WarmUp::new(Arc::clone(&file), flush_every);
            while warm_up.step().unwrap() {}
            assert_eq!(world.operations() - before, syncs, "{flush_every:?}");
        }
    }

    #[test]
    fn a_failed_write_back_fails_every_later_flush() {
        let world = SimWorld::new(1, 0);
        let file = file(&world.env(), 4 * 4096);
        file.append(b"stored").unwrap();
        world.plan_fault(world.operations() + 1, store_disk_tools::sim::Fault::SyncError);
        let error = WarmUp::new(Arc::clone(&file), Some(1)).step().unwrap_err().to_string();
        assert!(error.contains("cannot write back bytes 0..4096 of /0"), "{error}");
        assert_eq!(file.flush(0).unwrap_err().to_string(), error, "the kernel would report success");
        assert_eq!(file.flushed_position(), 0);
    }

    #[test]
    fn a_full_or_deleted_file_is_left_alone() {
        let world = SimWorld::new(1, 0);
        let file = file(&world.env(), 4 * 4096);
        let mut warm_up = WarmUp::new(Arc::clone(&file), None);
        file.mark_deleted();
        assert!(!warm_up.step().unwrap());
    }
}
