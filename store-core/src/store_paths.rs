//! The directory tree of a store root, once; the same as Apache's (`StorePathConfigHelper`).

use crate::config::MessageStoreConfig;
use std::path::{Path, PathBuf};

/// Where the parts of a store are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorePaths {
    root: PathBuf,
    commit_log: PathBuf,
}

impl StorePaths {
    /// The paths a configuration means.
    pub fn new(config: &MessageStoreConfig) -> Self {
        let root = config.store_path_root_dir.clone();
        let commit_log = config.store_path_commit_log.clone().unwrap_or_else(|| root.join("commitlog"));
        Self { root, commit_log }
    }

    /// Store root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Log files.
    pub fn commit_log(&self) -> &Path {
        &self.commit_log
    }

    /// Queue files: topic, then queue id.
    pub fn consume_queue(&self) -> PathBuf {
        self.root.join("consumequeue")
    }

    /// Apache's batch queues: topic, then queue id. Only looked at.
    pub fn batch_consume_queue(&self) -> PathBuf {
        self.root.join("batchconsumequeue")
    }

    /// Index files.
    pub fn index(&self) -> PathBuf {
        self.root.join("index")
    }

    /// Checkpoint.
    pub fn checkpoint(&self) -> PathBuf {
        self.root.join("checkpoint")
    }

    /// There while the store runs and after a crash.
    pub fn abort(&self) -> PathBuf {
        self.root.join("abort")
    }

    /// Lock of the root.
    pub fn lock(&self) -> PathBuf {
        self.root.join("lock")
    }

    /// JSON files of the broker.
    pub fn config(&self) -> PathBuf {
        self.root.join("config")
    }

    /// StrataMQ's own notes; Apache ignores the file.
    pub fn snapshot(&self) -> PathBuf {
        self.root.join("stratamq.snapshot")
    }
}
