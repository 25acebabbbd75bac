//! Faults met in the field, in small.
#![allow(non_snake_case, reason = "tests of field cases carry the case's number")]

use super::*;

/// Ten units a file.
const FILE: u64 = 200;

fn open(dir: &Path) -> ConsumeQueue {
    ConsumeQueue::open(&Env::os(), dir, "T", 0, FILE).unwrap()
}

fn unit(number: u64) -> Unit {
    Unit { phy_offset: number * 100, size: 100, tags_code: 0 }
}

/// A queue that begins at `first`, whose n-th record was stored at `times[n]`.
fn stored_at(dir: &Path, first: u64, times: &[i64]) -> (ConsumeQueue, impl Fn(i64) -> (u64, u64)) {
    let queue = open(dir);
    for number in 0..times.len() as u64 {
        queue.put(first + number, unit(number)).unwrap();
    }
    let (times, searched) = (times.to_vec(), open(dir));
    searched.recover(u64::MAX).unwrap();
    searched.correct_min_offset(0);
    let search = move |at| {
        let time = |unit: &Unit| times.get((unit.phy_offset / 100) as usize).copied();
        let ask = |boundary| searched.offset_by_time(at, boundary, time);
        (ask(BoundaryType::Lower), ask(BoundaryType::Upper))
    };
    (queue, search)
}

#[test]
fn field_F33_what_is_dispatched_again_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let queue = open(dir.path());
    for number in 0..10 {
        assert_eq!(queue.put(number, unit(number)).unwrap(), PutUnit::Appended);
    }
    for number in 5..13 {
        let expected = if number < 10 { PutUnit::Present } else { PutUnit::Appended };
        assert_eq!(queue.put(number, unit(number)).unwrap(), expected, "{number}");
    }
    assert_eq!(queue.put(20, unit(20)).unwrap(), PutUnit::Gap { next: 13 }, "a jump forward is told");
    let units: Vec<_> = (0..queue.max_offset()).map(|at| queue.unit(at).unwrap()).collect();
    assert_eq!(units, (0..13).map(unit).collect::<Vec<_>>());
}

#[test]
fn field_F36_equal_times_are_found_at_both_ends() {
    let dir = tempfile::tempdir().unwrap();
    let (_, search) = stored_at(dir.path(), 0, &[10, 20, 20, 20, 30]);
    assert_eq!((search(20), search(15), search(25)), ((1, 3), (1, 0), (4, 3)));

    // The run of equal times lies over the border of two files, and over a whole file.
    for run in [4, 16, 31] {
        let dir = tempfile::tempdir().unwrap();
        let before = 8;
        let mut times = vec![10; before];
        times.extend(vec![20; run]);
        times.push(30);
        let (queue, search) = stored_at(dir.path(), 0, &times);
        assert!(queue.files().file_count() > 1);
        let (first, last) = (before as u64, (before + run) as u64 - 1);
        assert_eq!(search(20), (first, last), "{run}");
        assert_eq!(search(15), (first, first - 1), "{run}");
        assert_eq!(search(25), (last + 1, last), "{run}");
        assert_eq!((search(10), search(30)), ((0, first - 1), (last + 1, last + 1)), "{run}");
    }
}

#[test]
fn field_F37_times_outside_of_the_queue_give_its_ends() {
    let dir = tempfile::tempdir().unwrap();
    let (queue, search) = stored_at(dir.path(), 5, &[10, 15, 20, 25, 30]);
    assert_eq!((queue.min_offset(), queue.max_offset()), (5, 10));
    assert_eq!(search(31), (10, 9), "the end: new messages only");
    assert_eq!((search(9), search(0), search(i64::MIN)), ((5, 5), (5, 5), (5, 5)), "never below the minimum");
    assert_eq!(search(i64::MAX), (10, 9));

    // Over the borders of files, and with the oldest messages gone.
    let dir = tempfile::tempdir().unwrap();
    let times: Vec<i64> = (0..35).map(|number| 100 + number).collect();
    let (queue, _) = stored_at(dir.path(), 0, &times);
    queue.correct_min_offset(1_200);
    let time = |unit: &Unit| (unit.phy_offset >= 1_200).then(|| times[(unit.phy_offset / 100) as usize]);
    let ask = |at, boundary| queue.offset_by_time(at, boundary, time);
    for at in 0..200 {
        let lower = (at - 100).clamp(12, 35) as u64;
        let upper = (at - 100).clamp(12, 34) as u64;
        assert_eq!(ask(at, BoundaryType::Lower), lower, "at {at}");
        assert_eq!(ask(at, BoundaryType::Upper), upper, "at {at}");
    }

    let dir = tempfile::tempdir().unwrap();
    let (_, search) = stored_at(dir.path(), 0, &[]);
    assert_eq!(search(10), (0, 0), "an empty queue: its end");
    let dir = tempfile::tempdir().unwrap();
    let (queue, _) = stored_at(dir.path(), 0, &[10, 20]);
    queue.correct_min_offset(10_000);
    let gone = |boundary| queue.offset_by_time(15, boundary, |_: &Unit| None);
    assert_eq!((gone(BoundaryType::Lower), gone(BoundaryType::Upper)), (2, 2), "all messages are gone");
}
