use super::*;
use store_mmap::sim::SimWorld;

const SMALL: IndexGeometry = IndexGeometry { slots: 10, entries: 11 };

fn open(dir: &Path) -> IndexFileSet {
    IndexFileSet::load(&Env::os(), dir, SMALL, false).unwrap()
}

fn query_some(set: &IndexFileSet, key: &str, max: usize, begin: i64, end: i64) -> Vec<u64> {
    let mut found = Vec::new();
    let accept = |phy_offset| {
        found.push(phy_offset);
        if found.len() == max { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    set.query("T", key, begin, end, accept).unwrap();
    found
}

fn query(set: &IndexFileSet, key: &str) -> Vec<u64> {
    query_some(set, key, 64, 0, i64::MAX)
}

/// Positions of records 0…`last`, newest first.
fn records(last: u64) -> Vec<u64> {
    (0..=last).rev().map(|number| number * 100).collect()
}

fn fill(set: &IndexFileSet, numbers: std::ops::Range<u64>) {
    for number in numbers {
        set.put(&request(number), || 1).unwrap();
    }
}

/// Index files with entries of a record: three keys a record, ten entries a file.
fn entries_of(set: &IndexFileSet, phy_offset: u64) -> usize {
    let count = |file: &Arc<IndexFile>| {
        let numbers = 1..file.index_count().unwrap();
        numbers.filter(|number| file.entry(*number).unwrap().phy_offset == phy_offset).count()
    };
    set.files().iter().map(count).sum()
}

fn request(number: u64) -> DispatchRequest<'static> {
    DispatchRequest {
        topic: "T",
        queue_id: 0,
        phy_offset: number * 100,
        msg_size: 100,
        tags_code: 0,
        store_timestamp: 10_000 + 1_000 * number as i64,
        consume_queue_offset: number,
        batch_size: 1,
        keys: Some("a  b"),
        uniq_key: Some("u"),
        tags: None,
        sys_flag: 0,
        multi_dispatch: None,
        multi_queue_offset: None,
        properties: "",
    }
}

#[test]
fn rolls_and_searches_across_files() {
    let dir = tempfile::tempdir().unwrap();
    let set = open(dir.path());
    let mut closed = 0;
    for number in 0..10 {
        closed += usize::from(set.put(&request(number), || 1_700_000_000_000).unwrap().is_some());
    }
    assert_eq!((closed, set.files().len()), (2, 3), "30 keys, 10 a file, names distinct at the same time");
    assert_eq!(query(&set, "b"), records(9));
    let end = set.query("T", "b", 0, i64::MAX, |_| ControlFlow::Break(())).unwrap();
    assert_eq!(end, IndexEnd { phy_offset: 900, timestamp: 19_000 });
    assert_eq!(query_some(&set, "b", 64, 12_000, 14_000), [400, 300, 200]);
    assert!(query(&set, "c").is_empty());
    assert_eq!(query_some(&open(dir.path()), "u", 2, 0, i64::MAX), [900, 800]);
}

#[test]
fn the_same_record_again_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let set = open(dir.path());
    for number in [0, 1, 0, 1, 2, 2] {
        set.put(&request(number), || 1).unwrap();
    }
    assert_eq!(query(&set, "a"), records(2));
}

#[test]
fn after_a_crash_the_last_record_is_indexed_again_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let set = open(dir.path());
    fill(&set, 0..9);
    assert_eq!(set.recover(10_000, 0).unwrap(), Some(800));
    assert_eq!(set.end_phy_offset().unwrap(), Some(700));
    fill(&set, 0..10);
    for number in 0..10 {
        assert_eq!(entries_of(&set, number * 100), 3, "record {number}");
    }
    assert_eq!(query(&set, "a"), records(9));
}

#[test]
fn a_last_record_over_two_files_goes_from_both() {
    let dir = tempfile::tempdir().unwrap();
    let set = open(dir.path());
    // The third record after the first nine entries: one key in the first file, two in the second.
    fill(&set, 0..4);
    assert_eq!((set.files().len(), entries_of(&set, 300)), (2, 3));
    assert_eq!(set.recover(10_000, 0).unwrap(), Some(300));
    assert_eq!((set.files().len(), entries_of(&set, 300)), (1, 0));
    fill(&set, 0..5);
    assert_eq!((entries_of(&set, 300), query(&set, "a")), (3, records(4)));
}

#[test]
fn files_behind_a_damaged_one_are_built_again() {
    let dir = tempfile::tempdir().unwrap();
    let set = open(dir.path());
    fill(&set, 0..9);
    let second = set.files()[1].path().to_owned();
    drop(set);
    let mut bytes = std::fs::read(&second).unwrap();
    let at = SMALL.entry_at(5) as usize;
    bytes[at..at + 20].fill(0);
    std::fs::write(&second, bytes).unwrap();
    let set = open(dir.path());
    // Entries 1…4 of the second file are the last two of record 3 and the first two of record 4.
    assert_eq!(set.recover(10_000, 0).unwrap(), Some(400));
    assert_eq!(set.files().len(), 2);
    fill(&set, 0..9);
    assert_eq!((query(&set, "a"), query(&set, "u")), (records(8), records(8)));
}

#[test]
fn a_cut_log_takes_only_its_own_entries() {
    let dir = tempfile::tempdir().unwrap();
    let set = open(dir.path());
    fill(&set, 0..9);
    set.truncate(500).unwrap();
    assert_eq!((query(&set, "u"), set.files().len()), (records(4), 2));
    assert_eq!(set.end_phy_offset().unwrap(), Some(400));
    set.truncate(0).unwrap();
    assert_eq!((set.files().len(), set.end_phy_offset().unwrap()), (0, None));
    fill(&set, 0..2);
    assert_eq!(query(&set, "u"), records(1));
}

#[test]
fn a_file_of_another_size_is_set_aside_with_all_behind_it() {
    let dir = tempfile::tempdir().unwrap();
    fill(&open(dir.path()), 0..9);
    let paths: Vec<_> = open(dir.path()).files().iter().map(|file| file.path().to_owned()).collect();
    std::fs::write(&paths[1], b"short").unwrap();
    let set = open(dir.path());
    assert_eq!(set.files().len(), 1);
    assert_eq!(std::fs::read(paths[1].with_extension("unusable")).unwrap(), b"short");
    assert!(paths[2].with_extension("unusable").exists() && !paths[2].exists());
    assert_eq!(set.recover(10_000, 0).unwrap(), Some(300));
    fill(&set, 0..9);
    assert_eq!(query(&set, "a"), records(8));
}

#[test]
fn old_files_go_with_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let set = open(dir.path());
    for number in 0..10 {
        set.put(&request(number), || 1).unwrap();
    }
    assert_eq!(set.delete_expired(50).unwrap(), 0);
    assert_eq!(set.delete_expired(100_000).unwrap(), 2);
    assert_eq!(set.files().len(), 1);
}

/// Three keys a record, ten entries a file: the fourth record needs a second file.
#[test]
fn a_record_has_all_its_keys_or_none_when_the_next_file_cannot_be_made() {
    let world = SimWorld::new(1, 1_700_000_000_000);
    world.env().disk().create_dir_all(Path::new("/index")).unwrap();
    let set = IndexFileSet::load(&world.env(), Path::new("/index"), SMALL, false).unwrap();
    fill(&set, 0..3);
    world.set_full(true);
    for _ in 0..3 {
        assert!(set.put(&request(3), || 1).is_err());
        assert_eq!((entries_of(&set, 300), set.files().len()), (0, 1));
    }
    world.set_full(false);
    fill(&set, 3..5);
    assert_eq!((entries_of(&set, 300), set.files().len()), (3, 2));
    assert_eq!(query(&set, "u"), records(4));
}
