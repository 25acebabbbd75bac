//! The CRC of whole records as Apache writes it (`enabledAppendPropCRC`).

use crate::golden_store::GoldenStore;
use std::fs;
use store_core::inspectors::{InspectOptions, StoreInspection};
use store_core::record_format::{
    Checksum, Decoded, Fault, MessageView, RecordPlace, decode_checked, encode_whole, record_crc,
};
use store_core::{Env, Message, MessageStore};

fn view(record: &[u8]) -> MessageView<'_> {
    match decode_checked(record, Checksum::Record) {
        Ok(Decoded::Record(view)) => view,
        other => panic!("no record: {other:?}"),
    }
}

fn message<'a>(view: &MessageView<'a>) -> Message<'a> {
    Message {
        topic: view.topic,
        queue_id: view.queue_id,
        flag: view.flag,
        sys_flag: view.sys_flag,
        born_timestamp: view.born_timestamp,
        born_host: view.born_host,
        store_host: view.store_host,
        reconsume_times: view.reconsume_times,
        prepared_transaction_offset: view.prepared_transaction_offset,
        body: view.body,
        properties: view.properties,
    }
}

/// Every record is made again, byte for byte, and every damage of it is noticed.
#[test]
fn records_are_apaches_byte_for_byte() {
    let mut records = 0;
    for name in ["stores/crc32-append", "stores/force-verify", "java-classes/s2"] {
        let golden = GoldenStore::unpack(name);
        let store = golden.open().expect("opens");
        for dump in golden.expected.messages() {
            let record = store.message_at(dump.phy).expect("a record");
            let sent = view(&record);
            let place = RecordPlace {
                queue_offset: sent.queue_offset as u64,
                phy_offset: dump.phy,
                store_timestamp: sent.store_timestamp,
            };
            let properties = without_crc(sent.properties);
            let again = Message { properties, ..message(&sent) };
            let has_crc = record_crc::stored(&record).is_some();
            assert_eq!(encode_whole(&again, 4 << 20, has_crc, &place).unwrap(), &record[..], "{}", dump.phy);
            if has_crc {
                every_damage_is_noticed(&record);
                records += 1;
            }
        }
    }
    assert!(records > 80, "{records}");
}

fn without_crc(properties: &str) -> &str {
    let begin = properties.len() - record_crc::LEN;
    if properties[begin..].starts_with("__CRC32#") { &properties[..begin] } else { properties }
}

fn every_damage_is_noticed(record: &[u8]) {
    // Of the CRC property itself the digits are checked; another name is another property.
    for byte in (0..record.len() - record_crc::LEN).step_by(1 + record.len() / 300) {
        let mut damaged = record.to_vec();
        damaged[byte] ^= 0x10;
        assert!(decode_checked(&damaged, Checksum::Record).is_err(), "byte {byte}");
    }
}

/// The kind of damage that the body's CRC does not see (`torn-tail/cut-in-properties`): the end of the last record never
/// reached the disk.
#[test]
fn a_torn_property_string_ends_the_log() {
    let whole = GoldenStore::unpack("stores/force-verify");
    let last = whole.expected.messages().last().expect("a message");
    let (phy, size) = (last.phy, last.size as usize);
    let properties = last.properties_length.expect("properties");
    for lost in [1, 5, record_crc::LEN - 1, record_crc::LEN, record_crc::LEN + 1, 60, properties] {
        for noticed in [true, false] {
            let mut golden = GoldenStore::unpack("stores/force-verify");
            if !noticed {
                golden.expected.config.remove("forceVerifyPropCRC");
            }
            let file_size = golden.number("mappedFileSizeCommitLog");
            let path = golden.root().join(format!("commitlog/{:020}", phy / file_size * file_size));
            let mut bytes = fs::read(&path).expect("a log file");
            let end = (phy % file_size) as usize + size;
            bytes[end - lost..end].fill(0);
            fs::write(&path, bytes).expect("a log file");
            let store = golden.open().expect("opens");
            let report = store.recovery_report();
            let expected = if noticed { phy } else { phy + size as u64 };
            assert_eq!(report.log_end, expected, "{lost} bytes lost: {report}");
            assert_eq!(report.cut.is_some(), noticed, "{report}");
        }
    }
}

/// A store whose older records have no CRC keeps them when the check is switched on.
#[test]
fn records_without_a_crc_are_kept() {
    let mut golden = GoldenStore::unpack("stores/plain-abort");
    golden.expected.config.insert("forceVerifyPropCRC".to_owned(), "true".to_owned());
    let store = golden.open().expect("opens");
    assert_eq!(Some(store.recovery_report().log_end), golden.expected.java_open.max_phy_offset);
}

#[test]
fn the_fault_names_both_digits() {
    let golden = GoldenStore::unpack("stores/crc32-append");
    let store = golden.open().expect("opens");
    let first = golden.expected.messages().next().expect("a message");
    let mut record = store.message_at(first.phy).expect("a record").to_vec();
    record[12] ^= 1;
    let Err(Fault::RecordCrc { expected, found }) = decode_checked(&record, Checksum::Record) else {
        panic!("not noticed")
    };
    assert!(first.properties_raw.as_ref().is_some_and(|raw| raw.contains(&expected)), "{expected}");
    assert_ne!(expected, found);
}

#[test]
fn verify_sees_a_damaged_property_when_it_is_asked_to() {
    let golden = GoldenStore::unpack("stores/crc32-append");
    let errors = |with_crc: bool| {
        let config = golden.config();
        let options = InspectOptions {
            max_hash_slot_num: Some(config.index.max_hash_slot_num),
            max_index_num: Some(config.index.max_index_num),
            ..InspectOptions::default()
        };
        let store = StoreInspection::open(&Env::os(), golden.root(), &options).expect("a store");
        let store = if with_crc { store.with_record_crc() } else { store };
        let mut kinds = Vec::new();
        store.verify(&mut |_| {}, &mut |finding| kinds.push(finding.kind)).expect("verified");
        kinds.contains(&"damaged-record")
    };
    assert!(!errors(false) && !errors(true), "the store is whole");
    let second = golden.expected.messages().nth(1).expect("a message");
    let path = golden.root().join(format!("commitlog/{:020}", 0));
    let mut bytes = fs::read(&path).expect("a log file");
    let end = (second.phy + u64::from(second.size)) as usize;
    // A letter of the last property before the CRC.
    bytes[end - record_crc::LEN - 2] ^= 1;
    fs::write(&path, bytes).expect("a log file");
    assert!(!errors(false) && errors(true));
}
