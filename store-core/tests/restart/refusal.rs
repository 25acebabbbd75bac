//! What a store does not open, and that it says why and leaves everything as it was.

use crate::copies::files;
use crate::fill;
use crate::test_store::{TestStore, small_config};
use std::path::Path;
use store_core::StoreError;
use store_core::config::MessageStoreConfig;

fn filled() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    fill(&mut store, 0, 40);
    store.stop();
    dir
}

fn refusal(config: MessageStoreConfig) -> (StoreError, String) {
    let error = TestStore::open(config).err().expect("refused");
    let words = error.to_string();
    (error, words)
}

fn opens_again(root: &Path) {
    let store = TestStore::small(root);
    assert!(store.store.recovery_report().clean, "the refusal is no crash");
    assert_eq!(store.read_all("A", 0).len(), 40);
}

#[test]
fn sizes_that_changed() {
    let dir = filled();
    type Change = fn(&mut MessageStoreConfig);
    let changes: [(&str, Change); 4] = [
        ("mappedFileSizeCommitLog", |config| config.commit_log.mapped_file_size_commit_log = 8192),
        ("mappedFileSizeConsumeQueue", |config| config.consume_queue.mapped_file_size_consume_queue = 400),
        ("maxHashSlotNum", |config| config.index.max_hash_slot_num = 20),
        ("maxIndexNum", |config| config.index.max_index_num = 22),
    ];
    for (key, change) in changes {
        let mut config = small_config(dir.path());
        change(&mut config);
        let (error, words) = refusal(config);
        assert!(matches!(error, StoreError::Geometry { key: named, .. } if named == key), "{words}");
        assert!(words.contains("made with") && words.contains("configured"), "{words}");
    }
    opens_again(dir.path());
}

/// A store of Apache's does not say its sizes; the first wrong guess must not be taken for the truth.
#[test]
fn field_F02_sizes_that_were_never_right() {
    let dir = filled();
    std::fs::remove_file(dir.path().join("stratamq.snapshot")).unwrap();
    let mut config = small_config(dir.path());
    config.commit_log.mapped_file_size_commit_log = 8192;
    let (_, words) = refusal(config);
    assert!(
        words.contains("commitlog/00000000000000000000: expected a file of 8192 bytes, found 4096"),
        "{words}"
    );
    assert!(words.contains("mappedFileSizeCommitLog"), "{words}");
    for size in [180, 400] {
        let mut config = small_config(dir.path());
        config.consume_queue.mapped_file_size_consume_queue = size;
        let (_, words) = refusal(config);
        assert!(words.contains(&format!("expected a file of {size} bytes, found 200")), "{words}");
        assert!(words.contains("consumequeue/") && words.contains("mappedFileSizeConsumeQueue"), "{words}");
    }
    opens_again(dir.path());
}

#[test]
fn field_F01_an_empty_last_file_is_a_leftover_and_any_other_is_not() {
    let dir = filled();
    let (log, queue) = (dir.path().join("commitlog"), dir.path().join("consumequeue/A/0"));
    for (directory, next) in [(&log, files(&log).len() * 4096), (&queue, files(&queue).len() * 200)] {
        std::fs::write(directory.join(format!("{next:020}")), b"").unwrap();
    }
    let before = (files(&log).len(), files(&queue).len());
    let mut store = TestStore::small(dir.path());
    assert_eq!(store.read_all("A", 0).len(), 40);
    fill(&mut store, 40, 80);
    assert_eq!(store.read_all("A", 0).len(), 80);
    store.stop();
    assert!(files(&log).len() >= before.0 && files(&queue).len() >= before.1, "made again when needed");

    for (directory, size) in [(&log, 4096), (&queue, 200)] {
        let middle = files(directory).remove(1);
        let content = std::fs::read(&middle).unwrap();
        std::fs::write(&middle, b"").unwrap();
        let (_, words) = refusal(small_config(dir.path()));
        let expected = format!("{}: expected a file of {size} bytes, found 0", middle.display());
        assert!(words.contains(&expected), "{words}");
        std::fs::write(&middle, content).unwrap();
    }
    assert_eq!(TestStore::small(dir.path()).read_all("A", 0).len(), 80);
}

#[test]
fn queues_without_a_log() {
    let dir = filled();
    let moved = tempfile::tempdir().unwrap();
    std::fs::rename(dir.path().join("commitlog"), moved.path().join("commitlog")).unwrap();
    let (error, words) = refusal(small_config(dir.path()));
    assert!(matches!(error, StoreError::LogMissing { queues: 3, .. }), "{words}");
    std::fs::remove_dir(dir.path().join("commitlog")).unwrap();
    std::fs::rename(moved.path().join("commitlog"), dir.path().join("commitlog")).unwrap();
    opens_again(dir.path());
}

#[test]
fn field_F02_files_that_do_not_belong() {
    let dir = filled();
    let log = dir.path().join("commitlog");
    let stray = log.join("notes.txt");
    std::fs::write(&stray, vec![0; 4096]).unwrap();
    assert!(refusal(small_config(dir.path())).1.contains("notes.txt"));
    std::fs::remove_file(stray).unwrap();
    std::fs::create_dir(log.join("a-directory")).unwrap();
    TestStore::small(dir.path()).stop();

    let hidden = dir.path().join("elsewhere");
    std::fs::rename(&files(&log)[1], &hidden).unwrap();
    let (_, words) = refusal(small_config(dir.path()));
    assert!(words.contains("begins at offset 4096"), "{words}");
    std::fs::rename(hidden, log.join("00000000000000004096")).unwrap();
    opens_again(dir.path());
}

#[test]
fn a_checkpoint_that_is_none() {
    let dir = filled();
    let checkpoint = std::fs::read(dir.path().join("checkpoint")).unwrap();
    std::fs::write(dir.path().join("checkpoint"), b"short").unwrap();
    let (_, words) = refusal(small_config(dir.path()));
    assert!(
        words.contains("checkpoint") && words.contains("expected a file of 4096 bytes, found 5"),
        "{words}"
    );
    std::fs::write(dir.path().join("checkpoint"), checkpoint).unwrap();
    opens_again(dir.path());
}
