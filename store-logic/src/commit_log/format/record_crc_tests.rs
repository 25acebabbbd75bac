//! The CRC of whole records, against bytes made by Apache's classes, and its odd values.
#![allow(non_snake_case, reason = "tests of field cases carry the case's number")]

use super::tests::{hex, message};
use super::*;
use crate::bytes::crc32;
use crate::message::{Message, properties};

/// The record of `hello world` with the CRC at its end (RocketMQ 5.3.4-SNAPSHOT).
const WITH_CRC: &str = "00000095daa320a70d4a1185000000010000000700000000000000000000000000000000000000000000018bcfe5687b0a01\
020300003039000001a22d5c3b760a09080700002a9f0000000200000000000000000000000b68656c6c6f20776f726c6406\
546f7069634100294b455953016b31206b3202544147530154616741025f5f435243333223013234363532333030383102";
/// The first element of a client's batch with the CRC.
const BATCH_ELEMENT: &str = "00000089daa320a730cb2b76000000010000000000000000000000010000000000000095000000000000018bcfe5687b0a01\
020300003039000001a22d5c3c150a09080700002a9f00000000000000000000000000000002623006546f70696341002657\
41495401747275650254414753015430025f5f435243333223013531353537373330323002";

fn encode_with_crc(message: &Message<'_>, queue_offset: u64, phy_offset: u64, golden: &[u8]) -> Vec<u8> {
    let place = RecordPlace { queue_offset, phy_offset, store_timestamp: store_timestamp(golden).unwrap() };
    encode_whole(message, 1 << 20, true, &place).unwrap()
}

fn check(record: &[u8]) -> Result<(), Fault> {
    decode_checked(record, Checksum::Record).map(|_| ())
}

#[test]
fn bytes_are_javas() {
    let golden = hex(WITH_CRC);
    let properties = "KEYS\u{1}k1 k2\u{2}TAGS\u{1}TagA\u{2}";
    assert_eq!(encode_with_crc(&message(b"hello world", properties), 0, 0, &golden), golden);
    let bare = properties.trim_end_matches('\u{2}');
    assert_eq!(
        encode_with_crc(&message(b"hello world", bare), 0, 0, &golden),
        golden,
        "the separator is added"
    );
    check(&golden).unwrap();

    let golden = hex(BATCH_ELEMENT);
    let properties = "WAIT\u{1}true\u{2}TAGS\u{1}T0\u{2}";
    let element = Message { flag: 0, reconsume_times: 0, ..message(b"b0", properties) };
    assert_eq!(encode_with_crc(&element, 1, 149, &golden), golden);
    assert_eq!(record_crc::encode(222_957_957), *b"__CRC32#\x017597592220\x02");
}

#[test]
fn properties_of_a_client_that_end_in_a_zero_byte_are_not_taken_for_a_torn_end() {
    let place = RecordPlace { queue_offset: 0, phy_offset: 0, store_timestamp: 0 };
    let record = encode_whole(&message(b"b", "a\u{1}\0"), 1 << 20, false, &place).unwrap();
    assert_eq!(record.last(), Some(&2), "the separator is added");
    check(&record).unwrap();
    let mut torn = record;
    *torn.last_mut().unwrap() = 0;
    assert!(check(&torn).is_err());
}

#[test]
fn every_flipped_bit_is_noticed() {
    let golden = hex(WITH_CRC);
    let name_at = golden.len() - record_crc::LEN;
    for bit in 0..golden.len() * 8 {
        let mut bytes = golden.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        // The name and the separators of the property itself: it is another property then, or none.
        let is_frame = (name_at..name_at + 9).contains(&(bit / 8)) || bit / 8 == golden.len() - 1;
        assert!(check(&bytes).is_err() || is_frame, "bit {bit}");
    }
}

#[test]
fn a_record_without_it_must_not_end_in_zeros() {
    let place = RecordPlace { queue_offset: 0, phy_offset: 0, store_timestamp: 1 };
    let record = encode_whole(&message(b"b", "KEYS\u{1}k\u{2}"), 10, false, &place).unwrap();
    check(&record).unwrap();
    for lost in 1..=7 {
        let mut torn = record.clone();
        let begin = torn.len() - lost;
        torn[begin..].fill(0);
        assert!(matches!(check(&torn), Err(Fault::Field { field: "properties", .. })), "{lost}");
        assert!(decode(&torn, true).is_ok(), "the body's CRC does not see it");
    }
    let mut damaged = record.clone();
    damaged[88] ^= 1;
    assert!(matches!(check(&damaged), Err(Fault::BodyCrc { .. })), "the body is checked all the same");
}

#[test]
fn late_properties_stand_before_it() {
    let place = RecordPlace { queue_offset: 3, phy_offset: 77, store_timestamp: 1 };
    let tail = PropertyTail { late: true, record_crc: true };
    let mut encoded = Vec::new();
    let layout = encode(&message(b"b", "KEYS\u{1}k"), 10, tail, &mut encoded).unwrap();
    let late = b"L\x01v\x02";
    let mut record = vec![0; layout.total_size(late.len())];
    layout.place(&mut encoded, late, &place, &mut record);
    check(&record).unwrap();
    let Ok(Decoded::Record(view)) = decode(&record, true) else { panic!("no record") };
    assert!(view.properties.starts_with("KEYS\u{1}k\u{2}L\u{1}v\u{2}__CRC32#\u{1}"), "{:?}", view.properties);
    assert_eq!((view.queue_offset, view.physical_offset), (3, 77));
    // 6 bytes, the separator they lacked, and the CRC.
    let room = properties::MAX_LEN - 27;
    assert_eq!(layout.check_late(room), Ok(()));
    assert_eq!(layout.check_late(room + 1), Err(EncodeError::PropertiesTooLong { found: 32_768 }));
}

/// The flag that gives a record the CRC `wanted`: a CRC is linear in its 32 bits.
fn flag_for_crc(record: &[u8], wanted: u32) -> i32 {
    const FLAG_AT: usize = 16;
    let crc_with = |flag: u32| {
        let mut bytes = record[..record.len() - record_crc::LEN].to_vec();
        bytes[FLAG_AT..FLAG_AT + 4].copy_from_slice(&flag.to_be_bytes());
        crc32fast::hash(&bytes)
    };
    let zero = crc_with(0);
    // Columns of the linear map, reduced to one leading bit each.
    let mut rows: Vec<(u32, u32)> = (0..32).map(|bit| (crc_with(1 << bit) ^ zero, 1 << bit)).collect();
    let (mut target, mut flag) = (zero ^ wanted, 0);
    for bit in (0..32).rev() {
        let Some(at) = rows.iter().position(|row| row.0 >> bit & 1 == 1) else { continue };
        let row = rows.swap_remove(at);
        for other in rows.iter_mut().filter(|other| other.0 >> bit & 1 == 1) {
            *other = (other.0 ^ row.0, other.1 ^ row.1);
        }
        if target >> bit & 1 == 1 {
            (target, flag) = (target ^ row.0, flag ^ row.1);
        }
    }
    assert_eq!(target, 0, "a CRC of 32 bits is one to one in them");
    flag as i32
}

#[test]
fn field_F12_a_checksum_of_zero_is_a_checksum() {
    assert_eq!(crc32(&[0x9D, 0x0A, 0xD9, 0x6D]), 0);
    assert_eq!(crc32(&[0xFF; 4]), 0x7FFF_FFFF, "the top bit is cleared");
    let place = RecordPlace { queue_offset: 0, phy_offset: 0, store_timestamp: 1_700_000_000_000 };
    let zero_body = message(&[0x9D, 0x0A, 0xD9, 0x6D], "KEYS\u{1}k\u{2}");
    let record = encode_whole(&zero_body, 10, true, &place).unwrap();
    let flag = flag_for_crc(&record, 0);
    let record = encode_whole(&Message { flag, ..zero_body }, 10, true, &place).unwrap();
    assert_eq!(record_crc::stored(&record), Some(&b"0000000000"[..]));
    assert_eq!(record[8..12], [0; 4], "body CRC");
    check(&record).unwrap();
    decode(&record, true).unwrap();
    for bit in 0..32 {
        let mut damaged = record.clone();
        damaged[88 + bit / 8] ^= 1 << (bit % 8);
        assert!(matches!(check(&damaged), Err(Fault::RecordCrc { .. })), "bit {bit}");
        assert!(matches!(decode(&damaged, true), Err(Fault::BodyCrc { expected: 0, .. })), "bit {bit}");
    }
}
