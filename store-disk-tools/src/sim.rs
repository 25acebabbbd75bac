//! A simulated world: a disk that keeps what was written and what is durable apart, a clock that stands still, and
//! numbers from a seed. A seed replays a run.
//!
//! What this disk may do, and nothing else:
//!
//! * **names**: creations, renames and deletions are durable once their directory was synced. At a power cut those not
//!   yet synced have happened up to some point in their order, as on a file system with a journal, or each on its own, as
//!   on one without; a rename happens as a whole;
//! * **content**: a page of 4 KiB may be written back at any moment after it changed, by a call or through a mapping. So
//!   after a power cut each page is, independently of all others, as it was when it was last synced, or as it was when
//!   one of the later operations began, or torn: each sector of 512 bytes from one of these, and one sector may hold one
//!   up to some multiple of 8 bytes and the other behind it (cells of mapped files reach memory whole);
//! * **length**: any length the file had since its last sync;
//! * **a failed sync** ([`Fault::SyncError`]): the pages count as clean afterwards, so that a later sync reports success
//!   without having written them, as Linux does;
//! * **a full disk**: one call ([`Fault::NoSpace`]) or all of them ([`SimWorld::set_full`]) that need space fail and
//!   change nothing;
//! * **failed calls**: [`Fault::WriteError`], [`Fault::NameError`] and [`Fault::ReadError`] change nothing,
//!   [`Fault::ShortWrite`] leaves the first half of the bytes;
//! * **the power cut** ([`SimWorld::cut_power_at`]): at one operation everything stops; later calls fail;
//! * **bit rot** ([`Image::flip_bit`]): a durable byte changes.
//!
//! A run need not be repeated for every cut. A world that [records](SimWorld::record) keeps a [`CrashPoint`] for every
//! operation: each yields as many [`Image`]s (what a power cut there may leave) as are asked for, equal ones have equal
//! [hashes](Image::hash), and an image [boots](Image::boot) as a world of its own.

mod clock;
mod content;
mod crash_point;
mod disk;
mod faults;
mod image;
mod memory;
mod names;
mod page;
mod random;
mod world;

pub use clock::SimClock;
pub use crash_point::CrashPoint;
pub use faults::Fault;
pub use image::Image;
pub use memory::SimMapping;
pub use random::SimRandom;
pub use world::SimWorld;

#[cfg(test)]
mod tests;
