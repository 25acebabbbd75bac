//! Against bytes made by Apache's own classes (RocketMQ 5.3.4-SNAPSHOT), chapter by chapter of the format.

use super::*;
use crate::message::{Message, properties};

pub(super) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().map(|byte| (byte as char).to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|pair| pair[0] * 16 + pair[1]).collect()
}

const V1: &str = "00000081daa320a70d4a118500000001000000070000000000000000000000000000000000000000000001\
8bcfe5687b0a01020300003039000001a22d5aff190a09080700002a9f0000000200000000000000000000000b68656c6c6f20776f726c6406\
546f7069634100154b455953016b31206b320254414753015461674102";
const V6_BORN_HOST: &str = "0000006fdaa320a777065916000000010000000700000000000000010000000000000081000000100000\
018bcfe5687b20010db800000000000000000000000100000050000001a22d5afffe0a09080700002a9f000000020000000000000000000000\
02763606546f706963410000";
const PREPARED: &str = "0000006fdaa320a755812d600000000100000007000000000000000000000000000000f00000000400000\
18bcfe5687b0a01020300003039000001a22d5affff0a09080700002a9f000000020000000000000000000000047072657006546f706963410\
00a54414753015461674102";

pub(super) fn message<'a>(body: &'a [u8], properties: &'a str) -> Message<'a> {
    Message {
        topic: "TopicA",
        queue_id: 1,
        flag: 7,
        sys_flag: 0,
        born_timestamp: 1_700_000_000_123,
        born_host: "10.1.2.3:12345".parse().unwrap(),
        store_host: "10.9.8.7:10911".parse().unwrap(),
        reconsume_times: 2,
        prepared_transaction_offset: 0,
        body,
        properties,
    }
}

fn encode_at(message: &Message<'_>, queue_offset: u64, phy_offset: u64, store_timestamp: i64) -> Vec<u8> {
    let place = RecordPlace { queue_offset, phy_offset, store_timestamp };
    encode_with(message, PropertyTail::default(), "", &place)
}

fn encode_with(message: &Message<'_>, tail: PropertyTail, late: &str, place: &RecordPlace) -> Vec<u8> {
    let mut encoded = Vec::new();
    let layout = encode(message, 4 << 20, tail, &mut encoded).unwrap();
    layout.check_late(late.len()).unwrap();
    let mut record = vec![0; layout.total_size(late.len())];
    layout.place(&mut encoded, late.as_bytes(), place, &mut record);
    record
}

fn record(bytes: &[u8]) -> MessageView<'_> {
    match decode(bytes, true) {
        Ok(Decoded::Record(view)) => view,
        other => panic!("expected a record, found {other:?}"),
    }
}

#[test]
fn encodes_the_bytes_java_wrote() {
    let golden = hex(V1);
    let stored = store_timestamp(&golden).unwrap();
    let properties = "KEYS\u{1}k1 k2\u{2}TAGS\u{1}TagA\u{2}";
    assert_eq!(encode_at(&message(b"hello world", properties), 0, 0, stored), golden);

    let golden = hex(V6_BORN_HOST);
    let v6 = Message { born_host: "[2001:db8::1]:80".parse().unwrap(), ..message(b"v6", "") };
    assert_eq!(encode_at(&v6, 1, 129, store_timestamp(&golden).unwrap()), golden);

    let golden = hex(PREPARED);
    let prepared =
        Message { sys_flag: sys_flag::TRANSACTION_PREPARED, ..message(b"prep", "TAGS\u{1}TagA\u{2}") };
    assert_eq!(encode_at(&prepared, 0, 240, store_timestamp(&golden).unwrap()), golden);
}

#[test]
fn decodes_the_bytes_java_wrote() {
    let golden = hex(V1);
    let view = record(&golden);
    assert_eq!((view.topic, view.body, view.queue_id, view.flag), ("TopicA", &b"hello world"[..], 1, 7));
    assert_eq!(view.properties, "KEYS\u{1}k1 k2\u{2}TAGS\u{1}TagA\u{2}");
    assert_eq!((view.born_timestamp, view.reconsume_times), (1_700_000_000_123, 2));
    assert_eq!(view.born_host.to_string(), "10.1.2.3:12345");
    assert_eq!(record(&hex(V6_BORN_HOST)).born_host.to_string(), "[2001:db8::1]:80");
}

#[test]
fn a_long_topic_makes_version_2() {
    let topic = format!("%RETRY%{}", "t".repeat(130));
    let bytes = encode_at(&Message { topic: &topic, ..message(b"long", "") }, 0, 0, 1);
    assert_eq!(bytes.len(), 233, "92 fixed, 4 body, 137 topic");
    let view = record(&bytes);
    assert_eq!((view.version, view.topic), (2, topic.as_str()));
    // 126 characters, 252 bytes: by characters it would have become a V1 record that no one can read.
    let wide = "é".repeat(126);
    assert_eq!(record(&encode_at(&Message { topic: &wide, ..message(b"x", "") }, 0, 0, 1)).version, 2);
}

#[test]
fn limits_are_named() {
    let body = vec![0; 11];
    let error = encode(&message(&body, ""), 10, PropertyTail::default(), &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "message body: expected at most 10 bytes, found 11");
    let long = "p".repeat(properties::MAX_LEN + 1);
    assert!(matches!(
        encode(&message(b"", &long), 10, PropertyTail::default(), &mut Vec::new()),
        Err(EncodeError::PropertiesTooLong { found: 32_768 })
    ));
    let no_topic = Message { topic: "", ..message(b"", "") };
    assert!(matches!(
        encode(&no_topic, 10, PropertyTail::default(), &mut Vec::new()),
        Err(EncodeError::TopicLength { found: 0 })
    ));
}

#[test]
fn every_truncation_is_a_fault() {
    let golden = hex(V1);
    for len in 0..golden.len() {
        assert!(decode(&golden[..len], true).is_err(), "{len} bytes");
    }
}

#[test]
fn every_bit_flip_is_a_fault_or_another_record() {
    let golden = hex(V1);
    let original = record(&golden);
    for bit in 0..golden.len() * 8 {
        let mut bytes = golden.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        // Flips in free fields go unnoticed by the format, but never pass for the same record.
        if let Ok(Decoded::Record(view)) = decode(&bytes, true) {
            assert_ne!(view, original, "bit {bit}");
        }
    }
}

#[test]
fn blank_and_nothing() {
    assert_eq!(blank(234).to_vec(), hex("000000eacbd43194"));
    let mut rest = [0; 234];
    rest[..BLANK_LEN].copy_from_slice(&blank(234));
    assert_eq!(decode(&rest, true), Ok(Decoded::Blank));
    assert_eq!(decode(&[0; 64], true), Err(Fault::Nothing));
}

#[test]
fn a_blank_that_is_not_the_rest_of_its_file_is_damage() {
    let mut rest = [0; 234];
    for size in [0, 7, 8, 233, 235, 0x8000_00EA] {
        rest[..BLANK_LEN].copy_from_slice(&blank(size));
        let Err(Fault::Field { field, expected, found }) = decode(&rest, true) else { panic!("{size}") };
        assert_eq!(field, "totalSize of the blank record");
        assert_eq!((expected.as_str(), found), ("234, the rest of the file", (size as i32).to_string()));
    }
    assert_eq!(check_blank(&blank(234), 234), Ok(()), "the head alone, for readers that know the rest");
    assert!(check_blank(&blank(234)[..7], 234).is_err());
}
