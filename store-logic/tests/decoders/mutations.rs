//! Seeds, and what becomes of them by flips, cuts, repeats and mixtures. An input that breaks its target is printed.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Changes the inputs of every run; printed with a failure.
const SEED: u64 = 20_260_301;

/// Numbers that lengths and counts are often wrong by.
const INTERESTING: [u8; 6] = [0, 1, 0x7F, 0x80, 0xFE, 0xFF];

struct Random(u64);

impl Random {
    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Runs `target` over the seeds and `mutated` inputs made of them; returns how many there were.
pub fn run(target: fn(&[u8]), seeds: &[Vec<u8>], mutated: usize) -> usize {
    assert!(!seeds.is_empty(), "no seeds");
    let mut random = Random(SEED);
    for seed in seeds {
        try_input(target, seed);
    }
    for _ in 0..mutated {
        let mut input = seeds[random.below(seeds.len())].clone();
        for _ in 0..=random.below(4) {
            mutate(&mut input, seeds, &mut random);
        }
        try_input(target, &input);
    }
    seeds.len() + mutated
}

fn try_input(target: fn(&[u8]), input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(input))) {
        eprintln!("seed {SEED}, input of {} bytes: {input:02x?}", input.len());
        resume_unwind(panic);
    }
}

fn mutate(input: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let at = random.below(input.len());
    match random.below(6) {
        0 if !input.is_empty() => input[at] ^= 1 << random.below(8),
        1 if !input.is_empty() => input[at] = INTERESTING[random.below(INTERESTING.len())],
        2 => input.truncate(at),
        3 => input.insert(at, random.next() as u8),
        4 => {
            let end = (at + random.below(32)).min(input.len());
            let piece = input[at..end].to_vec();
            input.splice(at..at, piece);
        }
        _ => {
            let other = &seeds[random.below(seeds.len())];
            let from = random.below(other.len());
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
    }
}
