use crate::env::{Disk, FileKind, Space};
use crate::error::Result;
use std::path::Path;

/// Used share of a file system in whole percent, rounded up, as RocketMQ's disk levels count it:
/// used ÷ (used + available), so blocks reserved for root count as neither.
pub fn used_percent(space: Space) -> u32 {
    let reachable = space.used.saturating_add(space.available);
    if reachable == 0 {
        return 100;
    }
    let percent = (u128::from(space.used) * 100).div_ceil(u128::from(reachable));
    u32::try_from(percent).unwrap_or(100)
}

/// Sum of the file lengths below `path`; a missing directory counts 0.
pub fn directory_bytes(disk: &dyn Disk, path: &Path) -> Result<u64> {
    let mut total = 0_u64;
    for entry in disk.read_dir(path)? {
        total += match entry.kind {
            FileKind::Directory => directory_bytes(disk, &path.join(&entry.name))?,
            FileKind::File => entry.len,
            FileKind::Other => 0,
        };
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_rounds_up() {
        let space = |used, available| Space { total: used + available, available, used };
        assert_eq!(used_percent(space(0, 100)), 0);
        assert_eq!(used_percent(space(1, 999)), 1);
        assert_eq!(used_percent(space(900, 100)), 90);
        assert_eq!(used_percent(space(901, 99)), 91);
        assert_eq!(used_percent(space(0, 0)), 100);
    }
}
