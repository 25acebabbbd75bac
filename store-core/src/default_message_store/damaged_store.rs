//! A small store on the simulated disk, with every single bit of it flipped in turn, and cut at every byte.
//!
//! What must hold: opening never panics; a body that is served is one that was put at that place; damage below what was
//! known to be durable ends the start and changes nothing; above it, the log is cut there.

mod flips;
mod small_store;
mod truncations;
