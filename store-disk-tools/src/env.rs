//! The only door to the outside: files, time, randomness.

mod clock;
mod disk;
mod entropy;

pub use clock::{Clock, Monotonic, SystemClock, UnixMillis, local_hour};
pub use disk::{DirEntry, Disk, DiskFile, FileKind, FileStat, Mappable, OpenMode, Space};
pub use entropy::{Entropy, SystemEntropy};

use crate::os::OsDisk;
use std::fmt;
use std::sync::Arc;

/// Files, time and randomness of one world. Cheap to clone.
#[derive(Clone)]
pub struct Env {
    disk: Arc<dyn Disk>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl Env {
    /// The real world: the operating system's files, clock and random numbers.
    pub fn os() -> Self {
        Self::new(Arc::new(OsDisk), Arc::new(SystemClock::new()), Arc::new(SystemEntropy))
    }

    /// A world made of the given parts.
    pub fn new(disk: Arc<dyn Disk>, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self { disk, clock, entropy }
    }

    /// The same world with another clock.
    pub fn with_clock(&self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self.clone() }
    }

    /// Files and directories.
    pub fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    /// Time.
    pub fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// Milliseconds since the epoch, now.
    pub fn now_millis(&self) -> UnixMillis {
        self.clock.now_millis()
    }

    /// A random number.
    pub fn random_u64(&self) -> u64 {
        self.entropy.next_u64()
    }
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Env").finish_non_exhaustive()
    }
}
