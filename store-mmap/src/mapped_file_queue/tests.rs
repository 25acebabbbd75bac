use super::*;
use crate::error::MapError;
use crate::file_supplier::OnDemand;
use std::fs;
use std::path::{Path, PathBuf};
use store_disk_tools::OpenMode;
use store_disk_tools::file_name::offset_name;

const SIZE: u64 = 4096;

fn options() -> QueueOptions {
    QueueOptions { file_size: SIZE, reserve: ReservePolicy::Steps(1024), ..QueueOptions::default() }
}

fn queue(dir: &Path) -> MappedFileQueue {
    MappedFileQueue::load(&Env::os(), dir, options(), Arc::new(OnDemand)).unwrap()
}

fn fill(queue: &MappedFileQueue, start: u64, files: usize) {
    for _ in 0..files {
        queue.last_for_append(start).unwrap().append(&[7; SIZE as usize]).unwrap();
    }
}

#[test]
fn field_F19_begins_where_it_is_told_rolls_and_flushes() {
    let dir = tempfile::tempdir().unwrap();
    let queue = queue(dir.path());
    assert_eq!((queue.min_offset(), queue.max_offset()), (None, 0));
    fill(&queue, 3 * SIZE + 5, 2);
    queue.last_for_append(0).unwrap().append(b"tail").unwrap();
    assert_eq!((queue.min_offset(), queue.max_offset()), (Some(3 * SIZE), 5 * SIZE + 4));
    assert_eq!(&*queue.slice(5 * SIZE, 4).unwrap(), b"tail");
    assert!(queue.slice(5 * SIZE, 5).is_none(), "unpublished");
    assert!(queue.slice(5 * SIZE - 2, 4).is_none(), "crosses a file");
    assert!(queue.slice(0, 1).is_none() && queue.slice(9 * SIZE, 1).is_none());
    // A mark from before the first file, as a replica has it that begins in the middle.
    queue.flushed_where.store(0, Ordering::Release);
    assert_eq!(queue.flush(0).unwrap(), 5 * SIZE + 4);
    assert_eq!(queue.dirty_bytes(), 0);
}

#[test]
fn loads_what_it_wrote_and_truncates() {
    let dir = tempfile::tempdir().unwrap();
    fill(&queue(dir.path()), 0, 3);
    let queue = queue(dir.path());
    assert_eq!(queue.max_offset(), 3 * SIZE);
    queue.truncate(SIZE + 10).unwrap();
    assert_eq!((queue.max_offset(), queue.file_count(), queue.flushed_where()), (SIZE + 10, 2, SIZE + 10));
    assert!(!dir.path().join(offset_name(2 * SIZE)).exists());
    queue.last_for_append(0).unwrap().append(b"after the cut").unwrap();
    assert_eq!(&*queue.slice(SIZE + 10, 5).unwrap(), b"after");
}

#[test]
fn truncating_at_a_boundary_keeps_the_file_that_begins_there() {
    let dir = tempfile::tempdir().unwrap();
    let queue = queue(dir.path());
    fill(&queue, 0, 3);
    queue.truncate(SIZE).unwrap();
    assert_eq!((queue.file_count(), queue.max_offset()), (2, SIZE));
    queue.truncate(0).unwrap();
    assert_eq!((queue.file_count(), queue.max_offset()), (1, 0));
}

#[test]
fn what_is_cut_is_cleared_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    fill(&queue(dir.path()), 0, 2);
    let queue = queue(dir.path());
    queue.truncate(SIZE + 100).unwrap();
    let bytes = fs::read(dir.path().join(offset_name(SIZE))).unwrap();
    assert!(bytes[..100].iter().all(|byte| *byte == 7) && bytes[100..].iter().all(|byte| *byte == 0));
    let file = queue.last_for_append(0).unwrap();
    file.append_with(8, |target| assert_eq!(target, [0; 8], "seen through the mapping as well")).unwrap();
    queue.sync_from(0).unwrap();
}

#[test]
fn cutting_under_a_view_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let queue = queue(dir.path());
    fill(&queue, 0, 1);
    let view = queue.slice(10, 10).unwrap();
    assert!(matches!(queue.truncate(5), Err(MapError::InUse { views: 1, .. })));
    assert_eq!(queue.max_offset(), SIZE);
    drop(view);
    queue.truncate(5).unwrap();
    assert_eq!(queue.max_offset(), 5);
}

#[test]
fn strays_are_named() {
    let dir = tempfile::tempdir().unwrap();
    fill(&queue(dir.path()), 0, 2);
    fs::create_dir(dir.path().join("a-directory")).unwrap();
    assert_eq!(queue(dir.path()).file_count(), 2);
    let load = || MappedFileQueue::load(&Env::os(), dir.path(), options(), Arc::new(OnDemand)).err().unwrap();

    let stray = dir.path().join("readme");
    fs::write(&stray, vec![0; SIZE as usize]).unwrap();
    assert!(matches!(load(), MapError::StrayFile { path } if path == stray));
    fs::write(&stray, b"short").unwrap();
    assert!(matches!(load(), MapError::WrongSize { expected: SIZE, found: 5, .. }));
    fs::remove_file(&stray).unwrap();

    fs::rename(dir.path().join(offset_name(SIZE)), dir.path().join(offset_name(2 * SIZE))).unwrap();
    assert!(matches!(load(), MapError::MissingFile { expected: SIZE, found, .. } if found == 2 * SIZE));
}

#[test]
fn an_empty_last_file_is_a_crash_leftover() {
    let dir = tempfile::tempdir().unwrap();
    fill(&queue(dir.path()), 0, 1);
    fs::write(dir.path().join(offset_name(SIZE)), b"").unwrap();
    assert_eq!(queue(dir.path()).file_count(), 1);
    assert!(!dir.path().join(offset_name(SIZE)).exists());
}

#[test]
fn flush_counts_pages_per_file() {
    let dir = tempfile::tempdir().unwrap();
    let options =
        QueueOptions { file_size: 16 * 4096, reserve: ReservePolicy::Whole, ..QueueOptions::default() };
    let queue = MappedFileQueue::load(&Env::os(), dir.path(), options, Arc::new(OnDemand)).unwrap();
    let file = queue.last_for_append(0).unwrap();
    file.append(&[1; 3 * 4096]).unwrap();
    assert_eq!(queue.flush(4).unwrap(), 0, "three pages are not worth it");
    file.append(&[1; 4096]).unwrap();
    assert_eq!(queue.flush(4).unwrap(), 4 * 4096);
    file.append(&[1; 12 * 4096]).unwrap();
    queue.last_for_append(0).unwrap().append(b"x").unwrap();
    assert_eq!(queue.flush(1000).unwrap(), 16 * 4096, "a full file is flushed whatever the count");
    assert_eq!(queue.flush(0).unwrap(), 16 * 4096 + 1);
}

fn queue_over(writable: &[&Path], read_only: &[&Path]) -> crate::Result<MappedFileQueue> {
    let owned = |paths: &[&Path]| paths.iter().map(|path| path.to_path_buf()).collect::<Vec<PathBuf>>();
    let directories = QueueDirectories::several(owned(writable), owned(read_only));
    MappedFileQueue::load(&Env::os(), directories, options(), Arc::new(OnDemand))
}

fn has(directory: &Path, from: u64) -> bool {
    directory.join(offset_name(from)).exists()
}

#[test]
fn field_F68_files_are_spread_over_the_directories_and_found_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b, old) = (dir.path().join("a"), dir.path().join("b"), dir.path().join("old"));
    fill(&queue(&old), 0, 1);
    let spread = queue_over(&[&b, &a], &[&old]).unwrap();
    fill(&spread, 0, 3);
    assert!(
        has(&b, SIZE) && has(&a, 2 * SIZE) && has(&b, 3 * SIZE),
        "by turns, by name, none where only is read"
    );
    spread.last_for_append(0).unwrap().append(b"tail").unwrap();
    drop(spread);

    let again = queue_over(&[&a, &b], &[&old]).unwrap();
    assert_eq!(again.file_count(), 5);
    assert_eq!(&*again.slice(4 * SIZE, 4).unwrap(), b"tail");
    assert!(again.expire_first(|_| true).unwrap());
    assert!(!has(&old, 0), "expired files go from read-only directories too");
    again.truncate(2 * SIZE).unwrap();
    assert!(has(&b, SIZE) && !has(&b, 3 * SIZE) && !has(&a, 4 * SIZE));
}

#[test]
fn field_F68_a_directory_that_refuses_leaves_the_file_to_the_next_one() {
    let dir = tempfile::tempdir().unwrap();
    let (bad, good) = (dir.path().join("a"), dir.path().join("b"));
    let queue = queue_over(&[&bad, &good], &[]).unwrap();
    fs::write(&bad, b"a file stands where the directory should be").unwrap();
    fill(&queue, 0, 2);
    assert!(has(&good, 0) && has(&good, SIZE));
}

#[test]
fn the_same_file_in_two_directories_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a"), dir.path().join("b"));
    fill(&queue(&a), 0, 1);
    fill(&queue(&b), 0, 1);
    let error = queue_over(&[&a, &b], &[]).err().unwrap();
    assert!(
        matches!(&error, MapError::Duplicate { first, .. } if *first == a.join(offset_name(0))),
        "{error}"
    );
}

#[test]
fn field_F65_a_file_shortened_behind_our_back_ends_no_process() {
    let dir = tempfile::tempdir().unwrap();
    let options = QueueOptions { file_size: 4 * SIZE, reserve: ReservePolicy::Whole, ..options() };
    let queue = MappedFileQueue::load(&Env::os(), dir.path(), options, Arc::new(OnDemand)).unwrap();
    let file = queue.last_for_append(0).unwrap();
    file.append(&[7; 2 * SIZE as usize]).unwrap();
    let faults = crate::mapping_faults();
    Env::os().disk().open(file.path(), OpenMode::ReadWrite).unwrap().set_len(SIZE).unwrap();

    assert!(matches!(file.append(b"lost").unwrap_err(), MapError::Fault { at, .. } if at == 2 * SIZE));
    assert_eq!(file.wrote_position(), 2 * SIZE, "nothing was published");
    assert!(crate::mapping_faults() > faults);
    assert!(queue.check_fault().is_err() && queue.flush(0).is_err());
    let view = queue.slice(SIZE, SIZE).expect("a view that does not reach to the fault");
    assert!(view.iter().all(|byte| *byte == 0), "what is read while it happens is zeros");
    assert!(queue.slice(SIZE, 1).is_none(), "and nothing afterwards");
    assert!(queue.slice(0, SIZE).unwrap().iter().all(|byte| *byte == 7), "what is still there is served");
    drop(view);
    // A file mapped later, perhaps at the same addresses, has no fault.
    let other = tempfile::tempdir().unwrap();
    let fresh = MappedFileQueue::load(&Env::os(), other.path(), options, Arc::new(OnDemand)).unwrap();
    fresh.last_for_append(0).unwrap().append(b"fine").unwrap();
    fresh.check_fault().unwrap();
}

#[test]
fn field_F40_deletion_stops_at_the_first_file_that_stays() {
    let dir = tempfile::tempdir().unwrap();
    let queue = queue(dir.path());
    fill(&queue, 0, 4);
    let old = [0, 2 * SIZE, 3 * SIZE];
    let mut deleted = 0;
    while queue.expire_first(|file| old.contains(&file.file_from_offset())).unwrap() {
        deleted += 1;
    }
    assert_eq!((deleted, queue.min_offset(), queue.file_count()), (1, Some(SIZE), 3));
    while queue.expire_first(|_| true).unwrap() {}
    assert_eq!((queue.min_offset(), queue.file_count()), (Some(3 * SIZE), 1), "the last file stays");
}

#[test]
fn field_F42_a_held_file_is_deleted_and_its_view_stays() {
    let dir = tempfile::tempdir().unwrap();
    let queue = queue(dir.path());
    fill(&queue, 0, 3);
    let file = queue.first().unwrap();
    let view = queue.slice(0, 10).unwrap();
    assert!(queue.expire_first(|_| true).unwrap());
    assert!(queue.expire_first(|_| true).unwrap(), "those behind it are not held up");
    assert_eq!(queue.min_offset(), Some(2 * SIZE), "the first file that can be read");
    assert!(queue.slice(0, 10).is_none() && !dir.path().join(offset_name(0)).exists());
    assert!(file.is_deleted() && file.views() == 1, "who holds it can be told");
    assert_eq!(*view, [7; 10]);
    drop(view);
    assert_eq!(file.views(), 0);
}

#[test]
fn a_view_keeps_the_bytes_of_a_file_that_nobody_else_holds() {
    let dir = tempfile::tempdir().unwrap();
    let queue = queue(dir.path());
    fill(&queue, 0, 2);
    let view = queue.slice(0, 10).unwrap();
    assert!(queue.expire_first(|_| true).unwrap());
    drop(queue);
    assert_eq!(*view, [7; 10]);
}
