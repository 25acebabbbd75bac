//! What the commands that exercise a broker share: its program, processes, ports, requests, and the lines of a report.

pub mod broker_program;
pub mod ports;
pub mod probe;
pub mod process;
pub mod remoting;
pub mod report;
pub mod run_directory;
pub mod server;

use std::time::{SystemTime, UNIX_EPOCH};

/// A seed for a run that was given none.
pub fn clock_seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs())
}
