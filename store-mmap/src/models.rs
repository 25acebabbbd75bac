//! Models for `loom`: each runs a few threads against the production code in every order that matters, weak memory
//! included. Run by `cargo xtask models`; without `--cfg loom` nothing here is compiled.

mod files;
mod marks;
mod queue;

use crate::sync::Arc;
use crate::{MappedFile, ReservePolicy};
use std::path::Path;
use store_disk_tools::sim::SimWorld;

/// Words of a thread's stack; loom's own measure is too small for the simulated disk.
const STACK_WORDS: usize = 0x20_000;
/// Epoch milliseconds at which the simulated world begins.
const NOW: i64 = 1_700_000_000_000;

/// Runs `body` in every order and prints how many there were. `preemptions` bounds how often a thread may be interrupted
/// where it need not be; `None` for no bound.
fn explore(name: &str, preemptions: Option<usize>, body: impl Fn() + Send + Sync + 'static) {
    let orders = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let counted = std::sync::Arc::clone(&orders);
    let body = std::sync::Arc::new(body);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(preemptions);
    builder.check(move || {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let body = std::sync::Arc::clone(&body);
        join(spawn(move || body()));
    });
    let bound = preemptions.map_or_else(|| "all".to_owned(), |most| format!("up to {most} preemptions"));
    println!("model {name}: {} orders ({bound})", orders.load(std::sync::atomic::Ordering::Relaxed));
}

type Thread = loom::thread::JoinHandle<()>;

fn spawn(run: impl FnOnce() + Send + 'static) -> Thread {
    let thread = loom::thread::Builder::new().stack_size(STACK_WORDS).spawn(run);
    thread.expect("loom gives every thread")
}

fn join(thread: Thread) {
    thread.join().expect("no thread of the model panics");
}

/// An empty file of `size` bytes on a disk of its own.
fn file(size: u64) -> (SimWorld, Arc<MappedFile>) {
    let world = SimWorld::new(1, NOW);
    let env = world.env();
    env.disk().create_dir_all(Path::new("/d")).unwrap();
    let path = Path::new("/d/00000000000000000000");
    let file = MappedFile::create(&env, path, 0, size, ReservePolicy::Whole).unwrap();
    (world, Arc::new(file))
}
