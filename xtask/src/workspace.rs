//! Where the workspace and its build output are.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// The directories of the workspace, as cargo names them.
#[derive(Deserialize)]
pub struct Workspace {
    /// The directory of the root manifest.
    #[serde(rename = "workspace_root")]
    pub root: PathBuf,
    /// The build output directory.
    #[serde(rename = "target_directory")]
    pub target: PathBuf,
}

impl Workspace {
    /// Asks `cargo metadata`.
    ///
    /// # Errors
    /// When cargo cannot be run or does not understand the workspace.
    pub fn locate() -> Result<Self> {
        let output = cargo()
            .args(["metadata", "--format-version", "1", "--no-deps", "--manifest-path"])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
            .output()
            .context("cannot run cargo metadata")?;
        ensure!(
            output.status.success(),
            "cargo metadata: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
        serde_json::from_slice(&output.stdout).context("cannot read the answer of cargo metadata")
    }

    /// A path as the user would type it from the root of the workspace.
    pub fn relative<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }
}

/// The cargo that runs this program, or the one on the path.
pub fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}
