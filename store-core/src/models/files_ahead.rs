//! Log files made ahead of need.

use crate::service::{ServiceThread, wakeup};
use crate::services::allocate_mapped_file_service::{Preparation, allocate_mapped_file_service};
use std::path::Path;
use store_logic::model_sync::{explore, join, spawn};
use store_logic::sim::SimWorld;
use store_logic::{AccessPolicy, Env, FileRequest, FileSupplier, ReservePolicy};

const SIZE: u64 = 4096;

fn request(from: u64) -> FileRequest {
    FileRequest {
        directories: Path::new("/log").into(),
        from,
        size: SIZE,
        reserve: ReservePolicy::Whole,
        access: AccessPolicy::default(),
    }
}

fn names(env: &Env) -> Vec<String> {
    env.disk().read_dir(Path::new("/log")).unwrap().into_iter().map(|entry| entry.name).collect()
}

/// Whoever needs a file gets the right one, once, whether the worker is ahead, behind, or stops meanwhile; what nobody took
/// is deleted at the end. Broken by: a wake-up before the request, a worker that ends without closing.
#[test]
fn each_file_is_handed_over_once() {
    explore("each_file_is_handed_over_once", Some(2), || {
        let world = SimWorld::new(1, 1_700_000_000_000);
        let env = world.env();
        env.disk().create_dir_all(Path::new("/log")).unwrap();
        let wakeup = wakeup();
        let preparation = Preparation { ahead: true, ..Preparation::default() };
        let (supplier, service) = allocate_mapped_file_service(&env, preparation, wakeup.0.clone());
        let worker =
            ServiceThread::spawn(Box::new(service), wakeup, |name| panic!("{name} panicked")).unwrap();
        let stopping = {
            let world = world.clone();
            let supplier = crate::sync::Arc::clone(&supplier);
            spawn(move || {
                let env = world.env();
                for from in [0, SIZE] {
                    let file = supplier.supply(&env, &request(from)).unwrap();
                    assert_eq!(file.file_from_offset(), from);
                }
            })
        };
        worker.stop();
        join(stopping);
        supplier.discard_unused(&env).unwrap();
        assert_eq!(names(&env), ["00000000000000000000", "00000000000000004096"]);
    });
}

/// Whoever waits for a file being made is told when it is there. Broken by: a worker that makes it and tells nobody.
#[test]
fn a_waiting_taker_is_told() {
    explore("a_waiting_taker_is_told", Some(2), || {
        let world = SimWorld::new(1, 1_700_000_000_000);
        let env = world.env();
        env.disk().create_dir_all(Path::new("/log")).unwrap();
        let wakeup = wakeup();
        let preparation = Preparation { ahead: true, ..Preparation::default() };
        let (supplier, service) = allocate_mapped_file_service(&env, preparation, wakeup.0.clone());
        let worker =
            ServiceThread::spawn(Box::new(service), wakeup, |name| panic!("{name} panicked")).unwrap();
        for from in [0, SIZE] {
            supplier.supply(&env, &request(from)).unwrap();
        }
        worker.stop();
    });
}
