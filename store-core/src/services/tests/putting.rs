use super::HandStore;
use crate::PutMessageStatus;
use crate::service::{Service, Step};
use crate::services::reput_message_service::ReputMessageService;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn field_F96_a_tail_held_for_long_is_said_with_limit_and_value() {
    let store = HandStore::open(|_| {});
    let held = store.log.lock_tail(|| store.world.now());
    store.world.pass(Duration::from_millis(1000));
    assert_eq!(store.log.tail_held_millis(|| store.world.now()), 1000, "not above the limit");
    store.world.pass(Duration::from_millis(200));
    let refused = store.send("T", "").wait();
    assert_eq!((refused.status, refused.appended), (PutMessageStatus::OsPageCacheBusy, None));
    let remark = refused.remark.unwrap();
    assert!(remark.contains("1200 ms") && remark.contains("osPageCacheBusyTimeOutMills=1000"), "{remark}");
    drop(held);
    assert!(store.send("T", "").wait().is_stored(), "and not a moment longer");
}

/// The disk has no space for one more index file, for a long time.
#[test]
fn field_F57_an_index_file_that_cannot_be_made_fills_no_disk_and_holds_up_no_message() {
    let store = HandStore::open(|_| {});
    let mut service = ReputMessageService::new(Arc::clone(&store));
    let index = store.paths.index();
    std::fs::create_dir_all(&index).unwrap();
    std::fs::write(index.join("abc"), b"not of the index").unwrap();
    let index_files = || std::fs::read_dir(&index).unwrap().count();
    store.world.disk.refuse_new_files(&index, Some(ErrorKind::StorageFull));
    for number in 1..=25 {
        store.put("T");
        while service.step() == Step::Again {}
        assert_eq!(store.max_offset("T"), number, "in its queue all the same");
    }
    let entries = || store.index.as_ref().unwrap().entries().unwrap();
    assert_eq!((index_files(), entries(), store.is_index_behind()), (1, 0, true));
    assert!(store.send("T", "").wait().is_stored());

    store.world.disk.refuse_new_files(&index, None);
    assert_eq!(service.step(), Step::Again);
    assert!(store.is_index_behind(), "it is tried again, and not at once");
    store.world.pass(Duration::from_secs(1));
    while service.step() == Step::Again {}
    assert_eq!(
        (entries(), index_files(), store.is_index_behind()),
        (25, 4, false),
        "three files of ten entries, and the stranger"
    );
    store.put("T");
    while service.step() == Step::Again {}
    assert_eq!(entries(), 26, "from now on with the queues");
}

#[test]
fn field_F24_a_panic_while_the_tail_is_held_gives_it_back() {
    let store = HandStore::open(|_| {});
    store.put("T");
    let end = store.log.max_offset();
    let holder = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _held = store.log.lock_tail(|| store.world.now());
        panic!("between the lock and the record");
    }));
    assert!(holder.is_err());
    store.world.pass(Duration::from_secs(10));
    assert_eq!(store.log.tail_held_millis(|| store.world.now()), 0, "nobody counts as holding it");
    let put = store.put("T");
    assert_eq!((put.wrote_offset, put.logics_offset), (end, 1), "no place was lost");
}
