//! Does a record look as a power cut leaves it?

/// A disk writes sectors whole.
const SECTOR: u64 = 512;
/// Fewer zeros than this may be content.
const LEAST: usize = 16;

/// True when a sector's share of `bytes`, which begin at `file_offset`, is all zeros: a sector that may never have been
/// written. A record of which every sector holds something was written whole; only something else can have spoiled it.
pub(super) fn may_be_torn(bytes: &[u8], file_offset: u64) -> bool {
    let mut rest = bytes;
    let mut at = file_offset;
    while !rest.is_empty() {
        let share = ((SECTOR - at % SECTOR) as usize).min(rest.len());
        let (sector, behind) = rest.split_at(share);
        if share >= LEAST && sector.iter().all(|byte| *byte == 0) {
            return true;
        }
        at += share as u64;
        rest = behind;
    }
    false
}

/// True when the bytes `from..to` of a file lie in one sector, so that all of them or none were written.
pub(super) fn in_one_sector(from: u64, to: u64) -> bool {
    from / SECTOR == (to - 1) / SECTOR
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_count_from_the_beginning_of_the_file() {
        let mut bytes = vec![1; 1000];
        assert!(!may_be_torn(&bytes, 100));
        bytes[412..924].fill(0);
        assert!(may_be_torn(&bytes, 100), "one whole sector");
        assert!(!may_be_torn(&bytes, 101), "parts of two");
        bytes[924..].fill(0);
        assert!(may_be_torn(&bytes, 101), "the last one to its end");
        assert!(!may_be_torn(&[], 0));
        assert!(in_one_sector(504, 512) && !in_one_sector(505, 513));
    }
}
