//! A queue of files: readers against rolling and deletion.

use super::{NOW, explore, join, spawn};
use crate::sync::Arc;
use crate::{MappedFileQueue, OnDemand, QueueOptions, ReservePolicy};
use std::path::Path;
use store_disk_tools::sim::SimWorld;

/// Three full files of 4 bytes, each filled with its number.
fn queue() -> (SimWorld, Arc<MappedFileQueue>) {
    let world = SimWorld::new(1, NOW);
    let options = QueueOptions { file_size: 4, reserve: ReservePolicy::Whole, ..QueueOptions::default() };
    let queue = MappedFileQueue::load(&world.env(), Path::new("/q"), options, Arc::new(OnDemand)).unwrap();
    for number in 0..3 {
        append(&queue, number);
    }
    (world, Arc::new(queue))
}

fn append(queue: &MappedFileQueue, number: u8) {
    queue.last_for_append(0).unwrap().append(&[number; 4]).unwrap();
}

/// F39: an offset whose file stays is found in that file, whatever happens at both ends. Broken by: a first offset and a
/// list that are read under different locks.
#[test]
fn a_live_offset_is_always_found() {
    explore("a_live_offset_is_always_found", Some(3), || {
        let (_world, queue) = queue();
        let cleaner = {
            let queue = Arc::clone(&queue);
            spawn(move || {
                assert!(queue.expire_first(|_| true).unwrap());
                append(&queue, 3);
            })
        };
        let file = queue.find(8).expect("a file that stays is found");
        assert_eq!(file.file_from_offset(), 8);
        assert_eq!(*queue.slice(4, 4).unwrap(), [1; 4]);
        assert!(queue.min_offset().is_some_and(|min| min <= 4));
        join(cleaner);
        assert_eq!((queue.min_offset(), queue.max_offset()), (Some(4), 16));
    });
}

/// F42: a view of a file outlives its deletion, and of two cleaners that mean the same file only one deletes it. Broken by:
/// a deletion that does not look again whether its file is still the first.
#[test]
fn deletion_takes_no_bytes_from_a_reader() {
    explore("deletion_takes_no_bytes_from_a_reader", Some(2), || {
        let (_world, queue) = queue();
        let clean = |queue: &MappedFileQueue| {
            queue.expire_first(|file| file.file_from_offset() == 0).unwrap();
        };
        let cleaner = {
            let queue = Arc::clone(&queue);
            spawn(move || clean(&queue))
        };
        let reader = {
            let queue = Arc::clone(&queue);
            spawn(move || {
                if let Some(view) = queue.slice(0, 4) {
                    assert_eq!(*view, [0; 4]);
                }
            })
        };
        clean(&queue);
        join(cleaner);
        join(reader);
        assert_eq!((queue.min_offset(), queue.file_count()), (Some(4), 2));
    });
}

/// A flush covers everything published before it, also while files are added and deleted. Broken by: a first file and a
/// file to flush that are read under different locks.
#[test]
fn the_durable_end_follows() {
    explore("the_durable_end_follows", Some(2), || {
        let (_world, queue) = queue();
        let flusher = {
            let queue = Arc::clone(&queue);
            spawn(move || {
                let durable = queue.flush(0).unwrap();
                assert!((12..=16).contains(&durable), "{durable}");
            })
        };
        queue.expire_first(|_| true).unwrap();
        append(&queue, 3);
        join(flusher);
        assert_eq!(queue.flush(0).unwrap(), 16);
        assert_eq!(queue.dirty_bytes(), 0);
    });
}
