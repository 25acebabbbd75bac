//! Clears what a crash or a cut left behind the end of a file's content, so that it can never be taken for content of
//! its own once new bytes have been written in front of it.

use crate::env::DiskFile;
use crate::error::Result;
use crate::zero_scan::{first_nonzero, last_nonzero};

/// Bytes looked at in one go.
const CHUNK: u64 = 64 << 10;

/// Makes every byte from `from` to the end of the file zero. Stretches that were never written are passed over, bytes
/// that are zero already are not written, and reserved blocks stay reserved. Returns whether anything had to be cleared;
/// if so the zeros are durable.
pub fn zero_rest(file: &dyn DiskFile, from: u64) -> Result<bool> {
    let len = file.len()?;
    let mut buf = vec![0_u8; CHUNK as usize];
    let mut cleared = false;
    let mut at = from;
    while at < len {
        let Some(data) = file.next_data(at)? else { break };
        at = data.max(at);
        let part = CHUNK.min(len.saturating_sub(at)) as usize;
        let chunk = &mut buf[..part];
        file.read_exact_at(chunk, at)?;
        let first = first_nonzero(chunk);
        let last = last_nonzero(chunk);
        if let (Some(first), Some(last)) = (first, last) {
            chunk[first..=last].fill(0);
            file.write_all_at(&chunk[first..=last], at + first as u64)?;
            cleared = true;
        }
        at += part as u64;
    }
    if cleared {
        file.sync_data()?;
    }
    Ok(cleared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::{Disk, OpenMode};
    use crate::os::OsDisk;

    #[test]
    fn clears_behind_and_keeps_before() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let file = OsDisk.open(&path, OpenMode::CreateNew).unwrap();
        file.set_len(3 << 20).unwrap();
        file.write_all_at(b"kept and stale", 10).unwrap();
        file.write_all_at(&[7; 100], (1 << 20) - 50).unwrap();
        file.write_all_at(b"x", (3 << 20) - 1).unwrap();
        assert!(zero_rest(&*file, 14).unwrap());
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), 3 << 20);
        assert_eq!(&bytes[10..14], b"kept");
        assert!(bytes[14..].iter().all(|byte| *byte == 0));
        assert!(!zero_rest(&*file, 14).unwrap(), "nothing left to clear");
        assert!(!zero_rest(&*file, 3 << 20).unwrap());
    }
}
