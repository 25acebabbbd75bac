//! Queues whose units have an extension (`enableConsumeQueueExt`).

use crate::copies::files;
use crate::test_store::{TestStore, small_config};
use store_core::{GetRequest, MessageFilter, MessageStore, tags_code};

/// Messages of one tag, by its hash alone.
struct TagsCode(i64);

impl MessageFilter for TagsCode {
    fn matches_tags_code(&self, tags_code: i64) -> bool {
        tags_code == self.0
    }
}

fn fill(store: &mut TestStore, count: u64) {
    for number in 0..count {
        let tag = ["TagA", "TagB"][number as usize % 2];
        store.put_with("T", &format!("m{number}"), &format!("TAGS\u{1}{tag}\u{2}"));
    }
    store.settle();
}

fn of_tag(store: &TestStore, tag: &str) -> usize {
    let filter = TagsCode(tags_code::tags_code(Some(tag)));
    let mut found = 0;
    let mut offset = 0;
    loop {
        let request = GetRequest { topic: "T", queue_id: 0, offset, max_messages: 32, filter: Some(&filter) };
        let got = store.store.get(&request);
        found += got.messages.len();
        if got.next_begin_offset as i64 == offset {
            return found;
        }
        offset = got.next_begin_offset as i64;
    }
}

#[test]
fn field_F80_tag_codes_behind_addresses_are_found_whatever_becomes_of_the_extension() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = small_config(dir.path());
    config.consume_queue.enable_consume_queue_ext = true;
    config.consume_queue.mapped_file_size_consume_queue_ext = 256;
    let ext = dir.path().join("consumequeue_ext/T/0");
    let mut store = TestStore::open(config.clone()).unwrap();
    fill(&mut store, 30);
    assert!(files(&ext).len() > 2);
    assert_eq!((of_tag(&store, "TagA"), of_tag(&store, "TagB"), of_tag(&store, "TagC")), (15, 15, 0));
    store.stop();

    std::fs::remove_file(files(&ext).last().unwrap()).unwrap();
    let mut store = TestStore::open(config.clone()).unwrap();
    assert_eq!((of_tag(&store, "TagA"), of_tag(&store, "TagC")), (15, 0), "the records have the tags, too");
    fill(&mut store, 10);
    assert_eq!((of_tag(&store, "TagA"), of_tag(&store, "TagC")), (20, 0));
    // Neither another file size nor switching it off makes the old units unreadable.
    store.stop();
    config.consume_queue.enable_consume_queue_ext = false;
    config.consume_queue.mapped_file_size_consume_queue_ext = 512;
    let mut store = TestStore::open(config).unwrap();
    fill(&mut store, 10);
    assert_eq!((of_tag(&store, "TagA"), of_tag(&store, "TagC")), (25, 0));

    store.store.delete_topics(&["T"]).unwrap();
    assert!(!dir.path().join("consumequeue_ext/T").exists(), "a deleted topic leaves no extension");
}
