use super::*;

const SMALL: IndexGeometry = IndexGeometry { slots: 10, entries: 11 };

fn open(dir: &Path) -> IndexFileSet {
    IndexFileSet::load(&Env::os(), dir, SMALL, false).unwrap()
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
        keys: Some("a  b"),
        uniq_key: Some("u"),
        tags: None,
        sys_flag: 0,
        properties: "",
    }
}

#[test]
fn rolls_and_searches_across_files() {
    let dir = tempfile::tempdir().unwrap();
    let set = open(dir.path());
    let mut closed = 0;
    for number in 0..10 {
        closed += usize::from(set.put(&request(number), 1_700_000_000_000).unwrap().is_some());
    }
    assert_eq!((closed, set.files().len()), (2, 3), "30 keys, 10 a file, names distinct at the same time");
    let all = set.query("T", "b", 64, 0, i64::MAX).unwrap();
    assert_eq!(all.phy_offsets, [900, 800, 700, 600, 500, 400, 300, 200, 100, 0]);
    assert_eq!((all.last_phy_offset, all.last_timestamp), (900, 19_000));
    assert_eq!(set.query("T", "b", 64, 12_000, 14_000).unwrap().phy_offsets, [400, 300, 200]);
    assert!(set.query("T", "c", 64, 0, i64::MAX).unwrap().phy_offsets.is_empty());
    assert_eq!(open(dir.path()).query("T", "u", 2, 0, i64::MAX).unwrap().phy_offsets, [900, 800]);
}

#[test]
fn the_same_record_again_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let set = open(dir.path());
    for number in [0, 1, 0, 1, 2, 2] {
        set.put(&request(number), 1).unwrap();
    }
    assert_eq!(set.query("T", "a", 64, 0, i64::MAX).unwrap().phy_offsets, [200, 100, 0]);
}

#[test]
fn recovery_names_where_to_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let set = open(dir.path());
    for number in 0..9 {
        set.put(&request(number), 1).unwrap();
    }
    let resume = set.recover(10_000, 0).unwrap();
    // The last record of each file may have been cut short there: each loses it, the last file's tells.
    assert_eq!(resume, Some(700));
    for number in 0..10 {
        set.put(&request(number), 1).unwrap();
    }
    let found = set.query("T", "a", 64, 0, i64::MAX).unwrap().phy_offsets;
    assert!(found.contains(&900) && found.contains(&800), "{found:?}");
}

#[test]
fn old_files_go_with_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let set = open(dir.path());
    for number in 0..10 {
        set.put(&request(number), 1).unwrap();
    }
    assert_eq!(set.delete_expired(50).unwrap(), 0);
    assert_eq!(set.delete_expired(100_000).unwrap(), 2);
    assert_eq!(set.files().len(), 1);
}
