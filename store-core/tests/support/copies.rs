//! What a kill leaves behind, without killing anything.
#![allow(dead_code, reason = "every test program uses its own part")]

use std::path::{Path, PathBuf};

/// Copies a store as it lies there, running or not.
pub fn copy_store(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory");
    for from in files(from) {
        let to = to.join(from.file_name().expect("a name"));
        if from.is_dir() {
            copy_store(&from, &to);
        } else if let Err(error) = std::fs::copy(&from, &to) {
            // A running store deletes and renames files meanwhile.
            assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{}", from.display());
        }
    }
}

/// What lies in a directory, by name.
pub fn files(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}
