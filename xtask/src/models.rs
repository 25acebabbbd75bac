//! `cargo xtask models`: runs the model checks under loom.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::workspace::{Workspace, cargo};

/// The crates that have models.
const CRATES: [&str; 2] = ["store-mmap", "store-core"];

/// The command line.
#[derive(clap::Args)]
pub struct Options {
    /// Only models of this module, or of this module and name (`marks::a_view_is_never_cut`).
    #[arg(default_value = "")]
    filter: String,
}

/// Runs every model; true when none found a fault. The build has its own directory: `--cfg loom` is for every crate.
pub fn run(options: &Options) -> Result<bool> {
    let workspace = Workspace::locate()?;
    let mut sound = true;
    for name in CRATES {
        println!("models of {name}");
        let mut command = cargo();
        build_for_loom(&mut command, &workspace.target);
        let status = command
            .args(["test", "--quiet", "--lib", "--package", name, "--", "--nocapture", "--test-threads", "1"])
            .arg(format!("models::{}", options.filter))
            .current_dir(&workspace.root)
            .stdin(Stdio::null())
            .status()
            .with_context(|| format!("cannot run cargo for {name}"))?;
        sound &= status.success();
    }
    Ok(sound)
}

/// Lets cargo build what loom runs, in a directory of its own below `target`.
pub fn build_for_loom(command: &mut Command, target: &Path) {
    command
        .env("RUSTFLAGS", "--cfg loom")
        .env("CARGO_TARGET_DIR", target.join("loom"))
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "2")
        .env("CARGO_PROFILE_TEST_OPT_LEVEL", "2");
}
