//! Records of the log, one by one and in batches; fillers; message ids.

use crate::damage::{flipped, truncated};
use crate::values::{POSITION, bytes, cases, host};
use proptest::prelude::*;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use store_logic::OnDemand;
use store_logic::commit_log::filler::{FILLER_TOPIC, fillers, is_filler};
use store_logic::commit_log::format::{
    Checksum, Decoded, MIN_RECORD, MessageView, PropertyTail, RecordPlace, decode_checked, encode,
    encode_whole, record_crc,
};
use store_logic::commit_log::{CommitLog, RecordBatch};
use store_logic::message::properties::{PROPERTY_SEPARATOR, needs_separator};
use store_logic::message::{Message, message_id, sys_flag};
use store_logic::multi_dispatch;
use store_mmap::sim::SimWorld;

const MAX_BODY: usize = 4096;

/// What a message is made of.
#[derive(Debug, Clone)]
struct Parts {
    topic: String,
    numbers: (i32, i32, i32, i64, i32, i64),
    hosts: (SocketAddr, SocketAddr),
    body: Vec<u8>,
    properties: String,
}

impl Parts {
    fn message(&self) -> Message<'_> {
        let (queue_id, flag, sys_flag, born_timestamp, reconsume_times, prepared_transaction_offset) =
            self.numbers;
        Message {
            topic: &self.topic,
            queue_id,
            flag,
            // The store adds these from the addresses.
            sys_flag: sys_flag & !(sys_flag::BORN_HOST_V6 | sys_flag::STORE_HOST_V6),
            born_timestamp,
            born_host: self.hosts.0,
            store_host: self.hosts.1,
            reconsume_times,
            prepared_transaction_offset,
            body: &self.body,
            properties: &self.properties,
        }
    }
}

/// Topics with a length of one byte and of two; property strings with and without their last separator.
fn parts() -> impl Strategy<Value = Parts> {
    let topic = prop_oneof!["[a-zA-Z0-9_%é-]{1,20}", "[a-z]{120,140}"];
    let pair =
        ("[^\x01\x02]{1,9}", "[^\x01\x02]{1,9}").prop_map(|(name, value)| format!("{name}\x01{value}"));
    let properties = (prop::collection::vec(pair, 0..4), any::<bool>()).prop_map(|(pairs, ended)| {
        let joined = pairs.join("\x02");
        if ended && !joined.is_empty() { joined + "\x02" } else { joined }
    });
    (topic, any::<(i32, i32, i32, i64, i32, i64)>(), (host(), host()), bytes(80), properties).prop_map(
        |(topic, numbers, hosts, body, properties)| Parts { topic, numbers, hosts, body, properties },
    )
}

fn place() -> impl Strategy<Value = RecordPlace> {
    (POSITION, POSITION, any::<i64>()).prop_map(|(queue_offset, phy_offset, store_timestamp)| RecordPlace {
        queue_offset,
        phy_offset,
        store_timestamp,
    })
}

fn decoded(record: &[u8]) -> MessageView<'_> {
    match decode_checked(record, Checksum::Record) {
        Ok(Decoded::Record(view)) => view,
        other => panic!("{other:?}"),
    }
}

/// The view says what the message said, with `added` bytes behind its properties.
fn assert_is(view: &MessageView<'_>, message: &Message<'_>, place: &RecordPlace, added: usize) {
    let v6 = |host: SocketAddr, bit| if host.is_ipv6() { bit } else { 0 };
    let v6_bits =
        v6(message.born_host, sys_flag::BORN_HOST_V6) | v6(message.store_host, sys_flag::STORE_HOST_V6);
    assert_eq!(view.version, if message.topic.len() > 127 { 2 } else { 1 });
    assert_eq!((view.topic, view.body), (message.topic, message.body));
    assert_eq!((view.queue_id, view.flag), (message.queue_id, message.flag));
    assert_eq!(view.sys_flag, message.sys_flag | v6_bits);
    assert_eq!((view.born_timestamp, view.born_host), (message.born_timestamp, message.born_host));
    assert_eq!((view.store_timestamp, view.store_host), (place.store_timestamp, message.store_host));
    assert_eq!(view.reconsume_times, message.reconsume_times);
    assert_eq!(view.prepared_transaction_offset, message.prepared_transaction_offset);
    assert_eq!(view.queue_offset as u64, place.queue_offset);
    assert_eq!(view.physical_offset as u64, place.phy_offset);
    assert!(view.properties.starts_with(message.properties));
    assert_eq!(view.properties.len(), message.properties.len() + added);
}

/// The message that a record was made of, its CRC left out.
fn message_of<'a>(view: &MessageView<'a>, has_crc: bool) -> Message<'a> {
    let own = view.properties.len() - if has_crc { record_crc::LEN } else { 0 };
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
        properties: &view.properties[..own],
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn a_record_comes_back_and_is_written_the_same(parts in parts(), place in place(), crc: bool) {
        let message = parts.message();
        let record = encode_whole(&message, MAX_BODY, crc, &place).unwrap();
        let view = decoded(&record);
        let separator = (crc || message.properties.ends_with('\0')) && needs_separator(message.properties);
        let separator = usize::from(separator);
        assert_is(&view, &message, &place, separator + if crc { record_crc::LEN } else { 0 });
        prop_assert_eq!(view.total_size as usize, record.len());
        prop_assert_eq!(&encode_whole(&message_of(&view, crc), MAX_BODY, crc, &place).unwrap(), &record);
        // What stands behind a record does not matter.
        let longer = [&record[..], &[0xAA; 9]].concat();
        prop_assert_eq!(decode_checked(&longer, Checksum::Record), Ok(Decoded::Record(view)));
    }

    #[test]
    fn late_properties_stand_between_the_message_s_own_and_the_crc(
        parts in parts(), place in place(), crc: bool, offsets in prop::collection::vec(POSITION, 1..4),
    ) {
        let message = parts.message();
        let late = multi_dispatch::offsets_property(&offsets);
        let mut encoded = Vec::new();
        let layout = encode(&message, MAX_BODY, PropertyTail { late: true, record_crc: crc }, &mut encoded).unwrap();
        layout.check_late(late.len()).unwrap();
        let mut record = vec![0; layout.total_size(late.len())];
        layout.place(&mut encoded, late.as_bytes(), &place, &mut record);

        let view = decoded(&record);
        let mut expected = parts.properties.clone();
        if needs_separator(&expected) {
            expected.push(PROPERTY_SEPARATOR);
        }
        expected.push_str(&late);
        prop_assert_eq!(message_of(&view, crc).properties, &expected);
        assert_is(&view, &message, &place, view.properties.len() - message.properties.len());
        let whole = Message { properties: &expected, ..message };
        prop_assert_eq!(encode_whole(&whole, MAX_BODY, crc, &place).unwrap(), record);
    }

    #[test]
    fn a_batch_comes_back_from_the_log(
        batch in prop::collection::vec(parts(), 1..5), queue_offset in 0..1_u64 << 40, now: i64, crc: bool,
    ) {
        let world = SimWorld::new(1, 1_700_000_000_000);
        let log = CommitLog::open(&world.env(), Path::new("/log"), 1 << 16, Arc::new(OnDemand)).unwrap();
        let mut records = RecordBatch::new();
        records.append_record_crc(crc);
        for parts in &batch {
            // Its other properties would be left out.
            records.push(&Message { properties: "", ..parts.message() }, MAX_BODY).unwrap();
        }
        let now = now.max(0);
        let (mut tail, now) = log.lock_tail(|| now);
        let appended = tail.append(&mut records, queue_offset, now).unwrap();
        drop(tail);
        let mut phy_offset = appended.phy_offset;
        for (number, parts) in batch.iter().enumerate() {
            let record = log.record_at(phy_offset).unwrap();
            let place = RecordPlace { queue_offset: queue_offset + number as u64, phy_offset, store_timestamp: now };
            let message = Message { properties: "", ..parts.message() };
            assert_is(&decoded(&record), &message, &place, if crc { record_crc::LEN } else { 0 });
            phy_offset += record.len() as u64;
        }
        prop_assert_eq!(phy_offset, appended.end_offset);
    }

    #[test]
    fn fillers_are_records_without_a_gap(from in 0..1_u64 << 50, len in 0..300_u64, store_timestamp: i64) {
        let mut at = from;
        for (phy_offset, record) in fillers(from, len, store_timestamp) {
            prop_assert_eq!(phy_offset, at);
            let view = decoded(&record);
            prop_assert!(is_filler(&view) && FILLER_TOPIC.starts_with(view.topic));
            prop_assert_eq!((view.physical_offset as u64, view.store_timestamp), (at, store_timestamp));
            at += u64::from(view.total_size);
        }
        prop_assert_eq!(at - from, if len < MIN_RECORD { 0 } else { len });
    }

    #[test]
    fn message_ids_come_back(host in host(), phy_offset: u64) {
        let id = message_id::encode(&host, phy_offset);
        prop_assert_eq!(id.len(), if host.is_ipv4() { 32 } else { 56 });
        prop_assert_eq!(message_id::decode(&id), Some((host, phy_offset)));
        prop_assert_eq!(message_id::decode(&id.to_lowercase()), Some((host, phy_offset)));
        for cut in truncated(id.as_bytes()) {
            let decoded = message_id::decode(std::str::from_utf8(cut).unwrap());
            // 32 digits of an IPv6 id are as long as one of IPv4.
            prop_assert!(decoded.is_none() || cut.len() == 32);
        }
        for (_, damaged) in flipped(id.as_bytes()) {
            let text = String::from_utf8_lossy(&damaged);
            let same = text.to_uppercase() == id;
            prop_assert_eq!(message_id::decode(&text) == Some((host, phy_offset)), same, "{}", text);
        }
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn a_damaged_record_is_none_or_says_where_it_differs(parts in parts(), place in place(), crc: bool) {
        let record = encode_whole(&parts.message(), MAX_BODY, crc, &place).unwrap();
        for cut in truncated(&record) {
            for checksum in [Checksum::Skip, Checksum::Body, Checksum::Record] {
                prop_assert!(!matches!(decode_checked(cut, checksum), Ok(Decoded::Record(_))), "{}", cut.len());
            }
        }
        for (at, damaged) in flipped(&record) {
            let unchecked = decode_checked(&damaged, Checksum::Skip);
            prop_assert_ne!(&unchecked, &decode_checked(&record, Checksum::Skip), "byte {}", at);
            // Without the name of its CRC a record is one without a CRC.
            if crc && at < record.len() - record_crc::LEN {
                prop_assert!(decode_checked(&damaged, Checksum::Record).is_err(), "byte {}", at);
            }
            if let Ok(Decoded::Record(view)) = decode_checked(&damaged, Checksum::Body) {
                prop_assert!(view.body == parts.body || view.body.is_empty(), "byte {}", at);
            }
        }
    }
}
