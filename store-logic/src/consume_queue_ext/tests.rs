use super::*;

const FILE: u64 = 128;

fn open(dir: &Path) -> ConsumeQueueExt {
    ConsumeQueueExt::open(&Env::os(), dir, FILE).unwrap()
}

fn unit(number: i64) -> ExtUnit {
    ExtUnit { tags_code: number, store_timestamp: 1000 + number, bitmap: vec![number as u8; 14] }
}

/// Units of 34 bytes: three a file, with 26 bytes behind them.
fn fill(ext: &ConsumeQueueExt) -> Vec<i64> {
    (0..8).map(|number| ext.put(&unit(number)).unwrap().unwrap()).collect()
}

#[test]
fn addresses_lead_to_units_over_file_borders_and_restarts() {
    let dir = tempfile::tempdir().unwrap();
    let addresses = fill(&open(dir.path()));
    assert_eq!(addresses[2..4], [address_of(68), address_of(FILE)], "the fourth is in the next file");
    let ext = open(dir.path());
    ext.recover().unwrap();
    assert_eq!(ext.files().max_offset(), 2 * FILE + 68);
    for (number, address) in (0..).zip(&addresses) {
        assert_eq!(ext.get(*address), Some(unit(number)));
    }
    assert_eq!(ext.get(address_of(3 * 34)), None, "the end mark is no unit");
    assert_eq!(ext.get(7), None);
    assert_eq!(ext.get(address_of(5 * FILE)), None);
    let found: Vec<_> = ext.units().map(|(_, unit)| unit.tags_code).collect();
    assert_eq!(found, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(ext.put(&unit(8)).unwrap(), Some(address_of(2 * FILE + 68)), "appending goes on");
}

#[test]
fn old_files_go_and_a_lost_end_is_left_behind() {
    let dir = tempfile::tempdir().unwrap();
    let ext = open(dir.path());
    let addresses = fill(&ext);
    assert_eq!(ext.delete_before(addresses[2]).unwrap(), 0);
    assert_eq!(ext.delete_before(addresses[3]).unwrap(), 1);
    assert_eq!(ext.get(addresses[0]), None);
    ext.begin_behind(2 * FILE + 34).unwrap();
    assert_eq!(ext.files().file_count(), 0);
    assert_eq!(ext.put(&unit(8)).unwrap(), Some(address_of(3 * FILE)), "no address is used twice");
}

#[test]
fn what_fits_no_file_is_not_put() {
    let dir = tempfile::tempdir().unwrap();
    let ext = open(dir.path());
    assert_eq!(ext.put(&ExtUnit { bitmap: vec![0; 128], ..unit(0) }).unwrap(), None);
    assert_eq!(ext.files().file_count(), 0);
}
