//! Records that stand in the place of a damaged stretch of the log.
//!
//! A *filler* is a whole record, so that every reader of the log, Apache's too, walks over it. Its sysFlag says
//! *rollback*: such a record gets no unit in a queue and no entry in the index, here and there
//! (`CommitLogDispatcherBuildConsumeQueue`, `IndexService.buildIndex`). Its body is zeros, its hosts are 0.0.0.0:0.

use super::format::{self, MIN_RECORD, MessageView, PropertyTail, RecordPlace, record_crc};
use crate::message::{Message, sys_flag};
use std::net::{Ipv4Addr, SocketAddr};

/// Topic of a filler, cut to what fits; no message of a client has it together with the rollback bits.
pub const FILLER_TOPIC: &str = "DAMAGED_RANGE";
/// Largest filler in bytes: what a reader with the usual limits takes. A longer stretch gets several.
const LARGEST: u64 = 4 << 20;
/// Bytes of a record without body, topic and properties.
const FIXED: usize = MIN_RECORD as usize - 1;

/// The fillers for `len` bytes from `from` on, with their positions; none when `len` is less than a record needs. All
/// carry `store_timestamp`, so that times along the log stay in order.
pub fn fillers(from: u64, len: u64, store_timestamp: i64) -> impl Iterator<Item = (u64, Vec<u8>)> {
    let mut at = from;
    let end = if len < MIN_RECORD { from } else { from + len };
    std::iter::from_fn(move || {
        let rest = end - at;
        if rest == 0 {
            return None;
        }
        let piece = if rest <= LARGEST + MIN_RECORD { rest } else { LARGEST };
        let record = (at, filler(at, piece as usize, store_timestamp));
        at += piece;
        Some(record)
    })
}

fn filler(phy_offset: u64, len: usize, store_timestamp: i64) -> Vec<u8> {
    // For readers that insist on it (`forceVerifyPropCRC`).
    let record_crc = len > FIXED + record_crc::LEN;
    let room = len - FIXED - if record_crc { record_crc::LEN } else { 0 };
    let topic = &FILLER_TOPIC[..FILLER_TOPIC.len().min(room)];
    let nobody = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let body = vec![0; room - topic.len()];
    let message = Message {
        topic,
        queue_id: 0,
        flag: 0,
        sys_flag: sys_flag::TRANSACTION_ROLLBACK,
        born_timestamp: store_timestamp,
        born_host: nobody,
        store_host: nobody,
        reconsume_times: 0,
        prepared_transaction_offset: 0,
        body: &body,
        properties: "",
    };
    let mut encoded = Vec::with_capacity(len);
    let mut record = vec![0; len];
    let tail = PropertyTail { late: false, record_crc };
    if let Ok(layout) = format::encode(&message, body.len(), tail, &mut encoded) {
        layout.place(
            &mut encoded,
            &[],
            &RecordPlace { queue_offset: 0, phy_offset, store_timestamp },
            &mut record,
        );
    }
    record
}

/// True for a record that [`fillers`] made.
pub fn is_filler(view: &MessageView<'_>) -> bool {
    let nobody = |host: SocketAddr| host.port() == 0 && host.ip().is_unspecified();
    view.sys_flag == sys_flag::TRANSACTION_ROLLBACK
        && FILLER_TOPIC.starts_with(view.topic)
        && nobody(view.born_host)
        && nobody(view.store_host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit_log::format::{Checksum, Decoded, decode_checked};

    #[test]
    fn fillers_fill_exactly_and_are_whole_records() {
        for len in [
            92,
            93,
            104,
            111,
            112,
            113,
            124,
            125,
            5000,
            LARGEST,
            LARGEST + 1,
            LARGEST + 93,
            2 * LARGEST + 200,
        ] {
            let mut at = 7_000;
            for (phy_offset, record) in fillers(7_000, len, 99) {
                assert_eq!(phy_offset, at, "{len}");
                let Ok(Decoded::Record(view)) = decode_checked(&record, Checksum::Record) else {
                    panic!("{len}: no record")
                };
                assert_eq!((view.total_size as usize, view.physical_offset), (record.len(), at as i64));
                assert_eq!(view.store_timestamp, 99);
                assert!(is_filler(&view) && !sys_flag::is_visible(view.sys_flag));
                at += record.len() as u64;
            }
            assert_eq!(at, 7_000 + len);
        }
        assert_eq!(fillers(0, 91, 1).count(), 0, "less than a record");
    }
}
