//! Which crate may depend on which.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::Tree;

/// From the bottom up.
const LAYERS: [&str; 5] = ["store-disk-tools", "store-mmap", "store-logic", "store-core", "broker-proc"];
/// Depends on no crate of the workspace.
const OUTSIDE: &str = "xtask";

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// There for crates of the workspace only.
    path: Option<String>,
}

/// Dependencies of every kind (ordinary, build, test) count.
pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(&tree.root)
        .output()
        .context("cannot run cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
    let metadata: Metadata = serde_json::from_slice(&output.stdout).context("cannot read cargo metadata")?;
    Ok(metadata.packages.iter().filter_map(finding).collect())
}

fn finding(package: &Package) -> Option<String> {
    let inside = package.dependencies.iter().filter(|dependency| dependency.path.is_some());
    let mut found: Vec<&str> = inside.map(|dependency| dependency.name.as_str()).collect();
    found.sort_unstable();
    found.dedup();
    let expected: Vec<&str> = match LAYERS.iter().position(|layer| *layer == package.name) {
        Some(0) => Vec::new(),
        Some(index) => vec![LAYERS[index - 1]],
        None if package.name == OUTSIDE => Vec::new(),
        None => return Some(format!("{}: not one of the known crates", package.name)),
    };
    (found != expected)
        .then(|| format!("{}: expected to depend on {expected:?}, found {found:?}", package.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, paths: &[&str]) -> Package {
        let dependency =
            |name: &&str| Dependency { name: (*name).to_owned(), path: Some("there".to_owned()) };
        let mut dependencies: Vec<Dependency> = paths.iter().map(dependency).collect();
        dependencies.push(Dependency { name: "serde".to_owned(), path: None });
        Package { name: name.to_owned(), dependencies }
    }

    #[test]
    fn only_the_layer_below() {
        assert_eq!(finding(&package("store-mmap", &["store-disk-tools"])), None);
        assert_eq!(finding(&package("store-disk-tools", &[])), None);
        assert_eq!(finding(&package("xtask", &[])), None);
        assert!(finding(&package("store-logic", &["store-mmap", "store-disk-tools"])).is_some());
        assert!(finding(&package("store-core", &[])).is_some());
        assert!(finding(&package("xtask", &["store-core"])).is_some());
        assert!(finding(&package("new-crate", &[])).is_some());
    }
}
