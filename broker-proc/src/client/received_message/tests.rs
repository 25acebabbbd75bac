use std::io::Write as _;

use bytes::Bytes;
use flate2::Compression as Level;
use flate2::write::ZlibEncoder;
use store_core::{Message, record_format};

use super::{Compression, ReceivedMessage, decode_records, inflate};

const PROPERTIES: &str =
    "TAGS\u{1}TagA\u{2}KEYS\u{1}k1 k2\u{2}UNIQ_KEY\u{1}ID\u{2}RETRY_TOPIC\u{1}Origin\u{2}";

fn record(topic: &str, sys_flag: i32, body: &[u8], properties: &str, queue_offset: u64) -> Vec<u8> {
    let message = Message {
        topic,
        queue_id: 3,
        flag: 9,
        sys_flag,
        born_timestamp: 1_700_000_000_000,
        born_host: "10.0.0.9:40000".parse().unwrap(),
        store_host: "192.168.0.1:10911".parse().unwrap(),
        reconsume_times: 2,
        prepared_transaction_offset: 0,
        body,
        properties,
    };
    let place =
        record_format::RecordPlace { queue_offset, phy_offset: 123_456, store_timestamp: 1_700_000_000_001 };
    record_format::encode_whole(&message, 1 << 20, false, &place).unwrap()
}

fn one(topic: &str, sys_flag: i32, body: &[u8], properties: &str) -> ReceivedMessage {
    let mut messages = decode_records(&record(topic, sys_flag, body, properties, 7).into()).unwrap();
    assert_eq!(messages.len(), 1);
    messages.remove(0)
}

fn zlib(body: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Level::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn records_follow_each_other() {
    let mut pulled = record("T", 0, b"first", PROPERTIES, 7);
    pulled.extend(record("T", 0, b"second", "", 8));
    let messages = decode_records(&pulled.into()).unwrap();
    assert_eq!(
        messages.iter().map(|message| &message.body[..]).collect::<Vec<_>>(),
        [&b"first"[..], b"second"]
    );
    let first = &messages[0];
    assert_eq!((first.queue_id, first.queue_offset, first.flag, first.reconsume_times), (3, 7, 9, 2));
    assert_eq!((first.msg_id.as_str(), first.tag(), first.keys()), ("ID", Some("TagA"), Some("k1 k2")));
    assert_eq!(first.offset_msg_id, "C0A8000100002A9F000000000001E240");
    assert_eq!((first.born_timestamp, first.store_timestamp), (1_700_000_000_000, 1_700_000_000_001));
    assert_eq!(messages[1].msg_id, messages[1].offset_msg_id, "a producer that gives no ids");
    assert!(decode_records(&Bytes::new()).unwrap().is_empty());
}

#[test]
fn retried_messages_have_their_own_topic_again() {
    assert_eq!(one("%RETRY%group", 0, b"x", PROPERTIES).topic, "Origin");
    assert_eq!(one("%RETRY%group", 0, b"x", "").topic, "%RETRY%group");
    assert_eq!(one("T", 0, b"x", PROPERTIES).topic, "T", "the property alone means nothing");
}

#[test]
fn zlib_bodies_are_inflated() {
    for flag in [0x1, 0x301] {
        let message = one("T", flag, &zlib(b"hello hello hello"), "");
        assert_eq!((&message.body[..], message.compression), (&b"hello hello hello"[..], None));
    }
}

#[test]
fn other_compressions_are_reported() {
    for (flag, expected) in
        [(0x101, Compression::Lz4), (0x201, Compression::Zstd), (0x501, Compression::Unknown)]
    {
        let message = one("T", flag, b"stored", "");
        assert_eq!((&message.body[..], message.compression), (&b"stored"[..], Some(expected)));
    }
    // Without the compressed bit the type means nothing.
    assert_eq!(one("T", 0x100, b"stored", "").compression, None);
}

#[test]
fn damage_is_located() {
    let good = record("T", 0, b"first", "", 7);
    let at = good.len();
    let mut pulled = good.clone();
    pulled.extend(&good[..at - 1]);
    let error = decode_records(&pulled.into()).unwrap_err().to_string();
    assert!(error.starts_with(&format!("record at byte {at}: expected {at} bytes")), "{error}");

    let mut pulled = good.clone();
    let body = good.windows(5).position(|window| window == b"first").unwrap();
    pulled[body] ^= 1;
    let error = decode_records(&pulled.into()).unwrap_err().to_string();
    assert!(error.starts_with("record at byte 0: body CRC"), "{error}");

    let error = decode_records(&record_format::blank(8).to_vec().into()).unwrap_err().to_string();
    assert!(error.contains("CBD43194"), "{error}");

    let error = decode_records(&record("T", 1, b"not zlib", "", 0).into()).unwrap_err().to_string();
    assert!(error.starts_with("record at byte 0: zlib body: "), "{error}");
}

#[test]
fn a_body_that_explodes_is_refused() {
    let bomb = zlib(&[0; 1001]);
    assert_eq!(inflate(&bomb, 1001).unwrap().len(), 1001);
    assert_eq!(inflate(&bomb, 1000).unwrap_err().to_string(), "grows beyond 1000 bytes");
}
