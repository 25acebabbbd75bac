use super::*;
use crate::transient_store_pool::TransientStorePool;
use store_disk_tools::sim::{Fault, SimWorld};

const SIZE: u64 = 4 * 4096;

fn staged(world: &SimWorld, pool: &Arc<TransientStorePool>, name: &str) -> MappedFile {
    let file = MappedFile::create(&world.env(), Path::new(name), 0, SIZE, ReservePolicy::Whole).unwrap();
    assert!(file.stage_in(pool.borrow_buffer().unwrap()));
    file
}

fn marks(file: &MappedFile) -> (u64, u64, u64) {
    (file.wrote_position(), file.committed_position(), file.flushed_position())
}

#[test]
fn field_F69_appended_committed_and_durable_are_three_things() {
    let world = SimWorld::new(1, 0);
    let pool = TransientStorePool::new(SIZE, 1, false);
    let file = staged(&world, &pool, "/a");
    assert_eq!(file.append(b"abc").unwrap(), 0);
    assert_eq!(file.append(b"de").unwrap(), 3);
    assert_eq!(marks(&file), (5, 0, 0));
    assert!(file.slice(0, 1).is_none() && file.slice_rest(0).is_none(), "in the buffer alone");
    assert_eq!(file.flush(0).unwrap(), 0, "there is nothing in the file to flush");
    assert_eq!(file.commit(1).unwrap(), 0, "less than a page");
    assert_eq!(file.commit(0).unwrap(), 5);
    assert_eq!(&*file.slice_rest(0).unwrap(), b"abcde");
    assert_eq!(marks(&file), (5, 5, 0));
    file.append(b"f").unwrap();
    assert_eq!(file.flush(0).unwrap(), 5, "and no further");
    assert_eq!(marks(&file), (6, 5, 5));
    let killed = world.restart_after_kill();
    let mut bytes = [0; 6];
    let left = killed.env().disk().open(Path::new("/a"), OpenMode::Read).unwrap();
    left.read_exact_at(&mut bytes, 0).unwrap();
    assert_eq!(&bytes, b"abcde\0", "a kill loses what was not committed");
}

#[test]
fn commit_counts_pages_as_flush_does() {
    let world = SimWorld::new(1, 0);
    let pool = TransientStorePool::new(SIZE, 1, false);
    let file = staged(&world, &pool, "/a");
    file.append(&[1; 2 * 4096 - 1]).unwrap();
    assert_eq!(file.commit(2).unwrap(), 0);
    file.append(&[1; 1]).unwrap();
    assert_eq!(file.commit(2).unwrap(), 2 * 4096);
    file.append(&[1; 2 * 4096]).unwrap();
    assert_eq!(file.commit(1000).unwrap(), SIZE, "a full file is committed whatever the count");
}

#[test]
fn a_buffer_goes_back_once_its_file_is_full_and_committed_and_brings_no_old_bytes() {
    let world = SimWorld::new(1, 0);
    let pool = TransientStorePool::new(SIZE, 1, false);
    let first = staged(&world, &pool, "/a");
    first.append(&[7; SIZE as usize]).unwrap();
    assert!(first.is_full() && first.is_staged());
    assert_eq!(pool.available(), 0);
    first.commit(0).unwrap();
    assert!(first.is_full() && !first.is_staged());
    assert_eq!(pool.available(), 1);
    assert!(matches!(first.append(b"x"), Err(MapError::NoRoom { .. })));

    let second = staged(&world, &pool, "/b");
    second
        .append_with(SIZE, |target| {
            assert!(target.iter().all(|byte| *byte == 0), "what the first file held");
            target[..2].copy_from_slice(b"ab");
        })
        .unwrap();
    second.commit(0).unwrap();
    assert!(second.slice(2, SIZE - 2).unwrap().iter().all(|byte| *byte == 0));
    assert!(first.slice(0, SIZE).unwrap().iter().all(|byte| *byte == 7));
}

#[test]
fn a_failed_commit_loses_nothing_and_is_tried_again() {
    let world = SimWorld::new(1, 0);
    let pool = TransientStorePool::new(SIZE, 1, false);
    let file = staged(&world, &pool, "/a");
    file.append(b"abc").unwrap();
    world.plan_fault(world.operations() + 1, Fault::NoSpace);
    let error = file.commit(0).unwrap_err();
    assert!(error.is_no_space() && error.to_string().contains("bytes 0..3 of /a"), "{error}");
    assert_eq!(marks(&file), (3, 0, 0));
    file.append(b"d").unwrap();
    file.commit(0).unwrap();
    assert_eq!(&*file.slice(0, 4).unwrap(), b"abcd");
}

#[test]
fn a_cut_forgets_what_was_not_committed() {
    let world = SimWorld::new(1, 0);
    let pool = TransientStorePool::new(SIZE, 1, false);
    let file = staged(&world, &pool, "/a");
    file.append(b"abc").unwrap();
    file.commit(0).unwrap();
    file.append(b"never").unwrap();
    file.truncate(2).unwrap();
    assert_eq!(marks(&file), (2, 2, 0));
    assert_eq!(pool.available(), 1);
    file.append(b"C").unwrap();
    assert_eq!(&*file.slice(0, 3).unwrap(), b"abC");
}

#[test]
fn only_an_empty_file_gets_a_buffer_and_only_one_of_its_size() {
    let world = SimWorld::new(1, 0);
    let pool = TransientStorePool::new(SIZE, 3, false);
    let file = staged(&world, &pool, "/a");
    assert!(!file.stage_in(pool.borrow_buffer().unwrap()), "it has one");
    let small = TransientStorePool::new(SIZE / 2, 1, false);
    let other = MappedFile::create(&world.env(), Path::new("/b"), 0, SIZE, ReservePolicy::Whole).unwrap();
    assert!(!other.stage_in(small.borrow_buffer().unwrap()));
    other.append(b"x").unwrap();
    assert!(!other.stage_in(pool.borrow_buffer().unwrap()), "bytes would be in front of it");
    assert_eq!((pool.available(), small.available()), (2, 1), "all but the first came back");
}

#[test]
fn appends_and_commits_go_on_at_once() {
    let world = SimWorld::new(1, 0);
    let size = 1 << 20;
    let pool = TransientStorePool::new(size, 1, false);
    let file = MappedFile::create(&world.env(), Path::new("/a"), 0, size, ReservePolicy::Whole).unwrap();
    assert!(file.stage_in(pool.borrow_buffer().unwrap()));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..size / 64 {
                file.append(&[number as u8; 64]).unwrap();
            }
        });
        for _ in 0..2 {
            scope.spawn(|| {
                let mut seen = 0;
                while seen < size {
                    seen = file.commit(0).unwrap();
                    assert_eq!(seen % 64, 0, "whole appends");
                    assert!(file.committed_position() >= seen);
                }
            });
        }
    });
    let read = file.slice(0, size).unwrap();
    assert!(read.chunks(64).enumerate().all(|(number, chunk)| chunk == [number as u8; 64]));
    assert_eq!(pool.available(), 1);
}
