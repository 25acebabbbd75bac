//! Damage in the log: what a start refuses, what the key makes of it, and the cases met in the field.

#![allow(non_snake_case, reason = "tests carry the number of their case: field_F03_…")]

#[path = "support/copies.rs"]
mod copies;
#[path = "damage/field_cases.rs"]
mod field_cases;
#[path = "support/messages.rs"]
mod messages;
#[path = "damage/repairing.rs"]
mod repairing;
#[path = "support/roomy_disk.rs"]
mod roomy_disk;
#[path = "support/test_store.rs"]
mod test_store;

use std::path::{Path, PathBuf};
use store_core::config::{DamagedCommitLogPolicy, MessageStoreConfig};
use test_store::small_config;

fn with_policy(root: &Path, policy: DamagedCommitLogPolicy) -> MessageStoreConfig {
    let mut config = small_config(root);
    config.commit_log.damaged_commit_log_policy = policy;
    config
}

fn log_file(root: &Path, phy_offset: u64) -> PathBuf {
    root.join(format!("commitlog/{:020}", phy_offset / 4096 * 4096))
}

/// Flips a bit of the record at `phy_offset`.
fn flip(root: &Path, phy_offset: u64, byte: u64) {
    let path = log_file(root, phy_offset);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[(phy_offset % 4096 + byte) as usize] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

fn contents(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for path in copies::files(root) {
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            found.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
    found
}
