use super::*;
use crate::commit_log::format::{Checksum, Fault, MessageView};
use crate::message::Message;
use std::ops::ControlFlow;
use std::path::Path;
use store_mmap::OnDemand;

const FILE: u64 = 4096;

fn open(dir: &Path) -> CommitLog {
    CommitLog::open(&Env::os(), dir, FILE, Arc::new(OnDemand)).unwrap()
}

fn message(body: &[u8]) -> Message<'_> {
    Message {
        topic: "T",
        queue_id: 0,
        flag: 0,
        sys_flag: 0,
        born_timestamp: 1,
        born_host: "127.0.0.1:1".parse().unwrap(),
        store_host: "127.0.0.1:10911".parse().unwrap(),
        reconsume_times: 0,
        prepared_transaction_offset: 0,
        body,
        properties: "",
    }
}

fn put(log: &CommitLog, bodies: &[&[u8]], queue_offset: u64, now: i64) -> Appended {
    let mut batch = RecordBatch::new();
    for body in bodies {
        batch.push(&message(body), 1 << 20).unwrap();
    }
    let (mut tail, now) = log.lock_tail(|| now);
    tail.append(&mut batch, queue_offset, now).unwrap()
}

fn scan_all(log: &CommitLog) -> (Vec<(u64, i64, Vec<u8>)>, LogEnd) {
    let mut seen = Vec::new();
    let end = log.scan(log.min_offset(), Checksum::Body, |phy, view: &MessageView<'_>| {
        seen.push((phy, view.queue_offset, view.body.to_vec()));
        ControlFlow::Continue(())
    });
    (seen, end)
}

#[test]
fn appends_reads_and_rolls() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let big = vec![9_u8; 1500];
    let mut ends = Vec::new();
    for number in 0..5 {
        ends.push(put(&log, &[&big], number, 100 + number as i64));
    }
    assert_eq!(ends[1].phy_offset, ends[0].end_offset);
    assert_eq!(ends[2].phy_offset, FILE, "the third does not fit behind two");
    let record = log.record_at(ends[2].phy_offset).unwrap();
    assert_eq!(log.store_timestamp(ends[2].phy_offset, record.len() as u32), Some(102));
    assert!(log.record_at(ends[2].phy_offset + 1).is_none());
    let (seen, end) = scan_all(&log);
    assert_eq!(seen.iter().map(|record| record.1).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert_eq!((end.offset, end.fault), (log.max_offset(), None));
}

#[test]
fn a_batch_stays_together() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    put(&log, &[&[1; 2000]], 0, 1);
    let batch = put(&log, &[&[2; 1000], &[3; 1000]], 7, 1);
    assert_eq!(batch.phy_offset, FILE);
    let (seen, _) = scan_all(&log);
    assert_eq!(seen.iter().map(|record| record.1).collect::<Vec<_>>(), [0, 7, 8]);
}

#[test]
fn what_no_file_holds_is_refused_first() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let mut batch = RecordBatch::new();
    batch.push(&message(&[0; 4090]), 1 << 20).unwrap();
    let (mut tail, now) = log.lock_tail(|| 1);
    let error = tail.append(&mut batch, 0, now).unwrap_err();
    assert!(error.to_string().contains("at most 4088"), "{error}");
    drop(tail);
    assert_eq!(log.max_offset(), 0, "no file was burnt");
}

#[test]
fn store_time_never_goes_back() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    assert_eq!(put(&log, &[b"a"], 0, 50).store_timestamp, 50);
    assert_eq!(put(&log, &[b"b"], 1, 40).store_timestamp, 50);
    assert_eq!(log.tail_held_millis(|| 90), 0);
}

#[test]
fn recovery_keeps_good_records_and_names_the_fault() {
    let dir = tempfile::tempdir().unwrap();
    let (second, end) = {
        let log = open(dir.path());
        put(&log, &[b"first"], 0, 1);
        let second = put(&log, &[b"second"], 1, 1);
        log.flush(0).unwrap();
        (second.phy_offset, log.max_offset())
    };
    let log = open(dir.path());
    assert_eq!(log.max_offset(), FILE, "before recovery");
    let (_, found) = scan_all(&log);
    assert_eq!((found.offset, &found.fault), (end, &None));
    log.truncate(found.offset).unwrap();
    assert_eq!(log.max_offset(), end);
    drop(log);

    let path = dir.path().join("00000000000000000000");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[second as usize + 90] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let (seen, found) = scan_all(&open(dir.path()));
    assert_eq!((seen.len(), found.offset), (1, second));
    assert!(matches!(found.fault, Some(Fault::BodyCrc { .. })), "{:?}", found.fault);
}

#[test]
fn a_blank_record_of_another_length_ends_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let blank_at = {
        let log = open(dir.path());
        let first = put(&log, &[&[1; 3000]], 0, 1);
        put(&log, &[&[2; 3000]], 1, 1);
        log.flush(0).unwrap();
        first.end_offset
    };
    let path = dir.path().join("00000000000000000000");
    let whole = std::fs::read(&path).unwrap();
    for bit in 0..32 {
        let mut bytes = whole.clone();
        bytes[blank_at as usize + bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&path, bytes).unwrap();
        let log = open(dir.path());
        let (seen, found) = scan_all(&log);
        assert_eq!((seen.len(), found.offset), (1, blank_at), "bit {bit}");
        assert!(matches!(found.fault, Some(Fault::Field { .. })), "bit {bit}: {:?}", found.fault);
        assert_eq!(log.count_behind(&found), 1, "the report counts what is dropped with it");
    }
}
