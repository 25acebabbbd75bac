//! The program `stratamq` that is exercised.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::workspace::{Workspace, cargo};

/// The program at `given`, or the one this workspace builds.
///
/// # Errors
/// When there is none at that path, or the build fails.
pub fn locate(given: Option<&Path>, workspace: &Workspace) -> Result<PathBuf> {
    if let Some(path) = given {
        return path.canonicalize().with_context(|| format!("--binary {}", path.display()));
    }
    let status = cargo()
        .args(["build", "--quiet", "--release", "--bin", "stratamq"])
        .current_dir(&workspace.root)
        .status()
        .context("cannot run cargo build")?;
    if !status.success() {
        bail!("cargo build --release --bin stratamq failed: {status}");
    }
    Ok(workspace.target.join("release").join("stratamq"))
}
