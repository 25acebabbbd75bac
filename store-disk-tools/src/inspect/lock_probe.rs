//! Who holds the lock of a file, without taking it.

use crate::env::{Disk, Mappable, OpenMode};
use crate::error::{DiskError, Result};
use rustix::process::{Flock, FlockType, fcntl_getlk};
use std::io;
use std::path::Path;

/// The process that holds a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockHolder {
    /// Its id; `None` when it lies outside of what this process may see (another container, another machine).
    pub pid: Option<i32>,
}

/// Who holds the record lock that a broker holds on its lock file; `None` when nobody does or there is no file. Asks the
/// system (`F_GETLK`) and takes nothing, so a broker that starts at the same moment is not disturbed.
///
/// Not for a process that holds the lock itself: record locks belong to the process, it is not told of its own, and
/// closing the file here would give it up.
///
/// # Errors
///
/// Whatever the disk reports.
pub fn lock_holder(disk: &dyn Disk, path: &Path) -> Result<Option<LockHolder>> {
    let file = match disk.open(path, OpenMode::Read) {
        Ok(file) => file,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error),
    };
    #[allow(
        clippy::infallible_destructuring_match,
        reason = "without the simulated disk one pattern is left"
    )]
    let os_file = match file.mappable() {
        Mappable::Os(os_file) => os_file,
        // Locks of the simulated disk are not asked about: its world has one process.
        #[cfg(any(test, feature = "sim"))]
        Mappable::Sim(_) => return Ok(None),
    };
    let conflict = fcntl_getlk(os_file, &Flock::from(FlockType::WriteLock))
        .map_err(|error| DiskError::new("ask for the lock of", path, io::Error::from(error)))?;
    Ok(conflict.map(|lock| LockHolder { pid: lock.pid.map(|pid| pid.as_raw_nonzero().get()) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock_file::LockFile;
    use crate::os::OsDisk;
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    /// In a process of its own: holds the lock until its input ends.
    const HOLD: &str = "STRATAMQ_TEST_HOLD_LOCK";

    #[test]
    fn tells_who_holds_it_and_takes_nothing() {
        if let Some(path) = std::env::var_os(HOLD) {
            let _lock = LockFile::acquire(&OsDisk, Path::new(&path)).unwrap();
            eprintln!("held");
            let _ = std::io::stdin().read_line(&mut String::new());
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        assert_eq!(lock_holder(&OsDisk, &path).unwrap(), None, "no file");
        let mut holder = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "inspect::lock_probe::tests::tells_who_holds_it_and_takes_nothing"])
            .arg("--nocapture")
            .env(HOLD, &path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(holder.stderr.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("held")));
        let pid = i32::try_from(holder.id()).unwrap();
        assert_eq!(lock_holder(&OsDisk, &path).unwrap(), Some(LockHolder { pid: Some(pid) }));
        assert_eq!(lock_holder(&OsDisk, &path).unwrap(), Some(LockHolder { pid: Some(pid) }), "still held");
        holder.stdin.take().unwrap().write_all(b"\n").unwrap();
        assert!(holder.wait().unwrap().success());
        assert_eq!(lock_holder(&OsDisk, &path).unwrap(), None, "given up");
        LockFile::acquire(&OsDisk, &path).unwrap();
    }
}
