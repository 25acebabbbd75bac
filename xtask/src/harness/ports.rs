//! Free ports on the loopback interface.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

use anyhow::{Result, bail};

/// Below the range that systems hand out to outgoing connections, so that no client takes a port between two
/// starts of the same broker.
const FIRST: u16 = 20_000;
const LAST: u16 = 32_000;

/// Hands out ports that nobody listens on. No port is handed out twice.
pub struct Ports {
    next: AtomicU16,
}

impl Ports {
    /// Begins at a place that depends on the process, so that two runs at once rarely meet.
    pub fn new() -> Self {
        let start = FIRST + (std::process::id() % 1_000) as u16 * 10;
        Ports { next: AtomicU16::new(start) }
    }

    /// A port `N` for a broker: `N - 2` (its second listener), `N` and `N + 1` (replication) are free.
    ///
    /// # Errors
    /// When no such port is left.
    pub fn broker(&self) -> Result<u16> {
        self.block(4).map(|first| first + 2)
    }

    /// A port for a name server.
    ///
    /// # Errors
    /// When no free port is left.
    pub fn name_server(&self) -> Result<u16> {
        self.block(1)
    }

    fn block(&self, length: u16) -> Result<u16> {
        loop {
            let first = self.next.fetch_add(length, Ordering::Relaxed);
            if first + length > LAST {
                bail!("no free port between {FIRST} and {LAST}");
            }
            if (first..first + length).all(is_free) {
                return Ok(first);
            }
        }
    }
}

fn is_free(port: u16) -> bool {
    // A machine without IPv6 has its ports free there.
    [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)].into_iter().all(|ip| {
        match TcpListener::bind((ip, port)) {
            Ok(_) => true,
            Err(error) => ip.is_ipv6() && error.kind() != ErrorKind::AddrInUse,
        }
    })
}
