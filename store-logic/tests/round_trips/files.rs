//! Files that are rewritten in place or as a whole: index, checkpoint, flushed mark, snapshots.

use crate::damage::{flipped, truncated};
use crate::values::{POSITION, cases};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use store_logic::flushed_mark::{FlushedMark, FlushedPosition};
use store_logic::index_file::format::{IndexEntry, IndexGeometry, key_hash, time_diff};
use store_logic::index_file::{IndexFile, IndexHeader};
use store_logic::store_checkpoint::{CheckpointFields, StoreCheckpoint};
use store_logic::{Env, atomic_file, snapshot_file};
use store_mmap::sim::SimWorld;

const GEOMETRY: IndexGeometry = IndexGeometry { slots: 5, entries: 12 };
const FILE: &str = "/f";

fn world() -> SimWorld {
    let world = SimWorld::new(1, 1_700_000_000_000);
    world.env().disk().create_dir_all(Path::new("/")).unwrap();
    world
}

fn content(env: &Env) -> Vec<u8> {
    atomic_file::read(env.disk(), Path::new(FILE)).unwrap().unwrap()
}

fn replace(env: &Env, bytes: &[u8]) {
    atomic_file::write_whole(env.disk(), Path::new(FILE), bytes).unwrap();
}

/// The numbers of `bytes`, of 8 bytes each.
fn longs(bytes: &[u8]) -> Vec<i64> {
    bytes.chunks_exact(8).map(|long| i64::from_be_bytes(long.try_into().unwrap())).collect()
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn index_header(times: (i64, i64), places in (POSITION, POSITION), slots: u32, count in 1..=GEOMETRY.entries) {
        let env = world().env();
        let header = IndexHeader {
            begin_timestamp: times.0, end_timestamp: times.1,
            begin_phy_offset: places.0, end_phy_offset: places.1,
            hash_slot_count: slots, index_count: count,
        };
        let index = IndexFile::open(&env, Path::new(FILE), GEOMETRY).unwrap();
        index.set_header(&header).unwrap();
        prop_assert_eq!(index.header().unwrap(), header);
        drop(index);
        let bytes = content(&env);
        prop_assert_eq!(bytes.len() as u64, GEOMETRY.file_size());
        prop_assert_eq!(longs(&bytes[..32]), [times.0, times.1, places.0 as i64, places.1 as i64]);
        prop_assert_eq!(&bytes[32..40], [slots.to_be_bytes(), count.to_be_bytes()].concat());
        prop_assert_eq!(IndexFile::open(&env, Path::new(FILE), GEOMETRY).unwrap().header().unwrap(), header);
    }

    /// Against the chains said in the plainest way: a slot names its newest entry, an entry the one before.
    #[test]
    fn index_slots_and_entries(
        puts in prop::collection::vec(("[a-d]{1,2}", POSITION, 1_i64..1_000_000_000), 1..16),
    ) {
        let env = world().env();
        let index = IndexFile::open(&env, Path::new(FILE), GEOMETRY).unwrap();
        let mut newest: HashMap<u32, u32> = HashMap::new();
        let mut entries = Vec::new();
        for (key, phy_offset, at) in &puts {
            let room = entries.len() + 1 < GEOMETRY.entries as usize;
            prop_assert_eq!(index.put(key, *phy_offset, *at).unwrap(), room);
            if room {
                let begin = if entries.is_empty() { 0 } else { puts[0].2 };
                let slot = GEOMETRY.slot_of(key_hash(key));
                let previous = newest.insert(slot, entries.len() as u32 + 1).unwrap_or(0);
                entries.push(IndexEntry {
                    key_hash: key_hash(key), phy_offset: *phy_offset, time_diff: time_diff(begin, *at), previous,
                });
            }
        }
        index.flush().unwrap();
        drop(index);
        let index = IndexFile::open(&env, Path::new(FILE), GEOMETRY).unwrap();
        for (number, entry) in (1..).zip(&entries) {
            prop_assert_eq!(&index.entry(number).unwrap(), entry);
        }
        for slot in 0..GEOMETRY.slots {
            prop_assert_eq!(index.slot(slot).unwrap(), newest.get(&slot).copied().unwrap_or(0));
        }
        let last = &puts[entries.len() - 1];
        prop_assert_eq!(index.header().unwrap(), IndexHeader {
            begin_timestamp: puts[0].2, end_timestamp: last.2, begin_phy_offset: puts[0].1, end_phy_offset: last.1,
            hash_slot_count: newest.len() as u32, index_count: entries.len() as u32 + 1,
        });
    }

    #[test]
    fn checkpoint(times: (i64, i64, i64), places in (POSITION, POSITION, POSITION)) {
        let env = world().env();
        let checkpoint = StoreCheckpoint::open(&env, Path::new(FILE)).unwrap();
        checkpoint.set_physic_msg_timestamp(times.0).unwrap();
        checkpoint.set_logics(times.1, places.0).unwrap();
        checkpoint.set_index_msg_timestamp(times.2).unwrap();
        checkpoint.set_master_flushed_offset(places.1).unwrap();
        checkpoint.set_confirm_phy_offset(places.2).unwrap();
        checkpoint.flush().unwrap();
        let fields = checkpoint.fields().unwrap();
        prop_assert_eq!(fields, CheckpointFields {
            physic_msg_timestamp: times.0, logics_msg_timestamp: times.1, index_msg_timestamp: times.2,
            master_flushed_offset: places.1 as i64, confirm_phy_offset: places.2 as i64,
            logics_physical_offset: places.0 as i64,
        });
        drop(checkpoint);
        let bytes = content(&env);
        let [logics, master, confirm] = [places.0, places.1, places.2].map(|place| place as i64);
        prop_assert_eq!(longs(&bytes[..48]), [times.0, times.1, times.2, master, confirm, logics]);
        prop_assert!(bytes.len() == 4096 && bytes[48..].iter().all(|byte| *byte == 0));
        prop_assert_eq!(StoreCheckpoint::open(&env, Path::new(FILE)).unwrap().fields().unwrap(), fields);
        replace(&env, &bytes[..4095]);
        prop_assert!(StoreCheckpoint::open(&env, Path::new(FILE)).is_err());
    }

    #[test]
    fn flushed_mark(position: u64, physic_msg_timestamp: i64) {
        let env = world().env();
        let mark = FlushedPosition { position, physic_msg_timestamp };
        FlushedMark::open(&env, Path::new(FILE)).unwrap().set(mark).unwrap();
        prop_assert_eq!(FlushedMark::read(&env, Path::new(FILE)).unwrap(), Some(mark));
        let bytes = content(&env);
        prop_assert_eq!(longs(&bytes[..16]), [position as i64, physic_msg_timestamp]);
        for (at, damaged) in flipped(&bytes[..32]) {
            replace(&env, &damaged);
            let expected = (at >= 24).then_some(mark);
            prop_assert_eq!(FlushedMark::read(&env, Path::new(FILE)).unwrap(), expected, "byte {}", at);
        }
        for cut in truncated(&bytes[..24]) {
            replace(&env, cut);
            prop_assert_eq!(FlushedMark::read(&env, Path::new(FILE)).unwrap(), None);
        }
    }
}

/// The shapes that the store's own notes have.
type State = (Option<(u64, i64)>, BTreeMap<String, u64>, BTreeMap<(String, i32), u64>, Vec<u8>);

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn snapshots(
        kind: u32,
        state in any::<(
            Option<(u64, i64)>, BTreeMap<String, u64>, BTreeMap<(String, i32), u64>, Vec<u8>,
        )>(),
    ) {
        let env = world().env();
        let path = Path::new(FILE);
        snapshot_file::write::<State>(&env, path, kind, &state).unwrap();
        let read = || snapshot_file::read::<State>(&env, path, kind);
        prop_assert_eq!(read().unwrap(), Some(state));
        let bytes = content(&env);
        snapshot_file::write(&env, path, kind, &read().unwrap().unwrap()).unwrap();
        prop_assert_eq!(content(&env), &bytes[..]);
        // The head whole, then here and there.
        let step = (bytes.len() / 64).max(1);
        for (number, (at, damaged)) in flipped(&bytes).enumerate() {
            if at < 20 || number % (8 * step + 1) == 0 {
                replace(&env, &damaged);
                prop_assert!(read().is_err(), "byte {}", at);
            }
        }
        for cut in truncated(&bytes).filter(|cut| cut.len() <= 20 || cut.len() % step == 0) {
            replace(&env, cut);
            prop_assert!(read().is_err(), "{} bytes", cut.len());
        }
    }
}
