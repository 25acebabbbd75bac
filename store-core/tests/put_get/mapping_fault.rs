//! A log file that is shortened behind the store's back: an error and a read-only store, never a dead process.

use crate::copies::files;
use crate::messages::message;
use crate::test_store::TestStore;
use store_core::{GetMessageStatus, MessageStore, PutMessageStatus};

#[test]
fn field_F65_a_log_file_that_loses_its_pages_makes_the_store_read_only() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    for number in 0..60 {
        store.put("T", 0, &format!("message {number:04}, long enough that the log's files get full soon"));
    }
    store.settle();
    let before = store.get("T", 0, 0, 60).messages.len();
    let end = store.store.log_positions().end;
    let current =
        files(&dir.path().join("commitlog")).into_iter().rfind(|path| offset_of(path) <= end).unwrap();
    std::fs::write(&current, b"").unwrap();

    let refused = store.store.put(&message("T", 0, b"nowhere to go")).wait();
    assert_eq!(refused.status, PutMessageStatus::UnknownError);
    let remark = refused.remark.unwrap();
    assert!(remark.contains(&current.display().to_string()), "{remark}");
    let later = store.store.put(&message("T", 0, b"nor this")).wait();
    assert_eq!(later.status, PutMessageStatus::ServiceNotAvailable);
    assert!(later.remark.unwrap().contains("read-only since"), "the reason stays");

    assert_eq!(store.get("T", 0, 0, 60).messages.len(), before, "what lies in other files is served");
    let last = store.get("T", 0, 59, 1);
    assert_eq!(last.messages.len(), 0);
    assert_eq!(
        (last.status, last.next_begin_offset),
        (GetMessageStatus::OffsetFoundNull, 59),
        "nobody is led past it"
    );
}

fn offset_of(path: &std::path::Path) -> u64 {
    path.file_name().unwrap().to_str().unwrap().parse().unwrap()
}
