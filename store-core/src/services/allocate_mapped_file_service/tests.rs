use super::*;
use crate::service::wakeup;
use std::path::Path;
use store_logic::sim::{Fault, SimWorld};
use store_logic::{AccessPolicy, FileSupplier, ReservePolicy};

fn request(directory: &Path, from: u64) -> FileRequest {
    FileRequest {
        directories: directory.into(),
        from,
        size: 4096,
        reserve: ReservePolicy::Whole,
        access: AccessPolicy::ReadAhead,
    }
}

/// Does what the worker's thread would until it rests.
fn work(service: &mut AllocateMappedFileService) {
    while service.step() == Step::Again {}
}

#[test]
fn the_next_files_are_there_before_they_are_needed_and_go_unused() {
    let dir = tempfile::tempdir().unwrap();
    let env = Env::os();
    let preparation = Preparation { ahead: true, warm_up: true, ..Preparation::default() };
    let (supplier, mut service) = allocate_mapped_file_service(&env, preparation, wakeup().0);
    let exists = |from| request(dir.path(), from).path().exists();
    supplier.supply(&env, &request(dir.path(), 0)).unwrap();
    assert!(!exists(4096));
    work(&mut service);
    assert!(exists(4096) && exists(8192) && !exists(12_288), "the next and the next but one");
    supplier.supply(&env, &request(dir.path(), 4096)).unwrap();
    work(&mut service);
    assert!(exists(12_288));
    supplier.discard_unused(&env).unwrap();
    assert!(exists(4096) && !exists(8192) && !exists(12_288));
}

#[test]
fn behind_a_file_that_could_not_be_made_none_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let env = Env::os();
    let preparation = Preparation { ahead: true, ..Preparation::default() };
    let (supplier, mut service) = allocate_mapped_file_service(&env, preparation, wakeup().0);
    let path = |from| request(dir.path(), from).path();
    // In the way of the next file.
    std::fs::create_dir(path(4096)).unwrap();
    supplier.supply(&env, &request(dir.path(), 0)).unwrap();
    work(&mut service);
    assert!(!path(8192).exists());
    std::fs::remove_dir(path(4096)).unwrap();
    supplier.supply(&env, &request(dir.path(), 4096)).unwrap();
    work(&mut service);
    assert!(path(8192).exists() && path(12_288).exists());
}

#[test]
fn when_unused_files_cannot_be_deleted_no_gap_is_left() {
    for failing in 1..=4 {
        let world = SimWorld::new(1, 0);
        let env = world.env();
        let preparation = Preparation { ahead: true, ..Preparation::default() };
        let (supplier, mut service) = allocate_mapped_file_service(&env, preparation, wakeup().0);
        supplier.supply(&env, &request(Path::new("/log"), 0)).unwrap();
        work(&mut service);
        // Deletion and sync of one file, then of the other.
        world.plan_fault(world.operations() + failing, Fault::NameError);
        supplier.discard_unused(&env).unwrap_err();
        let exists = |from| env.disk().stat(&request(Path::new("/log"), from).path()).unwrap().is_some();
        assert!(exists(4096) || !exists(8192), "operation {failing} fails");
    }
}

#[test]
fn without_a_worker_files_come_on_demand() {
    let dir = tempfile::tempdir().unwrap();
    let env = Env::os();
    let preparation = Preparation { ahead: true, ..Preparation::default() };
    let (supplier, service) = allocate_mapped_file_service(&env, preparation, wakeup().0);
    drop(service);
    for from in [0, 4096, 8192] {
        supplier.supply(&env, &request(dir.path(), from)).unwrap();
    }
    supplier.discard_unused(&env).unwrap();
}

#[test]
fn field_F94_a_file_can_be_taken_before_it_is_warm() {
    let world = SimWorld::new(1, 0);
    let env = world.env();
    let preparation =
        Preparation { ahead: true, warm_up: true, flush_every_pages: Some(1), ..Preparation::default() };
    let (supplier, mut service) = allocate_mapped_file_service(&env, preparation, wakeup().0);
    let directory = Path::new("/log");
    supplier.supply(&env, &request(directory, 0)).unwrap();
    // The second is made: no step has warmed anything up.
    while service.shared.ready(4096).is_none() {
        assert_eq!(service.step(), Step::Again);
    }
    let file = supplier.supply(&env, &request(directory, 4096)).unwrap();
    file.append(b"stored").unwrap();
    assert_eq!(service.warm_ups.len(), 1, "the second is still to be warmed up");
    work(&mut service);
    assert_eq!(&*file.slice(0, 6).unwrap(), b"stored");
    file.append_with(4090, |rest| assert!(rest.iter().all(|byte| *byte == 0))).unwrap();
}

#[test]
fn field_F94_only_the_active_and_the_next_file_are_locked() {
    let dir = tempfile::tempdir().unwrap();
    let env = Env::os();
    let preparation = Preparation { ahead: true, warm_up: true, ..Preparation::default() };
    let (supplier, mut service) = allocate_mapped_file_service(&env, preparation, wakeup().0);
    // Whatever this machine allows: 4 KiB are allowed nearly everywhere, and a refusal is tested below.
    for number in 0..10 {
        supplier.supply(&env, &request(dir.path(), number * 4096)).unwrap();
        work(&mut service);
        let locked = service.locks.offsets();
        let expected = if locked.is_empty() { vec![] } else { vec![number * 4096, (number + 1) * 4096] };
        assert_eq!(locked, expected);
    }
}

#[test]
fn field_F94_files_that_cannot_be_locked_work_unlocked() {
    use std::sync::atomic::{AtomicU32, Ordering};
    static ASKED: AtomicU32 = AtomicU32::new(0);
    let world = SimWorld::new(1, 0);
    let env = world.env();
    let preparation = Preparation { ahead: true, warm_up: true, ..Preparation::default() };
    let (supplier, mut service) = allocate_mapped_file_service(&env, preparation, wakeup().0);
    service.locks = PageLocks::new(|_| {
        ASKED.fetch_add(1, Ordering::SeqCst);
        Err("limit of locked memory".to_owned())
    });
    for number in 0..5 {
        let file = supplier.supply(&env, &request(Path::new("/log"), number * 4096)).unwrap();
        work(&mut service);
        file.append(b"stored").unwrap();
    }
    assert_eq!(ASKED.load(Ordering::SeqCst), 1, "refused once, told once, not asked again");
}

#[test]
fn field_F95_a_failed_file_is_made_anew_and_a_waiting_put_gets_the_one_under_way() {
    let world = SimWorld::new(1, 0);
    let env = world.env();
    let preparation = Preparation { ahead: true, ..Preparation::default() };
    let (supplier, mut service) = allocate_mapped_file_service(&env, preparation, wakeup().0);
    let directory = Path::new("/log");
    env.disk().create_dir_all(directory).unwrap();
    world.plan_fault(world.operations() + 1, Fault::NoSpace);
    assert!(supplier.supply(&env, &request(directory, 0)).unwrap_err().is_no_space());
    let first = supplier.supply(&env, &request(directory, 0)).expect("no flag stays");
    world.plan_fault(world.operations() + 1, Fault::NoSpace);
    work(&mut service);
    assert!(service.shared.ready(4096).is_none(), "the first file ahead failed");
    let second = supplier.supply(&env, &request(directory, 4096)).expect("made on the spot");
    assert_eq!((first.file_from_offset(), second.file_from_offset()), (0, 4096));
    work(&mut service);

    // Two are there; the next one is being made while somebody waits for it.
    for from in [8192, 12_288] {
        supplier.supply(&env, &request(directory, from)).unwrap();
    }
    let taken = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| supplier.supply(&env, &request(directory, 16_384)).unwrap());
        work(&mut service);
        waiting.join().unwrap()
    });
    assert_eq!(taken.file_from_offset(), 16_384);
    work(&mut service);
    supplier.discard_unused(&env).unwrap();
    assert_eq!(env.disk().read_dir(directory).unwrap().len(), 5, "one file of each name");
}
