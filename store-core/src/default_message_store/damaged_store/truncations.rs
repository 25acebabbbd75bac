//! Everything from one byte on is zero.

use super::small_store::{LOG_FILE, SYNCED, SmallStore, UNSYNCED, body, log_file, open, place, read_all};
use crate::config::DamagedCommitLogPolicy;

#[test]
fn the_last_records_cut_at_every_byte() {
    let store = SmallStore::killed();
    for number in SYNCED..SYNCED + UNSYNCED {
        let (at, bytes) = &store.records[number as usize];
        for kept in 0..bytes.len() {
            let from = at % LOG_FILE + kept as u64;
            let world = store.with(&log_file(*at), from, |bytes| bytes.fill(0), (LOG_FILE - from) as usize);
            let what = format!("record {number} cut to {kept} bytes");
            let opened =
                open(&world, DamagedCommitLogPolicy::Stop).unwrap_or_else(|error| panic!("{what}: {error}"));
            let end = opened.shared.log.max_offset();
            // The format has no checksum of the properties: a record that lost a part of them is still one.
            let properties = bytes.len() - format!("KEYS\u{1}k{number}\u{2}").len();
            let left = if kept >= properties && end > *at { number + 1 } else { number };
            let expected_end = if left == number { *at } else { at + bytes.len() as u64 };
            assert_eq!(end, expected_end, "{what}");
            let found = read_all(&opened.shared);
            assert_eq!(found.len() as u64, left, "{what}");
            for (place_found, body_found) in found {
                assert!(
                    (0..left).any(|number| place(number) == place_found && body(number) == body_found),
                    "{what}"
                );
            }
            // Saved before it was cut.
            let cut = kept > 0 && left == number;
            assert_eq!(
                opened
                    .shared
                    .env
                    .disk()
                    .read_dir(&opened.shared.paths.set_aside())
                    .expect("a directory")
                    .len(),
                usize::from(cut && bytes[..kept].iter().any(|byte| *byte != 0)),
                "{what}"
            );
        }
    }
}

#[test]
fn a_synced_record_that_became_zeros_is_damage_when_something_stands_behind() {
    let store = SmallStore::killed();
    let (at, bytes) = &store.records[10];
    let world = store.with(&log_file(*at), at % LOG_FILE, |bytes| bytes.fill(0), bytes.len());
    let error = open(&world, DamagedCommitLogPolicy::Stop).err().expect("refused").to_string();
    assert!(error.contains("expected a record, found zeros") && error.contains("synced up to"), "{error}");
    let opened = open(&world, DamagedCommitLogPolicy::Skip).expect("opens");
    assert_eq!(read_all(&opened.shared).len() as u64, SYNCED + UNSYNCED - 1);
}
