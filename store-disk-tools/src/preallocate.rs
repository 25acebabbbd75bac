//! One policy for making a file of fixed size: reserve its blocks, so that a later store into its mapping can neither
//! run out of space (SIGBUS) nor allocate on the hot path.

use crate::env::{Disk, DiskFile, OpenMode};
use crate::error::{DiskError, Result};
use std::io;
use std::path::Path;

/// How the blocks of a new file came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reservation {
    /// Reserved by the file system.
    Reserved,
    /// The file system cannot reserve; zeros were written.
    Zeroed,
    /// The file was there with its full size.
    Existing,
}

/// Bytes written at once where zeros must be written.
const ZERO_BLOCK: usize = 1 << 20;

/// Makes the file `path` of `len` bytes, the first `reserved` of them with their blocks reserved, and its name durable;
/// an existing file of that length is opened as it is, and its name made durable. A new file that cannot be made durable is
/// removed: the next start would find it and take its name for durable.
///
/// Files that fill from front to back for a long time and are many (queue files) reserve a stretch at a time with
/// [`reserve`]; a log file reserves everything. The length of a file that is reserved as a whole is durable too; of
/// others a power cut may leave an empty file.
///
/// # Errors
///
/// An existing file of another length, except an empty one (left by a crash between creation and reservation), and
/// whatever the disk reports.
pub fn create_sized(
    disk: &dyn Disk,
    path: &Path,
    len: u64,
    reserved: u64,
) -> Result<(Box<dyn DiskFile>, Reservation)> {
    let file = disk.open(path, OpenMode::OpenOrCreate)?;
    let existing = file.len()?;
    if existing == len {
        // Whoever made it may have failed before it was durable, or died.
        sync_new(disk, &*file, path, reserved >= len)?;
        return Ok((file, Reservation::Existing));
    }
    if existing != 0 {
        let reason = format!("expected a file of {len} bytes, found {existing}");
        return Err(DiskError::new("use", path, io::Error::new(io::ErrorKind::InvalidData, reason)));
    }
    let made = make(&*file, len, reserved.min(len));
    let made = made.and_then(|how| sync_new(disk, &*file, path, reserved >= len).map(|()| how));
    match made {
        Ok(reservation) => Ok((file, reservation)),
        Err(error) => {
            drop(file);
            // This error says more than a failure to tidy up after it.
            let _ = disk.remove_file(path);
            Err(error)
        }
    }
}

/// Makes the name of a new file durable, and its length when all of it is reserved: others will then rely on what is in
/// it, so after a power cut it must be there whole.
fn sync_new(disk: &dyn Disk, file: &dyn DiskFile, path: &Path, whole: bool) -> Result<()> {
    if whole {
        file.sync_all()?;
    }
    path.parent().map_or(Ok(()), |parent| disk.sync_dir(parent))
}

fn make(file: &dyn DiskFile, len: u64, reserved: u64) -> Result<Reservation> {
    file.set_len(len)?;
    reserve(file, 0, reserved)
}

/// Reserves the blocks of `len` bytes at `offset`; where the file system cannot, zeros are written, so the stretch must
/// hold nothing yet.
pub fn reserve(file: &dyn DiskFile, offset: u64, len: u64) -> Result<Reservation> {
    if len == 0 {
        return Ok(Reservation::Existing);
    }
    match file.allocate(offset, len) {
        Ok(()) => Ok(Reservation::Reserved),
        Err(error) if error.io().kind() == io::ErrorKind::Unsupported => {
            write_zeros(file, offset, offset + len)?;
            Ok(Reservation::Zeroed)
        }
        Err(error) => Err(error),
    }
}

/// Reserves the blocks of `len` bytes at `offset` without writing: for stretches that may hold content. Returns whether
/// the file system can.
pub fn reserve_in_place(file: &dyn DiskFile, offset: u64, len: u64) -> Result<bool> {
    if len == 0 {
        return Ok(true);
    }
    match file.allocate(offset, len) {
        Ok(()) => Ok(true),
        Err(error) if error.io().kind() == io::ErrorKind::Unsupported => Ok(false),
        Err(error) => Err(error),
    }
}

fn write_zeros(file: &dyn DiskFile, from: u64, end: u64) -> Result<()> {
    let zeros = vec![0_u8; ZERO_BLOCK];
    let mut at = from;
    while at < end {
        let part = (end - at).min(ZERO_BLOCK as u64);
        file.write_all_at(&zeros[..part as usize], at)?;
        at += part;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::OsDisk;
    use crate::sim::{Fault, SimWorld};

    #[test]
    fn makes_reserves_and_finds_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("00000000000000000000");
        let (file, how) = create_sized(&OsDisk, &path, 1 << 20, 1 << 20).unwrap();
        assert_ne!(how, Reservation::Existing);
        assert_eq!(file.len().unwrap(), 1 << 20);
        assert_eq!(create_sized(&OsDisk, &path, 1 << 20, 1 << 20).unwrap().1, Reservation::Existing);
    }

    #[test]
    fn another_length_is_refused_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, b"abc").unwrap();
        let error = create_sized(&OsDisk, &path, 8, 8).err().unwrap().to_string();
        assert!(error.contains("expected a file of 8 bytes, found 3"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"abc");
    }

    #[test]
    fn a_file_whose_name_could_not_be_made_durable_is_gone_and_can_be_made_again() {
        for seed in 0..20 {
            let world = SimWorld::new(seed, 0);
            let env = world.env();
            let path = Path::new("/store/00000000000000000000");
            env.disk().create_dir_all(Path::new("/store")).unwrap();
            world.plan_fault(world.operations(), Fault::NameError);
            assert!(create_sized(env.disk(), path, 8192, 8192).is_err(), "the directory cannot be synced");
            assert_eq!(env.disk().stat(path).unwrap(), None, "the next start must not find it");
            let (_, how) = create_sized(env.disk(), path, 8192, 8192).unwrap();
            assert_eq!(how, Reservation::Reserved);
            let left = world.restart_after_power_cut().env();
            let file = left.disk().open(path, OpenMode::Read);
            let file = file.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            assert_eq!(file.len().unwrap(), 8192, "seed {seed}");
        }
    }

    #[test]
    fn a_file_too_large_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        assert!(create_sized(&OsDisk, &path, u64::MAX / 2, 0).is_err());
        assert!(!path.exists());
    }
}
