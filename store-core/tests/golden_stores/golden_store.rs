//! A store of the archive, unpacked into a directory of its own.

use crate::expected::Expected;
use crate::roomy_disk;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use store_core::config::{DamagedCommitLogPolicy, FlushDiskType, MessageStoreConfig};
use store_core::{DefaultMessageStore, Env, StoreError, sparse_archive};
use tempfile::TempDir;

const ARCHIVE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/stores.pack");

/// One store and what is expected of it.
pub struct GoldenStore {
    pub name: String,
    pub expected: Expected,
    /// What a start does about damage.
    pub policy: DamagedCommitLogPolicy,
    directory: TempDir,
}

/// Unpacks everything whose path begins with `prefix`.
pub fn unpack(prefix: &str) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let env = Env::os();
    let summary = sparse_archive::unpack(env.disk(), Path::new(ARCHIVE), prefix, directory.path());
    assert!(summary.expect("the archive is whole").files > 0, "nothing below {prefix}");
    directory
}

impl GoldenStore {
    pub fn unpack(name: &str) -> Self {
        let directory = unpack(&format!("{name}/"));
        let text = fs::read_to_string(directory.path().join("expected.json")).expect("expected.json");
        let expected = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let policy = DamagedCommitLogPolicy::default();
        Self { name: name.to_owned(), expected, policy, directory }
    }

    pub fn root(&self) -> &Path {
        self.directory.path()
    }

    pub fn number(&self, key: &str) -> u64 {
        self.expected.config[key].parse().expect("a number")
    }

    /// The broker's settings, as far as a store has them.
    pub fn config(&self) -> MessageStoreConfig {
        let mut config = config(self.root(), &self.expected.config);
        config.commit_log.damaged_commit_log_policy = self.policy;
        config
    }

    pub fn open(&self) -> Result<DefaultMessageStore, StoreError> {
        DefaultMessageStore::open(&roomy_disk::env(), self.config())
    }

    /// Content of every file below some directories of the store.
    pub fn contents(&self, directories: &[&str]) -> BTreeMap<String, Vec<u8>> {
        let mut contents = BTreeMap::new();
        for directory in directories {
            collect(self.root(), &self.root().join(directory), &mut contents);
        }
        contents
    }
}

/// Names as in `broker.conf`.
pub fn config(root: &Path, settings: &BTreeMap<String, String>) -> MessageStoreConfig {
    let mut config = MessageStoreConfig::new(root);
    for (key, value) in settings {
        let number = || value.parse::<u64>().unwrap_or_else(|_| panic!("{key}={value}: a number"));
        match key.as_str() {
            "mappedFileSizeCommitLog" => config.commit_log.mapped_file_size_commit_log = number(),
            "mappedFileSizeConsumeQueue" => config.consume_queue.mapped_file_size_consume_queue = number(),
            "mapperFileSizeBatchConsumeQueue" => {
                config.consume_queue.mapper_file_size_batch_consume_queue = number();
            }
            "enableConsumeQueueExt" => config.consume_queue.enable_consume_queue_ext = value == "true",
            "mappedFileSizeConsumeQueueExt" => {
                config.consume_queue.mapped_file_size_consume_queue_ext = number();
            }
            "maxHashSlotNum" => config.index.max_hash_slot_num = number() as u32,
            "maxIndexNum" => config.index.max_index_num = number() as u32,
            "enableLmq" => config.multi_dispatch.enable_lmq = value == "true",
            "enableMultiDispatch" => config.multi_dispatch.enable_multi_dispatch = value == "true",
            "enabledAppendPropCRC" => config.commit_log.enabled_append_prop_crc = value == "true",
            "forceVerifyPropCRC" => config.commit_log.force_verify_prop_crc = value == "true",
            "messageDelayLevel" => config.delay_levels = value.parse().expect("delay levels"),
            "flushDiskType" if value == "SYNC_FLUSH" => {
                config.flush.flush_disk_type = FlushDiskType::SyncFlush;
            }
            _ => {}
        }
    }
    config
}

fn collect(root: &Path, directory: &Path, contents: &mut BTreeMap<String, Vec<u8>>) {
    for path in sorted(directory) {
        if path.is_dir() {
            collect(root, &path, contents);
        } else {
            let name = path.strip_prefix(root).expect("below the root").display().to_string();
            contents.insert(name, fs::read(&path).expect("a file"));
        }
    }
}

/// Entries of a directory by name; none when it is missing.
pub fn sorted(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}
