//! Units of queues, of batch queues and of extensions.

use crate::damage::{flipped, truncated};
use crate::values::{POSITION, SIZE, bytes, cases};
use proptest::prelude::*;
use store_logic::batch_consume_queue::format::BatchUnit;
use store_logic::consume_queue::Unit;
use store_logic::consume_queue_ext::format::{ExtPlace, ExtUnit, MAX_UNIT_SIZE, address_of, offset_of};

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn queue_units(phy_offset in POSITION, size in SIZE, tags_code: i64) {
        let unit = Unit { phy_offset, size, tags_code };
        let bytes = unit.encode();
        prop_assert_eq!(Unit::decode(&bytes), Some(unit));
        prop_assert!(truncated(&bytes).all(|cut| Unit::decode(cut).is_none()));
        for (_, damaged) in flipped(&bytes) {
            let read = Unit::decode(&damaged);
            prop_assert!(read.is_none_or(|read| read != unit && read.encode()[..] == damaged));
        }
    }

    #[test]
    fn batch_units(
        places in (POSITION, POSITION), size in SIZE, batch_size in 1..=i16::MAX as u16,
        tags_code: i64, store_timestamp: i64, compacted_offset: i32,
    ) {
        let (phy_offset, base_offset) = places;
        let unit =
            BatchUnit { phy_offset, size, tags_code, store_timestamp, base_offset, batch_size, compacted_offset };
        let bytes = unit.encode();
        prop_assert_eq!(BatchUnit::decode(&bytes), Some(unit));
        prop_assert!(truncated(&bytes).all(|cut| BatchUnit::decode(cut).is_none()));
        for (at, damaged) in flipped(&bytes) {
            // The last four bytes mean nothing.
            let read = BatchUnit::decode(&damaged);
            prop_assert!(read.is_none_or(|read| (read == unit) == (at >= 42)), "byte {}", at);
        }
    }

    #[test]
    fn extension_units(tags_code: i64, store_timestamp: i64, bitmap in bytes(64)) {
        let unit = ExtUnit { tags_code, store_timestamp, bitmap };
        let bytes = unit.encode().unwrap();
        prop_assert_eq!(bytes.len(), unit.size());
        prop_assert_eq!(ExtUnit::decode(&bytes), Some(ExtPlace::Unit(unit.clone())));
        prop_assert!(truncated(&bytes).all(|cut| ExtUnit::decode(cut).is_none()));
        for (_, damaged) in flipped(&bytes) {
            prop_assert_ne!(ExtUnit::decode(&damaged), Some(ExtPlace::Unit(unit.clone())));
        }
    }

    #[test]
    fn any_bytes_are_a_unit_that_is_written_the_same_or_none(bytes in bytes(80)) {
        if let Some(unit) = Unit::decode(&bytes) {
            prop_assert_eq!(&unit.encode()[..], &bytes[..20]);
        }
        if let Some(unit) = BatchUnit::decode(&bytes) {
            prop_assert_eq!(&unit.encode()[..42], &bytes[..42]);
        }
        if let Some(ExtPlace::Unit(unit)) = ExtUnit::decode(&bytes) {
            prop_assert_eq!(&unit.encode().unwrap()[..], &bytes[..unit.size()]);
        }
    }

    #[test]
    fn addresses_of_extension_units(offset in 0..=i64::MAX as u64 - (1 << 31) - 1, tags_code in i64::from(i32::MIN)..) {
        prop_assert_eq!(offset_of(address_of(offset)), Some(offset));
        prop_assert_eq!(offset_of(tags_code), None);
    }
}

#[test]
fn the_largest_extension_unit() {
    let of = |bitmap: usize| ExtUnit { tags_code: 1, store_timestamp: 2, bitmap: vec![7; bitmap] };
    let largest = of(MAX_UNIT_SIZE - 20);
    assert_eq!(ExtUnit::decode(&largest.encode().unwrap()), Some(ExtPlace::Unit(largest)));
    assert_eq!(of(MAX_UNIT_SIZE - 19).encode(), None);
}
