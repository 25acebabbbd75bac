//! A simulated world: a disk that keeps what was written and what is durable apart, a clock that stands still, and
//! numbers from a seed. A seed replays a run.
//!
//! What this disk may do, and nothing else:
//!
//! * **names**: creations, renames and deletions are durable once their directory was synced; at a power cut those not
//!   yet synced have happened up to some point in their order;
//! * **content**: pages of 4 KiB written since the last sync, by calls or through a mapping, are each old, new, or torn
//!   between sectors of 512 bytes; a file's length is old or new;
//! * **a failed sync** ([`Fault::SyncError`]): the pages count as clean afterwards, so that a later sync reports success
//!   without having written them, as Linux does;
//! * **a full disk** ([`Fault::NoSpace`]), **a failed write** ([`Fault::WriteError`]) and **a failed rename, deletion or
//!   sync of a directory** ([`Fault::NameError`]): the call changes nothing;
//! * **the power cut** ([`SimWorld::cut_power_at`]): at one operation everything stops; later calls fail.

mod clock;
mod content;
mod disk;
mod faults;
mod memory;
mod names;
mod random;

pub use clock::SimClock;
pub use disk::SimWorld;
pub use faults::Fault;
pub use memory::SimMapping;

#[cfg(test)]
mod tests;
