//! A whole broker in this process, and clients that talk to it over sockets.
#![allow(dead_code, unused_imports, reason = "every test program uses a part of this")]

mod free_port;
mod noise;
mod raw_client;
pub mod requests;
mod skipping_clock;
mod stored_message;
mod test_broker;
mod test_client;

pub use free_port::free_port;
pub use noise::Noise;
pub use raw_client::RawClient;
pub use skipping_clock::SkippingClock;
pub use stored_message::{StoredMessage, stored_messages};
pub use test_broker::TestBroker;
pub use test_client::{TestClient, pulled};

use std::time::Duration;

/// Ample time for everything that is awaited; passing it is a failure.
pub const LONG: Duration = Duration::from_secs(30);

/// Waits until `holds`; what does not come about within [`LONG`] fails the test as `what`.
pub async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = tokio::time::Instant::now() + LONG;
    while !holds() {
        assert!(tokio::time::Instant::now() < deadline, "in vain waited for: {what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
