use super::format::NOT_COMPACTED;
use super::*;
use crate::consume_queue::{BoundaryType, PutUnit};

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
        assert_eq!(queue.put(unit(number, base, size)).unwrap(), PutUnit::Appended);
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
    assert_eq!(queue.put(unit(24, bases[24], 1)).unwrap(), PutUnit::Present);
    assert_eq!(queue.put(unit(3, bases[3], 1)).unwrap(), PutUnit::Present);
    let jump = unit(30, bases[25] + 1, 1);
    assert_eq!(queue.put(jump).unwrap(), PutUnit::Gap { next: bases[25] });
    let torn = queue.put(unit(24, bases[24], 3)).unwrap();
    assert_eq!(torn, PutUnit::Torn(unit(24, bases[24], 1).place()));
    assert_eq!(queue.put(unit(20, bases[22], 2)).unwrap(), PutUnit::Stale);
    let taken = queue.put(unit(23, bases[22], 2)).unwrap();
    assert_eq!(taken, PutUnit::Taken(unit(22, bases[22], 2).place()));
    assert_eq!(queue.max_offset(), bases[25]);
}

#[test]
fn what_would_be_found_present_is_held_in_any_order() {
    let dir = tempfile::tempdir().unwrap();
    let queue = open(dir.path());
    let bases = fill(&queue);
    let at = |number: u64| unit(number, bases[number as usize], (number % 3 + 1) as u16);
    for end in [0, 13, 25] {
        let mut window = BatchWindow::default();
        for number in (0..25).chain([3, 20, 4, 24, 0, 1]) {
            assert_eq!(queue.holds_at(&mut window, &at(number), end), number < end, "{number} of {end}");
            let compacted = BatchUnit { compacted_offset: 7, ..at(number) };
            assert_eq!(queue.holds_at(&mut window, &compacted, end), number < end, "{number} of {end}");
            for other in [
                BatchUnit { batch_size: at(number).batch_size + 1, ..at(number) },
                BatchUnit { base_offset: at(number).base_offset + 1, ..at(number) },
                BatchUnit { phy_offset: at(number).phy_offset + 1, ..at(number) },
                BatchUnit { store_timestamp: -1, ..at(number) },
            ] {
                assert!(!queue.holds_at(&mut window, &other, end), "{other:?}");
            }
        }
    }
}

#[test]
fn a_reader_gets_past_lost_messages() {
    let dir = tempfile::tempdir().unwrap();
    let queue = open(dir.path());
    let end = *fill(&queue).last().unwrap();
    assert_eq!(queue.put_behind_gap(unit(30, end + 7, 2)).unwrap(), PutUnit::Appended);
    assert_eq!((queue.max_offset(), queue.holds(3000), queue.holds(2900)), (end + 9, true, false));
    for offset in end..end + 9 {
        assert_eq!(queue.units_from(offset).unwrap().next(), Some(unit(30, end + 7, 2)), "{offset}");
    }
    assert_eq!(queue.put(unit(29, end + 1, 1)).unwrap(), PutUnit::Stale, "the place was given up");
    let again = open(dir.path());
    again.recover(u64::MAX).unwrap();
    assert_eq!(again.max_offset(), end + 9);
    again.restart_at(end + 8).unwrap();
    assert_eq!(again.max_offset(), end);
    again.restart_at(0).unwrap();
    assert_eq!((again.max_offset(), again.files().file_count()), (0, 0));
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
    assert_eq!(queue.put(unit(50, bases[25], 2)).unwrap(), PutUnit::Appended);
    assert_eq!(queue.min_offset(), bases[25]);
}
