use super::world::World;
use super::{message, small_config};
use crate::{DefaultMessageStore, MessageStore, QueueOffsets};

/// Opens a store of so many queues that was stopped in order; returns how many directories were synced for it.
fn directory_syncs_of_a_start(queues: usize) -> u64 {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new();
    let open = || DefaultMessageStore::open(&world.env(), small_config(directory.path())).unwrap();
    let topics: Vec<String> = (0..queues).map(|number| format!("T{number}")).collect();
    let store = open();
    for topic in &topics {
        assert!(store.put(&message(topic, b"x", "")).wait().is_stored());
    }
    store.shutdown().unwrap();
    let before = world.disk.directory_syncs();
    let store = open();
    let syncs = world.disk.directory_syncs() - before;
    assert!(topics.iter().all(|topic| store.offsets(topic, 0) == QueueOffsets { min: 0, max: 1 }));
    store.shutdown().unwrap();
    syncs
}

/// A sync takes milliseconds: one for each queue would make the start of a store with many of them take minutes.
#[test]
fn field_F103_many_queues_need_no_more_syncs_than_few() {
    assert_eq!(directory_syncs_of_a_start(60), directory_syncs_of_a_start(2));
}
