use super::*;

const FILE: u64 = 200; // 10 units

fn open(dir: &Path) -> ConsumeQueue {
    ConsumeQueue::open(&Env::os(), dir, "T", 0, FILE).unwrap()
}

fn unit(number: u64) -> Unit {
    Unit { phy_offset: number * 100, size: 100, tags_code: number as i64 }
}

fn fill(queue: &ConsumeQueue, offsets: std::ops::Range<u64>) {
    for offset in offsets {
        assert_eq!(queue.put(offset, unit(offset)).unwrap(), PutUnit::Appended);
    }
}

#[test]
fn puts_are_idempotent_and_never_shift() {
    let dir = tempfile::tempdir().unwrap();
    let queue = open(dir.path());
    fill(&queue, 0..25);
    assert_eq!(queue.put(7, unit(7)).unwrap(), PutUnit::Present);
    assert_eq!(queue.put(7, Unit { size: 99, ..unit(7) }).unwrap(), PutUnit::Torn(unit(7)));
    assert_eq!(queue.put(7, unit(8)).unwrap(), PutUnit::Taken(unit(7)));
    assert_eq!(queue.put(27, unit(27)).unwrap(), PutUnit::Gap { next: 25 });
    assert_eq!((queue.min_offset(), queue.max_offset()), (0, 25));
    assert_eq!(queue.unit(24), Some(unit(24)));
    assert_eq!(queue.units_from(18).unwrap().count(), 2, "to the end of the file");
    assert_eq!(queue.roll_next(18), 20);
}

#[test]
fn a_queue_may_begin_in_the_middle() {
    let dir = tempfile::tempdir().unwrap();
    let queue = open(dir.path());
    assert_eq!(queue.put(24, unit(24)).unwrap(), PutUnit::Appended);
    assert_eq!((queue.min_offset(), queue.max_offset()), (24, 25));
    assert_eq!(queue.files().min_offset(), Some(400));
    assert!(queue.unit(23).unwrap().is_blank());
    drop(queue);
    let again = open(dir.path());
    again.recover(u64::MAX).unwrap();
    again.correct_min_offset(0);
    assert_eq!((again.min_offset(), again.max_offset()), (24, 25));
}

#[test]
fn blanks_without_a_message_are_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let queue = open(dir.path());
    queue.pad_to(5).unwrap();
    drop(queue);
    let again = open(dir.path());
    again.recover(u64::MAX).unwrap();
    assert_eq!(again.max_offset(), 0);
    fill(&again, 0..3);
    assert_eq!(again.max_offset(), 3);
}

#[test]
fn recovery_finds_the_end() {
    let dir = tempfile::tempdir().unwrap();
    fill(&open(dir.path()), 0..25);
    let queue = open(dir.path());
    assert_eq!(queue.max_offset(), 30, "before recovery");
    queue.recover(u64::MAX).unwrap();
    assert_eq!(queue.max_offset(), 25);
    queue.truncate(2_250).unwrap();
    assert_eq!(queue.max_offset(), 22, "the unit whose record ends at 2300 goes too");
    queue.recover(1_000).unwrap();
    assert_eq!((queue.max_offset(), queue.files().file_count()), (10, 2));
}

#[test]
fn recovery_stops_at_a_unit_out_of_order() {
    let dir = tempfile::tempdir().unwrap();
    let queue = open(dir.path());
    fill(&queue, 0..5);
    drop(queue);
    let path = dir.path().join("00000000000000000000");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[100..120].copy_from_slice(&unit(3).encode());
    bytes[120..140].copy_from_slice(&unit(6).encode());
    std::fs::write(&path, bytes).unwrap();
    let again = open(dir.path());
    again.recover(u64::MAX).unwrap();
    assert_eq!(again.max_offset(), 5);
}

#[test]
fn the_minimum_follows_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let queue = open(dir.path());
    fill(&queue, 0..25);
    queue.correct_min_offset(450);
    assert_eq!(queue.min_offset(), 5);
    assert_eq!(queue.delete_expired(1_250).unwrap(), 1);
    assert_eq!((queue.min_offset(), queue.files().min_offset()), (13, Some(200)));
    assert_eq!(queue.delete_expired(1_000_000).unwrap(), 1);
    assert_eq!((queue.min_offset(), queue.max_offset()), (25, 25), "empty, but the position stays");
    fill(&queue, 25..26);
    queue.correct_min_offset(2_500);
    assert_eq!(queue.min_offset(), 25);
}

#[test]
fn time_search_has_two_boundaries() {
    let dir = tempfile::tempdir().unwrap();
    let queue = open(dir.path());
    fill(&queue, 0..25);
    // Times 0 0 10 10 20 20 …
    let time = |unit: &Unit| Some((unit.phy_offset / 200) as i64 * 10);
    let lower = |at| queue.offset_by_time(at, BoundaryType::Lower, time);
    let upper = |at| queue.offset_by_time(at, BoundaryType::Upper, time);
    assert_eq!((lower(10), upper(10)), (2, 3));
    assert_eq!((lower(11), upper(11)), (4, 3));
    assert_eq!((lower(-5), upper(-5)), (0, 0));
    assert_eq!((lower(1_000), upper(1_000)), (25, 24));
}

#[test]
fn a_queue_made_anew_wins_over_its_former_self() {
    let dir = tempfile::tempdir().unwrap();
    let queue = open(dir.path());
    fill(&queue, 0..12);
    let anew = |number| unit(number + 100);
    assert_eq!(queue.put(0, anew(0)).unwrap(), PutUnit::Taken(unit(0)));
    queue.restart_at(0).unwrap();
    assert_eq!((queue.min_offset(), queue.max_offset()), (0, 0));
    for offset in 0..3 {
        assert_eq!(queue.put(offset, anew(offset)).unwrap(), PutUnit::Appended);
    }
    assert_eq!(queue.put(2, unit(2)).unwrap(), PutUnit::Stale, "its place has a later record");
    assert_eq!(queue.put(3, unit(3)).unwrap(), PutUnit::Stale, "next in turn, but older than the last one");
    assert_eq!(queue.put(9, unit(9)).unwrap(), PutUnit::Stale, "behind the end, but older than the last one");
    assert_eq!(queue.put(9, anew(9)).unwrap(), PutUnit::Gap { next: 3 });
}

#[test]
fn lost_places_are_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let queue = open(dir.path());
    fill(&queue, 0..5);
    queue.pad_to(25).unwrap();
    assert_eq!(queue.put(25, unit(25)).unwrap(), PutUnit::Appended);
    assert_eq!(queue.put(7, unit(7)).unwrap(), PutUnit::Stale);
    assert_eq!(queue.message_from(3), Some((3, unit(3))));
    assert_eq!(queue.message_from(5), Some((25, unit(25))));
    assert_eq!(queue.message_from(26), None);
    // Searches by position and time look through the hole.
    let time = |unit: &Unit| Some(unit.phy_offset as i64);
    assert_eq!(queue.offset_by_time(200, BoundaryType::Lower, time), 2);
    assert_eq!(queue.offset_by_time(450, BoundaryType::Upper, time), 4);
    queue.correct_min_offset(300);
    assert_eq!(queue.min_offset(), 3);
    queue.correct_min_offset(450);
    assert_eq!(queue.min_offset(), 25);
    assert_eq!(queue.delete_expired(450).unwrap(), 2);
}

/// Zeroes a range of a queue file.
fn zero(dir: &Path, file: u64, range: std::ops::Range<usize>) {
    let path = dir.join(format!("{:020}", file * FILE));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[range].fill(0);
    std::fs::write(&path, bytes).unwrap();
}

#[test]
fn a_damaged_place_does_not_hide_what_follows() {
    let dir = tempfile::tempdir().unwrap();
    fill(&open(dir.path()), 0..45);
    zero(dir.path(), 0, 60..180);
    let again = open(dir.path());
    again.recover(u64::MAX).unwrap();
    assert_eq!(again.max_offset(), 45, "only the ends of old files are looked at");
    assert_eq!(again.units_from(2).unwrap().filter(|(_, unit)| unit.is_blank()).count(), 6);
    assert_eq!(again.message_from(3), Some((9, unit(9))));
    assert_eq!(again.delete_expired(950).unwrap(), 1, "the damaged file can expire");
}

#[test]
fn a_lost_file_ends_the_queue_wherever_it_is() {
    for (lost, end) in [(0..1, 0), (1..2, 10), (0..5, 0), (1..5, 10), (4..5, 40)] {
        let dir = tempfile::tempdir().unwrap();
        fill(&open(dir.path()), 0..45);
        lost.clone().for_each(|file| zero(dir.path(), file, 0..FILE as usize));
        let again = open(dir.path());
        again.recover(u64::MAX).unwrap();
        assert_eq!(again.max_offset(), end, "files {lost:?} lost");
    }
}

#[test]
fn what_was_cut_cannot_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let queue = open(dir.path());
    fill(&queue, 0..8);
    drop(queue);
    let again = open(dir.path());
    again.recover(u64::MAX).unwrap();
    again.truncate(500).unwrap();
    assert_eq!(again.put(5, unit(5)).unwrap(), PutUnit::Appended);
    drop(again);
    let third = open(dir.path());
    third.recover(u64::MAX).unwrap();
    assert_eq!(third.max_offset(), 6, "units 6 and 7 are gone although they lay behind the new one");
}

fn open_with_ext(dir: &Path) -> ConsumeQueue {
    use crate::consume_queue_ext::ConsumeQueueExt;
    // Three extension units of 20 bytes a file.
    let ext = ConsumeQueueExt::open(&Env::os(), &dir.join("ext"), 64).unwrap();
    let queue = ConsumeQueue::open(&Env::os(), &dir.join("queue"), "T", 0, FILE).unwrap();
    queue.with_ext(ext, true)
}

fn fill_extended(queue: &ConsumeQueue, offsets: std::ops::Range<u64>) {
    for offset in offsets {
        let put = queue.put_stored(offset, unit(offset), Some(1000 + offset as i64)).unwrap();
        assert_eq!(put, PutUnit::Appended);
    }
}

#[test]
fn an_extended_queue_reads_like_a_plain_one() {
    let dir = tempfile::tempdir().unwrap();
    fill_extended(&open_with_ext(dir.path()), 0..25);
    let queue = open_with_ext(dir.path());
    queue.recover(u64::MAX).unwrap();
    for offset in 0..25 {
        assert_eq!(queue.unit(offset), Some(unit(offset)));
        assert_eq!(queue.ext_unit(offset).unwrap().store_timestamp, 1000 + offset as i64);
    }
    assert!(queue.units_from(11).unwrap().eq((11..20).map(|offset| (offset, unit(offset)))));
    assert_eq!(queue.put_stored(7, unit(7), Some(0)).unwrap(), PutUnit::Present);

    let plain = ConsumeQueue::open(&Env::os(), &dir.path().join("queue"), "T", 0, FILE).unwrap();
    assert!(plain.unit(3).unwrap().has_ext_address(), "on disk stands an address");
    assert_eq!(queue.delete_expired(2000).unwrap(), 2);
    assert!(dir.path().join("ext").read_dir().unwrap().count() <= 3, "old extension files go too");
    queue.destroy().unwrap();
    assert!(!dir.path().join("ext").exists());
}

#[test]
fn a_lost_extension_never_answers_for_another_message() {
    let dir = tempfile::tempdir().unwrap();
    fill_extended(&open_with_ext(dir.path()), 0..8);
    let last =
        std::fs::read_dir(dir.path().join("ext")).unwrap().map(|entry| entry.unwrap().path()).max().unwrap();
    std::fs::remove_file(last).unwrap();
    let queue = open_with_ext(dir.path());
    queue.recover(u64::MAX).unwrap();
    fill_extended(&queue, 8..20);
    for offset in 0..8 {
        assert!(queue.unit(offset).unwrap().has_ext_address(), "{offset}: leads nowhere");
    }
    for offset in 8..20 {
        assert_eq!(queue.unit(offset), Some(unit(offset)));
    }
}
