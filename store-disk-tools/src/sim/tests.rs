use super::*;
use crate::atomic_file;
use crate::env::{Env, Mappable, OpenMode};
use std::path::Path;

fn read(env: &Env, path: &str) -> Option<Vec<u8>> {
    atomic_file::read(env.disk(), Path::new(path)).unwrap()
}

#[test]
fn only_what_was_synced_is_sure_to_survive() {
    let mut lost_content = 0;
    let mut lost_name = 0;
    for seed in 0..64 {
        let world = SimWorld::new(seed, 0);
        let env = world.env();
        env.disk().create_dir_all(Path::new("/d")).unwrap();
        let synced = env.disk().open(Path::new("/d/synced"), OpenMode::CreateNew).unwrap();
        synced.write_all_at(b"old", 0).unwrap();
        synced.sync_data().unwrap();
        env.disk().sync_dir(Path::new("/d")).unwrap();
        synced.write_all_at(b"new", 0).unwrap();
        let unsynced = env.disk().open(Path::new("/d/unsynced"), OpenMode::CreateNew).unwrap();
        unsynced.write_all_at(b"x", 0).unwrap();

        let after = world.restart_after_power_cut().env();
        let content = read(&after, "/d/synced").unwrap();
        assert!(content == b"old" || content == b"new", "seed {seed}: {content:?}");
        lost_content += u32::from(content == b"old");
        lost_name += u32::from(read(&after, "/d/unsynced").is_none());
        assert!(synced.write_all_at(b"dead", 0).is_err(), "the power is off");
    }
    assert!((1..64).contains(&lost_content) && (1..64).contains(&lost_name), "{lost_content} {lost_name}");
}

#[test]
fn replacing_a_file_leaves_old_or_new_at_every_cut() {
    let replace = |world: &SimWorld, content: &[u8]| {
        atomic_file::replace(world.env().disk(), Path::new("/config/topics.json"), content)
    };
    let whole = SimWorld::new(0, 0);
    replace(&whole, b"one").unwrap();
    let first_done = whole.operations();
    replace(&whole, b"two").unwrap();
    for cut in 1..=whole.operations() + 1 {
        for seed in 0..16 {
            let world = SimWorld::new(seed, 0);
            world.cut_power_at(cut);
            let done = replace(&world, b"one").and_then(|()| replace(&world, b"two")).is_ok();
            let found = read(&world.restart_after_power_cut().env(), "/config/topics.json");
            let legal = match found.as_deref() {
                None => !done && cut <= first_done,
                Some(content) => content == b"two" || (!done && content == b"one"),
            };
            assert!(legal, "cut at {cut}, seed {seed}: found {found:?}");
        }
    }
}

#[test]
fn a_failed_sync_is_not_made_good_by_a_later_one() {
    let mut lost = 0;
    for seed in 0..64 {
        let world = SimWorld::new(seed, 0);
        let env = world.env();
        let file = env.disk().open(Path::new("/f"), OpenMode::CreateNew).unwrap();
        file.set_len(8192).unwrap();
        file.sync_data().unwrap();
        env.disk().sync_dir(Path::new("/")).unwrap();
        let Mappable::Sim(mapping) = file.mappable() else { panic!("a simulated file") };
        file.write_all_at(b"lost", 0).unwrap();
        world.plan_fault(world.operations(), Fault::SyncError);
        assert!(mapping.sync_range(0, 4096).is_err());
        assert!(mapping.sync_range(0, 4096).is_ok(), "as Linux does");
        assert_eq!(world.faults_hit(), 1);
        lost += u32::from(read(&world.restart_after_power_cut().env(), "/f").unwrap()[..4] != *b"lost");
    }
    assert!(lost > 0, "the second sync wrote what the first had dropped");
}

#[test]
fn a_killed_process_loses_nothing_and_its_lock() {
    let world = SimWorld::new(1, 0);
    let env = world.env();
    let file = env.disk().open(Path::new("/f"), OpenMode::CreateNew).unwrap();
    file.write_all_at(b"written", 0).unwrap();
    assert!(file.try_lock_first_byte().unwrap());
    let other = env.disk().open(Path::new("/f"), OpenMode::ReadWrite).unwrap();
    assert!(!other.try_lock_first_byte().unwrap());
    let after = world.restart_after_kill().env();
    assert_eq!(read(&after, "/f").unwrap(), b"written");
    assert!(after.disk().open(Path::new("/f"), OpenMode::ReadWrite).unwrap().try_lock_first_byte().unwrap());
}
