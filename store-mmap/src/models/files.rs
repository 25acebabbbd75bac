//! The durable mark: flushes against appends and cuts.

use super::{explore, file, join, spawn};
use crate::sync::Arc;
use std::path::Path;
use store_disk_tools::{Env, OpenMode};

fn content(env: &Env, path: &Path, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    let file = env.disk().open(path, OpenMode::Read).unwrap();
    file.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

/// The durable mark never runs ahead of the published one, and what it covers is on the disk. Broken by: a mark read after
/// the sync instead of before.
#[test]
fn the_durable_mark_vouches_for_what_is_on_disk() {
    explore("the_durable_mark_vouches_for_what_is_on_disk", None, || {
        let (world, file) = file(8);
        let writer = {
            let file = Arc::clone(&file);
            spawn(move || {
                file.append(&[1; 4]).unwrap();
                file.append(&[2; 4]).unwrap();
            })
        };
        let durable = file.flush(0).unwrap() as usize;
        assert!(durable as u64 <= file.wrote_position());
        let left = content(&world.restart_after_power_cut().env(), file.path(), 8);
        assert_eq!(left[..durable], [1, 1, 1, 1, 2, 2, 2, 2][..durable]);
        join(writer);
    });
}

/// A sync that began before a cut does not vouch for what is written after it. Broken by: a flush without the lock that a
/// cut takes.
#[test]
fn a_flush_does_not_outlive_a_cut() {
    explore("a_flush_does_not_outlive_a_cut", Some(3), || {
        let (world, file) = file(8);
        file.append(&[1; 8]).unwrap();
        let flusher = {
            let file = Arc::clone(&file);
            spawn(move || {
                file.flush(0).unwrap();
            })
        };
        file.truncate(2).unwrap();
        file.append(&[2; 4]).unwrap();
        join(flusher);
        let durable = file.flushed_position() as usize;
        assert!(durable as u64 <= file.wrote_position());
        let left = content(&world.restart_after_power_cut().env(), file.path(), 8);
        assert_eq!(left[..durable], [1, 1, 2, 2, 2, 2][..durable]);
    });
}
