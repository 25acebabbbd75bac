//! The directory tree of a store root, once; the same as Apache's (`StorePathConfigHelper`).

use crate::config::MessageStoreConfig;
use std::path::{Path, PathBuf};
use store_logic::QueueDirectories;

/// Where the parts of a store are.
#[derive(Debug, Clone)]
pub struct StorePaths {
    root: PathBuf,
    commit_log: QueueDirectories,
}

impl StorePaths {
    /// The paths a configuration means.
    pub fn new(config: &MessageStoreConfig) -> Self {
        let root = config.store_path_root_dir.clone();
        let mut writable = config.store_path_commit_log.clone();
        if writable.is_empty() {
            writable.push(root.join("commitlog"));
        }
        let commit_log = QueueDirectories::several(writable, config.read_only_commit_log_store_paths.clone());
        Self { root, commit_log }
    }

    /// Store root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Directory of the log files; of several the first that takes new ones.
    pub fn commit_log(&self) -> &Path {
        self.commit_log.main()
    }

    /// All directories of log files.
    pub fn commit_logs(&self) -> &QueueDirectories {
        &self.commit_log
    }

    /// Queue files: topic, then queue id.
    pub fn consume_queue(&self) -> PathBuf {
        self.root.join("consumequeue")
    }

    /// Extensions of queue units: topic, then queue id.
    pub fn consume_queue_ext(&self) -> PathBuf {
        self.root.join("consumequeue_ext")
    }

    /// Files of batch queues: topic, then queue id.
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

    /// Queues and index while they are built anew; StrataMQ's own, Apache ignores the directory.
    pub fn rebuild_work(&self) -> PathBuf {
        self.root.join("stratamq.rebuild")
    }

    /// Queues and index that were replaced, by the time of that; StrataMQ's own, Apache ignores the directory.
    pub fn replaced(&self) -> PathBuf {
        self.root.join("stratamq.replaced")
    }

    /// StrataMQ's own notes; Apache ignores the file.
    pub fn snapshot(&self) -> PathBuf {
        self.root.join("stratamq.snapshot")
    }

    /// How far the log was durable; StrataMQ's own, Apache ignores the file.
    pub fn flushed_mark(&self) -> PathBuf {
        self.root.join("stratamq.flushed")
    }

    /// Queue offsets that must not be given again; StrataMQ's own, Apache ignores the file.
    pub fn lost_places(&self) -> PathBuf {
        self.root.join("stratamq.lost")
    }

    /// Copies of what was cut from the log; StrataMQ's own, Apache ignores the directory.
    pub fn set_aside(&self) -> PathBuf {
        self.root.join("stratamq.cut")
    }
}
