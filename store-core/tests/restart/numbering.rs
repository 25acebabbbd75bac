//! Queue offsets go on where the log says, and the checkpoint does not speak of what was cut.

use crate::copies::copy_store;
use crate::messages::message;
use crate::test_store::{TestStore, offset_and_body, small_config};
use crate::{check_filled, fill, open_truncating, zero_log_from};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use store_core::{DefaultMessageStore, Env, MessageStore};
use store_logic::OnDemand;
use store_logic::commit_log::{CommitLog, RecordBatch};
use store_logic::store_checkpoint::{CheckpointFields, StoreCheckpoint};

/// A log whose records of queue T:0 say these offsets, and nothing else of a store.
fn log_of(root: &Path, offsets: impl IntoIterator<Item = u64>) {
    let log =
        CommitLog::open(&Env::os(), root.join("commitlog").as_path(), 4096, Arc::new(OnDemand)).unwrap();
    log.truncate(log.min_offset()).unwrap();
    let mut batch = RecordBatch::new();
    for queue_offset in offsets {
        batch.clear();
        batch.push(&message("T", 0, queue_offset.to_string().as_bytes()), 100).unwrap();
        let (mut tail, now) = log.lock_tail(|| 1_700_000_000_000);
        tail.append(&mut batch, queue_offset, now).unwrap();
    }
    log.flush(0).unwrap();
}

#[test]
fn field_F33_numbering_goes_on_behind_a_jump() {
    for (clean, had_queue) in [(true, true), (false, true), (false, false)] {
        let dir = tempfile::tempdir().unwrap();
        // Records 5 to 9 come twice; 13 to 19 never.
        log_of(dir.path(), (0..10).chain(5..13).chain([20, 21]));
        if had_queue {
            let store = TestStore::small(dir.path());
            assert_eq!(store.store.recovery_report().units_rebuilt, 15);
            store.stop();
        }
        if !clean {
            fs::write(dir.path().join("abort"), "").unwrap();
        }
        let mut store = TestStore::small(dir.path());
        let offsets = store.store.offsets("T", 0);
        assert_eq!((offsets.min, offsets.max), (0, 22));
        let read: Vec<u64> = store.read_all("T", 0).into_iter().map(|(offset, _)| offset).collect();
        assert_eq!(read, (0..13).chain([20, 21]).collect::<Vec<_>>(), "each once, in its place");
        assert_eq!(store.put("T", 0, "22").logics_offset, 22);
        store.settle();
        assert_eq!(
            store.get("T", 0, 13, 32).next_begin_offset,
            20,
            "who reads passes over the hole, file by file"
        );
        let got = store.get("T", 0, 20, 32);
        let bodies: Vec<_> = got.messages.iter().map(|record| offset_and_body(record).1).collect();
        assert_eq!(bodies, ["20", "21", "22"]);
    }
}

fn checkpoint(root: &Path) -> CheckpointFields {
    StoreCheckpoint::open(&Env::os(), &root.join("checkpoint")).unwrap().fields().unwrap()
}

#[test]
fn a_cut_log_takes_the_checkpoint_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    fill(&mut store, 0, 10);
    let last = store.put("A", 0, "last");
    store.settle();
    store.stop();
    let before = checkpoint(dir.path());
    assert_eq!(before.logics_physical_offset as u64, last.wrote_offset);
    assert_eq!(
        (before.logics_msg_timestamp, before.physic_msg_timestamp),
        (last.store_timestamp, last.store_timestamp)
    );

    let cut = tempfile::tempdir().unwrap();
    copy_store(dir.path(), cut.path());
    zero_log_from(cut.path(), last.wrote_offset);
    let mut store = open_truncating(cut.path());
    let fields = checkpoint(cut.path());
    assert!((fields.logics_physical_offset as u64) < last.wrote_offset, "{fields:?}");
    assert!(fields.logics_physical_offset > 0, "the newest record that is left");
    assert_eq!(fields.confirm_phy_offset as u64, last.wrote_offset, "the end of the log");
    check_filled(&mut store, 10);
}

#[test]
fn the_checkpoint_of_a_replicated_store_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    fill(&mut store, 0, 3);
    store.stop();
    let path = dir.path().join("checkpoint");
    let mut bytes = fs::read(&path).unwrap();
    bytes[24..32].copy_from_slice(&77_i64.to_be_bytes());
    fs::write(&path, bytes).unwrap();
    let store = DefaultMessageStore::open(&crate::roomy_disk::env(), small_config(dir.path())).unwrap();
    store.shutdown().unwrap();
    assert_eq!(checkpoint(dir.path()).master_flushed_offset, 77);
}
