//! The directory of one run: stores, plans, answers and logs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context, Result};
use rustix::process::{Pid, test_kill_process};

/// `COMMAND/run-PID` below the build output directory.
pub struct RunDirectory {
    path: PathBuf,
}

impl RunDirectory {
    /// Makes the directory of this run and removes those of runs that are over: their stores are large.
    ///
    /// # Errors
    /// When a directory cannot be read, removed or made.
    pub fn create(target: &Path, command: &str) -> Result<Self> {
        let parent = target.join(command);
        fs::create_dir_all(&parent).with_context(|| format!("cannot make {}", parent.display()))?;
        for entry in fs::read_dir(&parent).with_context(|| format!("cannot list {}", parent.display()))? {
            let path = entry?.path();
            if is_over(&path) {
                fs::remove_dir_all(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            }
        }
        let path = parent.join(format!("run-{}", process::id()));
        fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(RunDirectory { path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a directory inside for one scenario.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn scenario(&self, name: &str) -> Result<PathBuf> {
        let path = self.path.join(name);
        fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(path)
    }

    /// Removes such a directory; what cannot be removed goes with the run directory.
    pub fn remove_scenario(&self, name: &str) {
        let _ = fs::remove_dir_all(self.path.join(name));
    }

    /// Removes everything.
    pub fn remove(self) -> io::Result<()> {
        fs::remove_dir_all(&self.path)
    }
}

/// Whether the path is the run directory of a process that no longer lives.
fn is_over(path: &Path) -> bool {
    let number = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix("run-"));
    match number.and_then(|number| number.parse().ok()).and_then(Pid::from_raw) {
        Some(pid) => test_kill_process(pid).is_err(),
        None => false,
    }
}
