//! What a power cut takes: pages that were written and not synced.

use crate::copies::files;
use fastrand::Rng;
use std::ops::Range;
use std::path::Path;

/// Bytes of a "page": smaller than a real one, as the files are.
const PAGE: usize = 512;

/// Zeroes random pages of the log between `durable` and `end`, of the last file of each queue, and of the last index
/// file.
pub fn lose_pages(rng: &mut Rng, root: &Path, durable: u64, end: u64) {
    for path in files(&root.join("commitlog")) {
        let from: u64 = path.file_name().and_then(|name| name.to_str()?.parse().ok()).expect("an offset");
        for page in 0..4096 / PAGE as u64 {
            let at = from + page * PAGE as u64;
            let range = at.max(durable)..(at + PAGE as u64).min(end.max(durable));
            if !range.is_empty() && rng.u8(0..5) == 0 {
                zero(&path, (range.start - from) as usize..(range.end - from) as usize);
            }
        }
    }
    for topic in files(&root.join("consumequeue")) {
        for queue in files(&topic) {
            if let Some(last) = files(&queue).pop().filter(|_| rng.u8(0..3) == 0) {
                zero(&last, rng.usize(0..200)..200);
            }
        }
    }
    if let Some(last) = files(&root.join("index")).pop().filter(|_| rng.u8(0..3) == 0) {
        // Header and slots lie in the first page; pages end anywhere between the 4-byte cells of the entries.
        let len = std::fs::metadata(&last).expect("an index file").len() as usize;
        let at = if rng.bool() { 0 } else { 4 * rng.usize(20..(len / 4).max(21)) };
        zero(&last, at..(at + 100).min(len));
    }
}

/// Zeroes a range of a file; one that was just being made may be shorter.
pub fn zero(path: &Path, range: Range<usize>) {
    let mut bytes = std::fs::read(path).expect("a file");
    let end = range.end.min(bytes.len());
    bytes[range.start.min(end)..end].fill(0);
    std::fs::write(path, bytes).expect("written");
}
