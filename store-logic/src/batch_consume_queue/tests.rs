use super::format::NOT_COMPACTED;
use super::*;
use crate::consume_queue::BoundaryType;

/// Ten units a file.
const FILE: u64 = 10 * UNIT_SIZE;

fn open(dir: &Path) -> BatchConsumeQueue {
    BatchConsumeQueue::open(&Env::os(), dir, "T", 0, FILE).unwrap()
}

/// Unit `number` of 100 bytes of log, with `batch_size` messages from `base` on, stored at 10 × `number`.
fn unit(number: u64, base: u64, batch_size: u16) -> BatchUnit {
    BatchUnit {
        phy_offset: number * 100,
        size: 100,
        tags_code: 0,
        store_timestamp: number as i64 * 10,
        base_offset: base,
        batch_size,
        compacted_offset: NOT_COMPACTED,
    }
}

/// 25 units of 1, 2, 3, 1, 2, 3, … messages from queue offset 5 on; returns the base of each and the end.
fn fill(queue: &BatchConsumeQueue) -> Vec<u64> {
    let mut bases = vec![5];
    for number in 0..25 {
        let base = *bases.last().unwrap();
        let size = (number % 3 + 1) as u16;
        assert_eq!(queue.put(unit(number, base, size)).unwrap(), PutBatchUnit::Appended);
        bases.push(base + u64::from(size));
    }
    bases
}

#[test]
fn every_offset_of_a_batch_finds_its_record() {
    let dir = tempfile::tempdir().unwrap();
    let queue = open(dir.path());
    assert_eq!((queue.min_offset(), queue.max_offset()), (0, 0));
    let bases = fill(&queue);
    assert_eq!((queue.min_offset(), queue.max_offset()), (5, bases[25]));
    for offset in 5..bases[25] {
        let first = queue.units_from(offset).unwrap().next().unwrap();
        assert!(first.base_offset <= offset && offset < first.next_offset(), "{offset}: {first:?}");
    }
    assert!(queue.units_from(4).is_none() && queue.units_from(bases[25]).is_none());
    assert_eq!(queue.units_from(bases[8]).unwrap().count(), 2, "to the end of the file");
}

#[test]
fn a_record_is_put_once_and_only_behind_its_predecessor() {
    let dir = tempfile::tempdir().unwrap();
    let queue = open(dir.path());
    let bases = fill(&queue);
    assert_eq!(queue.put(unit(24, bases[24], 1)).unwrap(), PutBatchUnit::Present);
    assert_eq!(queue.put(unit(3, bases[3], 1)).unwrap(), PutBatchUnit::Present);
    let jump = queue.put(unit(30, bases[25] + 1, 1)).unwrap();
    assert_eq!(jump, PutBatchUnit::OutOfPlace { next: bases[25] });
}

#[test]
fn times_stand_in_the_units() {
    let dir = tempfile::tempdir().unwrap();
    let queue = open(dir.path());
    let bases = fill(&queue);
    let lower = |time| queue.offset_by_time(time, BoundaryType::Lower);
    let upper = |time| queue.offset_by_time(time, BoundaryType::Upper);
    assert_eq!((lower(120), lower(121), lower(0)), (bases[12], bases[13], 5));
    assert_eq!((upper(120), upper(119), upper(-1)), (bases[12], bases[11], 5));
    assert_eq!((lower(1000), upper(1000)), (bases[25], bases[24]));
}

#[test]
fn recovery_finds_the_end_and_cuts_to_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let bases = fill(&open(dir.path()));
    let queue = open(dir.path());
    queue.recover(u64::MAX).unwrap();
    assert_eq!(queue.max_offset(), bases[25]);
    queue.truncate(2050).unwrap();
    assert_eq!(queue.max_offset(), bases[20], "the record at 2000 is not whole");
    queue.truncate(950).unwrap();
    assert_eq!(queue.max_offset(), bases[9], "in an earlier file");

    let again = open(dir.path());
    again.recover(500).unwrap();
    assert_eq!(again.max_offset(), bases[5]);
    again.recover(50).unwrap();
    assert_eq!((again.max_offset(), again.files().file_count()), (0, 0));
}

#[test]
fn the_minimum_follows_the_log_and_the_last_file_stays() {
    let dir = tempfile::tempdir().unwrap();
    let queue = open(dir.path());
    let bases = fill(&queue);
    assert_eq!(queue.delete_expired(900).unwrap(), 0);
    assert_eq!(queue.min_offset(), bases[9]);
    assert_eq!(queue.delete_expired(950).unwrap(), 1);
    assert_eq!(queue.min_offset(), bases[10], "the record at 900 has lost its beginning");
    assert_eq!(queue.delete_expired(5000).unwrap(), 1);
    assert_eq!((queue.min_offset(), queue.max_offset()), (bases[25], bases[25]));
    assert_eq!(queue.put(unit(50, bases[25], 2)).unwrap(), PutBatchUnit::Appended);
    assert_eq!(queue.min_offset(), bases[25]);
}
