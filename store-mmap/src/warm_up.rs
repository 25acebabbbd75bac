use crate::mapped_file::MappedFile;

/// Bytes made present at once, so that the caller's disk is not asked for a whole gigabyte in one call.
const STEP: u64 = 16 << 20;

/// Makes the pages of a new file present and writable ahead of the first append (`warmMapedFileEnable`).
///
/// Where the kernel has `MADV_POPULATE_WRITE` no byte changes; it also reports a full disk as a refusal instead of a
/// SIGBUS. Returns the bytes made present, 0 where the kernel cannot.
pub fn warm_up(file: &MappedFile) -> u64 {
    let size = file.file_size();
    let mut at = 0;
    while at < size {
        let end = (at + STEP).min(size);
        if !file.populate(at, end) {
            break;
        }
        at = end;
    }
    at
}
