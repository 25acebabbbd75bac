//! The id that a producer gives to a message.

use std::collections::hash_map::RandomState;
use std::fmt::Write as _;
use std::hash::{BuildHasher as _, Hasher as _};
use std::net::IpAddr;
use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, PoisonError};

use jiff::tz::TimeZone;
use store_core::UnixMillis;

/// Makes ids of the form of Java's clients (`MessageClientIDSetter`), in upper-case hex:
///
/// | bytes | content |
/// |---|---|
/// | 4 or 16 | address of this machine |
/// | 2 | process id |
/// | 4 | a number of this generator; random, so that generators of one process differ |
/// | 4 | milliseconds since the first day of the current month, local time |
/// | 2 | counter |
///
/// Tools read the time back from an id, which is why the month matters; to brokers an id is just text.
#[derive(Debug)]
pub struct UniqueIdGenerator {
    prefix: String,
    zone: TimeZone,
    /// From the start of the month last seen to its end.
    month: Mutex<Range<UnixMillis>>,
    counter: AtomicU16,
}

impl UniqueIdGenerator {
    /// A generator for this process on the machine with the address `ip`.
    #[must_use]
    pub fn for_process(ip: IpAddr) -> Self {
        let generator = RandomState::new().build_hasher().finish() as u32;
        Self::new(ip, std::process::id() as u16, generator, TimeZone::system())
    }

    fn new(ip: IpAddr, process: u16, generator: u32, zone: TimeZone) -> Self {
        let mut prefix = String::new();
        match ip.to_canonical() {
            IpAddr::V4(ip) => push_hex(&mut prefix, &ip.octets()),
            IpAddr::V6(ip) => push_hex(&mut prefix, &ip.octets()),
        }
        push_hex(&mut prefix, &process.to_be_bytes());
        push_hex(&mut prefix, &generator.to_be_bytes());
        Self { prefix, zone, month: Mutex::new(0..0), counter: AtomicU16::new(0) }
    }

    /// The next id, for a message made at `now`.
    #[must_use]
    pub fn next_id(&self, now: UnixMillis) -> String {
        // Reduced modulo 2^32, as in Java, when the clock is far off.
        let since_month = now.wrapping_sub(self.month_start(now)) as u32;
        let counter = self.counter.fetch_add(1, Ordering::Relaxed);
        let mut id = String::with_capacity(self.prefix.len() + 12);
        id.push_str(&self.prefix);
        push_hex(&mut id, &since_month.to_be_bytes());
        push_hex(&mut id, &counter.to_be_bytes());
        id
    }

    fn month_start(&self, now: UnixMillis) -> UnixMillis {
        let mut month = self.month.lock().unwrap_or_else(PoisonError::into_inner);
        if !month.contains(&now) {
            *month = month_around(now, &self.zone).unwrap_or(now..now);
        }
        month.start
    }
}

fn month_around(at: UnixMillis, zone: &TimeZone) -> Option<Range<UnixMillis>> {
    let at = jiff::Timestamp::from_millisecond(at).ok()?.to_zoned_datetime(zone.clone());
    let start = at.first_of_month().ok()?.start_of_day().ok()?;
    let end = at.last_of_month().ok()?.tomorrow().ok()?.start_of_day().ok()?;
    Some(start.timestamp().as_millisecond()..end.timestamp().as_millisecond())
}

fn push_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02X}");
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::UniqueIdGenerator;

    fn generator(ip: &str) -> UniqueIdGenerator {
        UniqueIdGenerator::new(ip.parse().unwrap(), 0x1234, 0xABCD_EF01, TimeZone::UTC)
    }

    fn millis(time: &str) -> i64 {
        time.parse::<jiff::Timestamp>().unwrap().as_millisecond()
    }

    #[test]
    fn consists_of_machine_process_generator_time_and_counter() {
        let ids = generator("192.168.0.1");
        let time = millis("2024-02-02T00:00:01Z");
        assert_eq!(ids.next_id(time), "C0A800011234ABCDEF0105265FE80000");
        assert_eq!(ids.next_id(time + 1), "C0A800011234ABCDEF0105265FE90001");
    }

    #[test]
    fn time_starts_again_with_the_month() {
        let ids = generator("10.0.0.1");
        let time = |id: String| id[20..28].to_owned();
        let month_end = millis("2024-02-29T23:59:59.999Z");
        assert_eq!(time(ids.next_id(month_end)), format!("{:08X}", 29_u32 * 86_400_000 - 1));
        assert_eq!(time(ids.next_id(month_end + 1)), "00000000");
        assert_eq!(time(ids.next_id(month_end)), format!("{:08X}", 29_u32 * 86_400_000 - 1));
    }

    #[test]
    fn ipv6_makes_it_longer_unless_it_is_ipv4() {
        assert_eq!(generator("fe80::1").next_id(0).len(), 56);
        assert_eq!(generator("::ffff:10.0.0.1").next_id(0).len(), 32);
    }

    #[test]
    fn generators_of_one_process_differ() {
        let ip = "10.0.0.1".parse().unwrap();
        let one = UniqueIdGenerator::for_process(ip).next_id(0);
        assert_ne!(one, UniqueIdGenerator::for_process(ip).next_id(0));
    }

    #[test]
    fn the_counter_wraps() {
        let ids = generator("10.0.0.1");
        let last = (0..=0x1_0000).map(|_| ids.next_id(0)).last().unwrap();
        assert!(last.ends_with("0000"), "{last}");
    }
}
