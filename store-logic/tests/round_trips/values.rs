//! Values that several codecs hold.

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::net::{IpAddr, SocketAddr};

/// Positions and queue offsets: Java has no unsigned numbers.
pub const POSITION: std::ops::RangeInclusive<u64> = 0..=i64::MAX as u64;
/// Sizes of records.
pub const SIZE: std::ops::RangeInclusive<u32> = 1..=i32::MAX as u32;

/// So many cases of each property.
pub fn cases(cases: u32) -> ProptestConfig {
    let kept = FileFailurePersistence::WithSource("regressions");
    ProptestConfig { cases, failure_persistence: Some(Box::new(kept)), ..ProptestConfig::default() }
}

/// IPv4 or IPv6, but no IPv4 address inside an IPv6 one: that is written as IPv4.
pub fn host() -> impl Strategy<Value = SocketAddr> {
    let ip = prop_oneof![
        any::<[u8; 4]>().prop_map(IpAddr::from),
        any::<[u8; 16]>().prop_map(|bytes| IpAddr::from(bytes).to_canonical()),
    ];
    (ip, any::<u16>()).prop_map(|(ip, port)| SocketAddr::new(ip, port))
}

/// Any bytes, fewer than `limit`.
pub fn bytes(limit: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..limit)
}
