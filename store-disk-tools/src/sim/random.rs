use crate::env::Entropy;
use std::sync::Mutex;
use std::sync::PoisonError;

/// Numbers from a seed (SplitMix64).
#[derive(Debug, Clone)]
pub struct SimRandom(u64);

impl SimRandom {
    /// The same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    ///
    /// # Panics
    ///
    /// If `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next_number() % bound as u64) as usize
    }

    /// True in `of` out of `among` cases.
    pub fn happens(&mut self, of: usize, among: usize) -> bool {
        self.below(among) < of
    }
}

/// The world's numbers as the store asks for them.
#[derive(Debug)]
pub(super) struct SimEntropy(Mutex<SimRandom>);

impl SimEntropy {
    pub(super) fn new(seed: u64) -> Self {
        Self(Mutex::new(SimRandom::new(seed)))
    }
}

impl Entropy for SimEntropy {
    fn next_u64(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).next_number()
    }
}
