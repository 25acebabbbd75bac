//! Records lost with damage of the log, and the queue without their units.

use crate::{config, copies, count_in, expected, fill, open, records_left};
use std::fs;
use std::path::{Path, PathBuf};
use store_core::inspectors::{InspectOptions, StoreInspection};
use store_core::record_format::Checksum;
use store_core::repair::{RepairMode, StoreRepair};
use store_core::{Env, MessageStore};

/// Bytes of a queue unit.
const UNIT: usize = 46;

/// Flips a bit of the body of each of these records of the queue.
fn damage(root: &Path, numbers: &[u64]) {
    let queue = queue_bytes(root);
    let size = config(root).commit_log.mapped_file_size_commit_log;
    for number in numbers {
        let unit = &queue[*number as usize * UNIT..];
        let phy_offset = u64::from_be_bytes(unit[..8].try_into().unwrap());
        let path = root.join("commitlog").join(format!("{:020}", phy_offset / size * size));
        let mut log = fs::read(&path).unwrap();
        log[(phy_offset % size) as usize + 90] ^= 1;
        fs::write(path, log).unwrap();
    }
}

fn queue_files(root: &Path) -> Vec<PathBuf> {
    let mut files = copies::files(&root.join("batchconsumequeue/Batch/0"));
    files.sort();
    files
}

fn queue_bytes(root: &Path) -> Vec<u8> {
    queue_files(root).iter().flat_map(|path| fs::read(path).unwrap()).collect()
}

fn write_queue(root: &Path, bytes: &[u8]) {
    for (path, bytes) in queue_files(root).iter().zip(bytes.chunks(460)) {
        fs::write(path, bytes).unwrap();
    }
}

/// Skips all damage; returns how many places of queues were lost.
fn repair(root: &Path) -> u64 {
    let store = StoreRepair::open(&Env::os(), root, &InspectOptions::default()).unwrap();
    let found = store.damages(Checksum::Body).unwrap();
    found.iter().map(|damage| store.skip(damage, RepairMode::Do).unwrap().lost_places).sum()
}

fn errors(root: &Path) -> Vec<String> {
    let store = StoreInspection::open(&Env::os(), root, &InspectOptions::default()).unwrap();
    let mut told = Vec::new();
    let summary = store.verify(&mut |_| {}, &mut |finding| told.push(finding.to_string())).unwrap();
    if summary.errors > 0 { told } else { Vec::new() }
}

/// What is left of records `0..to`.
fn left(to: u64, lost: &[u64]) -> Vec<(u64, u64, String)> {
    let all = expected(0, to, 0).into_iter().zip(0..);
    all.filter(|(_, number)| !lost.contains(number)).map(|(record, _)| record).collect()
}

/// The records a start finds, and the end of the queue.
fn read(root: &Path) -> (Vec<(u64, u64, String)>, u64) {
    let store = open(root);
    let report = store.store.recovery_report();
    assert_eq!((report.clean, report.units_rebuilt), (true, 0), "{report}");
    let max = store.store.offsets("Batch", 0).max;
    let found = records_left(&store);
    store.stop();
    (found, max)
}

#[test]
fn lost_records_leave_no_units_behind() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path());
    let end = fill(&mut store, 0, 34);
    store.stop();
    let lost = [0, 4, 9, 10, 21, 33];
    damage(dir.path(), &lost);
    assert_eq!(repair(dir.path()), lost.len() as u64);
    assert_eq!(errors(dir.path()), [""; 0]);
    let (found, max) = read(dir.path());
    assert_eq!(found, left(34, &lost));
    // The offsets of the last record are not given again, though its unit is gone.
    assert_eq!(max, end - count_in(33));
    let mut store = open(dir.path());
    assert_eq!(store.put("Batch", 0, "next").logics_offset, end);
    store.settle();
    store.stop();
    assert_eq!(errors(dir.path()), [""; 0]);
}

#[test]
fn a_removal_that_was_cut_off_is_done_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path());
    fill(&mut store, 0, 25);
    store.stop();
    let lost = [7, 8, 9];
    damage(dir.path(), &lost);
    let copy = tempfile::tempdir().unwrap();
    copies::copy_store(dir.path(), copy.path());
    let before = queue_bytes(dir.path());
    repair(dir.path());
    let after = queue_bytes(dir.path());
    assert_eq!(before.len(), after.len());
    for done in 0..=after.len() / UNIT {
        let again = tempfile::tempdir().unwrap();
        copies::copy_store(copy.path(), again.path());
        write_queue(again.path(), &[&after[..done * UNIT], &before[done * UNIT..]].concat());
        repair(again.path());
        assert!(queue_bytes(again.path()) == after, "cut off before place {done}");
        assert_eq!(read(again.path()).0, left(25, &lost), "cut off before place {done}");
    }
}
