//! A copy of the sources to be spoilt.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;

/// Copied sources and their build directory. Files that did not change keep their times, so that little is built anew.
pub(super) struct Copy {
    pub(super) source: PathBuf,
    pub(super) target: PathBuf,
}

impl Copy {
    /// Brings the copy below the workspace's build directory up to date: what git tracks or would track.
    pub(super) fn make(workspace: &Workspace) -> Result<Self> {
        let directory = workspace.target.join("mutants");
        let copy = Self { source: directory.join("source"), target: directory.join("target") };
        fs::create_dir_all(&copy.target).context("cannot make the copy's build directory")?;
        let output = Command::new("git")
            .args(["ls-files", "--cached", "--others", "--exclude-standard"])
            .current_dir(&workspace.root)
            .output()
            .context("cannot run git")?;
        ensure!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim());
        for file in String::from_utf8(output.stdout).context("a file name is not UTF-8")?.lines() {
            copy.update(workspace, file).with_context(|| format!("cannot copy {file}"))?;
        }
        Ok(copy)
    }

    fn update(&self, workspace: &Workspace, file: &str) -> Result<()> {
        let (from, to) = (workspace.root.join(file), self.source.join(file));
        if !from.is_file() {
            // Deleted, but still listed.
            return if to.is_file() { Ok(fs::remove_file(to)?) } else { Ok(()) };
        }
        let bytes = fs::read(from)?;
        if fs::read(&to).is_ok_and(|present| present == bytes) {
            return Ok(());
        }
        if let Some(directory) = to.parent() {
            fs::create_dir_all(directory)?;
        }
        Ok(fs::write(to, bytes)?)
    }
}
