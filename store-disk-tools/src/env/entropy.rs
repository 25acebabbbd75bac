use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// Where a store gets its random numbers from (queue choice, identifiers; nothing secret).
pub trait Entropy: Send + Sync {
    /// The next number.
    fn next_u64(&self) -> u64;
}

/// Random numbers seeded by the operating system.
#[derive(Debug)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn next_u64(&self) -> u64 {
        // Each `RandomState` carries keys drawn from the operating system.
        RandomState::new().build_hasher().finish()
    }
}
