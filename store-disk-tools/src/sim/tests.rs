use super::*;
use crate::atomic_file;
use crate::env::{DiskFile, Env, Mappable, OpenMode};
use std::collections::BTreeSet;
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

/// A file of two pages, made durable with zeros.
fn two_pages(env: &Env) -> Box<dyn DiskFile> {
    let file = env.disk().open(Path::new("/f"), OpenMode::CreateNew).unwrap();
    file.set_len(8192).unwrap();
    file.sync_data().unwrap();
    env.disk().sync_dir(Path::new("/")).unwrap();
    file
}

fn bytes_at(image: &Image, places: &[usize]) -> Vec<u8> {
    let bytes = image.read(Path::new("/f")).unwrap();
    places.iter().map(|at| bytes[*at]).collect()
}

#[test]
fn pages_survive_in_every_combination_and_as_they_were_in_between() {
    let world = SimWorld::new(1, 0);
    let file = two_pages(&world.env());
    world.record();
    for byte in [1, 2, 3] {
        file.write_all_at(&[byte], 0).unwrap();
        file.write_all_at(&[byte], 4096).unwrap();
    }
    let point = world.crash_point();
    assert_eq!(point.unsynced(), 2, "two pages");
    let whole: BTreeSet<Vec<u8>> = point.images(0, 0).map(|image| bytes_at(&image, &[0, 4096])).collect();
    assert_eq!(whole, BTreeSet::from([vec![0, 0], vec![0, 3], vec![3, 0], vec![3, 3]]));
    let seen: BTreeSet<Vec<u8>> = point.images(0, 1000).map(|image| bytes_at(&image, &[0, 4096])).collect();
    assert_eq!(seen.len(), 16, "each of four versions of one page with each of the other: {seen:?}");
    file.sync_data().unwrap();
    assert_eq!(world.crash_point().unsynced(), 0);
    assert_eq!(world.take_recorded().len(), 7, "a point for every operation");
}

#[test]
fn a_page_tears_between_sectors_and_within_one() {
    let world = SimWorld::new(1, 0);
    let file = two_pages(&world.env());
    file.write_all_at(&[1; 4096], 0).unwrap();
    let (mut torn_between, mut torn_within) = (0, 0);
    for image in world.crash_point().images(0, 400) {
        let page = image.read(Path::new("/f")).unwrap()[..4096].to_vec();
        let uneven = page.chunks(512).filter(|sector| sector.iter().any(|byte| *byte != sector[0]));
        torn_within += uneven.clone().count();
        assert!(uneven.count() <= 1, "at most one sector is written at the moment of the cut");
        assert!(page.chunks(8).all(|cell| cell.iter().all(|byte| *byte == cell[0])), "cells stay whole");
        torn_between +=
            usize::from((1..7).contains(&page.chunks(512).filter(|sector| sector[0] == 1).count()));
    }
    assert!(torn_between > 20 && torn_within > 20, "{torn_between} {torn_within}");
}

#[test]
fn unsynced_names_are_kept_or_lost_each_on_its_own_and_renames_whole() {
    let world = SimWorld::new(1, 0);
    let disk = world.env();
    let disk = disk.disk();
    for name in ["/a", "/b", "/c"] {
        disk.open(Path::new(name), OpenMode::CreateNew).unwrap();
    }
    disk.rename(Path::new("/c"), Path::new("/d")).unwrap();
    let names =
        |image: &Image| image.files().map(|path| path.display().to_string()).collect::<Vec<_>>().concat();
    let seen: BTreeSet<String> = world.crash_point().images(0, 0).map(|image| names(&image)).collect();
    // The rename counts as whole also where the creation before it was lost on its own.
    let rest = ["", "/c", "/d"];
    let expected = ["", "/a", "/b", "/a/b"].iter().flat_map(|ab| rest.map(|rest| format!("{ab}{rest}")));
    assert_eq!(seen, expected.collect());
}

#[test]
fn faults_of_calls_change_what_they_say() {
    let world = SimWorld::new(1, 0);
    let env = world.env();
    let file = two_pages(&env);
    let hit = |fault| world.plan_fault(world.operations(), fault);
    hit(Fault::ShortWrite);
    assert!(file.write_all_at(&[7; 8], 0).is_err());
    assert_eq!(bytes_at(&world.image(), &[0, 3, 4]), [7, 7, 0]);
    hit(Fault::WriteError);
    assert!(file.write_all_at(&[8; 8], 0).is_err());
    hit(Fault::NameError);
    assert!(env.disk().rename(Path::new("/f"), Path::new("/g")).is_err());
    hit(Fault::ReadError);
    assert!(file.read_exact_at(&mut [0; 4], 0).is_err());
    world.set_full(true);
    assert_eq!(file.write_all_at(&[9], 0).unwrap_err().io().kind(), std::io::ErrorKind::StorageFull);
    assert_eq!(env.disk().space(Path::new("/")).unwrap().available, 0);
    world.set_full(false);
    assert_eq!(bytes_at(&world.image(), &[0, 3, 4]), [7, 7, 0]);
    assert_eq!(world.faults_hit(), 4);
}

#[test]
fn bit_rot_changes_one_bit_and_the_hash() {
    let world = SimWorld::new(1, 0);
    two_pages(&world.env()).write_all_at(&[1], 4100).unwrap();
    let image = world.image();
    let rotten = image.flip_bit(Path::new("/f"), 4100, 7).unwrap();
    assert_eq!(bytes_at(&rotten, &[4099, 4100, 4101]), [0, 0x81, 0]);
    assert_ne!(rotten.hash(), image.hash());
    assert_eq!(rotten.flip_bit(Path::new("/f"), 4100, 7).unwrap().hash(), image.hash());
    assert!(image.flip_bit(Path::new("/f"), 8192, 0).is_none());
    let booted = rotten.boot(1, world.clock());
    assert_eq!(booted.image().hash(), rotten.hash());
    assert_eq!(booted.crash_point().unsynced(), 0, "an image is durable");
}
