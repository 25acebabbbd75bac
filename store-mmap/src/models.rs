//! Models for `loom`: each runs a few threads against the production code in every order that matters, weak memory
//! included. Run by `cargo xtask models`; without `--cfg loom` nothing here is compiled.

mod files;
mod marks;
mod queue;

use crate::model_sync::{explore, join, spawn};
use crate::sync::Arc;
use crate::{MappedFile, ReservePolicy};
use std::path::Path;
use store_disk_tools::sim::SimWorld;

/// Epoch milliseconds at which the simulated world begins.
const NOW: i64 = 1_700_000_000_000;

/// An empty file of `size` bytes on a disk of its own.
fn file(size: u64) -> (SimWorld, Arc<MappedFile>) {
    let world = SimWorld::new(1, NOW);
    let env = world.env();
    env.disk().create_dir_all(Path::new("/d")).unwrap();
    let path = Path::new("/d/00000000000000000000");
    let file = MappedFile::create(&env, path, 0, size, ReservePolicy::Whole).unwrap();
    (world, Arc::new(file))
}
