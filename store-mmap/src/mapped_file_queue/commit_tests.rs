use super::*;
use crate::error::MapError;
use crate::file_supplier::OnDemand;
use std::path::Path;
use store_disk_tools::sim::SimWorld;

const SIZE: u64 = 4096;

fn queue(world: &SimWorld, pool: &Arc<TransientStorePool>) -> MappedFileQueue {
    let options = QueueOptions { file_size: SIZE, ..QueueOptions::default() };
    let queue = MappedFileQueue::load(&world.env(), Path::new("/log"), options, Arc::new(OnDemand)).unwrap();
    queue.with_store_pool(Arc::clone(pool))
}

fn append(queue: &MappedFileQueue, bytes: &[u8]) -> Result<(), MapError> {
    queue.last_for_append(0)?.append(bytes).map(drop)
}

#[test]
fn what_can_be_read_is_one_stretch() {
    let world = SimWorld::new(1, 0);
    let pool = TransientStorePool::new(SIZE, 3, false);
    let queue = queue(&world, &pool);
    append(&queue, &[1; 4000]).unwrap();
    queue.commit(0).unwrap();
    append(&queue, &[2; 96]).unwrap();
    append(&queue, &[3; 10]).unwrap();
    assert_eq!((queue.wrote_offset(), queue.max_offset()), (SIZE + 10, 4000), "the end of the first file");
    assert_eq!((queue.uncommitted_bytes(), queue.dirty_bytes()), (106, SIZE + 10));
    assert_eq!(queue.flush(0).unwrap(), 4000);
    assert_eq!(queue.commit(0).unwrap(), SIZE + 10, "both files");
    assert_eq!(queue.flush(0).unwrap(), SIZE + 10);
    assert_eq!((queue.uncommitted_bytes(), queue.dirty_bytes()), (0, 0));
    assert_eq!(&*queue.slice(SIZE, 10).unwrap(), [3; 10]);
}

#[test]
fn field_F70_one_buffer_serves_any_number_of_files() {
    let world = SimWorld::new(1, 0);
    let pool = TransientStorePool::new(SIZE, 1, false);
    let queue = queue(&world, &pool);
    for number in 0..10 {
        append(&queue, &[number; SIZE as usize]).unwrap();
        assert!(queue.last().unwrap().is_staged());
    }
    assert_eq!(queue.max_offset(), 9 * SIZE, "the roll commits when no buffer is left");
    queue.commit(0).unwrap();
    for number in 0..10 {
        let file = queue.slice(u64::from(number) * SIZE, SIZE).unwrap();
        assert!(file.iter().all(|byte| *byte == number));
    }
    assert_eq!(pool.available(), 1);
}

#[test]
fn field_F70_failing_fast_refuses_until_a_buffer_is_back() {
    let world = SimWorld::new(1, 0);
    let pool = TransientStorePool::new(SIZE, 1, true);
    let queue = queue(&world, &pool);
    append(&queue, &[1; SIZE as usize]).unwrap();
    for _ in 0..3 {
        let refused = append(&queue, b"x").unwrap_err();
        assert!(matches!(refused, MapError::NoBuffer { .. }), "{refused}");
    }
    assert_eq!(queue.file_count(), 1);
    queue.commit(0).unwrap();
    append(&queue, b"x").unwrap();
    assert!(queue.last().unwrap().is_staged());
}

#[test]
fn field_F70_without_memory_for_buffers_files_are_written_through_the_map() {
    let world = SimWorld::new(1, 0);
    for fails_fast in [false, true] {
        // No machine gives that much.
        let pool = TransientStorePool::new(u64::MAX, 5, fails_fast);
        let queue = queue(&world, &pool);
        append(&queue, &[1; SIZE as usize]).unwrap();
        append(&queue, b"x").unwrap();
        assert_eq!((queue.max_offset(), queue.uncommitted_bytes()), (SIZE + 1, 0));
        queue.destroy().unwrap();
    }
}

#[test]
fn files_that_are_there_are_written_through_the_map() {
    let world = SimWorld::new(1, 0);
    let pool = TransientStorePool::new(SIZE, 2, false);
    let before = queue(&world, &pool);
    append(&before, &[1; 100]).unwrap();
    before.commit(0).unwrap();
    drop(before);
    assert_eq!(pool.available(), 2, "a queue that goes gives its buffers back");
    let queue = queue(&world, &pool);
    queue.truncate(100).unwrap();
    append(&queue, &[2; 100]).unwrap();
    assert_eq!((queue.max_offset(), queue.uncommitted_bytes()), (200, 0));
    append(&queue, &[2; SIZE as usize - 200]).unwrap();
    append(&queue, &[3; 5]).unwrap();
    assert_eq!((queue.max_offset(), queue.uncommitted_bytes()), (SIZE, 5), "the next file has a buffer");
}
