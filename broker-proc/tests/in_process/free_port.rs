use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

/// Ports below those that systems give to outgoing connections.
const FIRST: u16 = 12_000;
/// Main ports are this far apart: each has its fast port two below and its replication port one above.
const STEP: u16 = 4;
const COUNT: u16 = 5000;

/// A port on which, like two below it, nobody listened a moment ago; never the same twice in a process.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Test programs that run at the same time begin at different places.
    let first = u16::try_from(std::process::id().wrapping_mul(97) % u32::from(COUNT)).unwrap();
    for _ in 0..COUNT {
        let place = (first + NEXT.fetch_add(1, Ordering::Relaxed)) % COUNT;
        let port = FIRST + place * STEP;
        if is_free(port) && is_free(port - 2) {
            return port;
        }
    }
    panic!("no free port from {FIRST} on");
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}
