//! From a message to a record.

use super::{
    BORN_HOST_AT, MAGIC_V1, MAGIC_V2, MAX_V1_TOPIC, PHYSICAL_OFFSET_AT, QUEUE_OFFSET_AT, fixed_len,
    record_crc,
};
use crate::bytes::crc32;
use crate::message::{Message, host, properties, sys_flag};
use std::net::SocketAddr;

/// Why a message cannot become a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// Body beyond `maxMessageSize`.
    #[error("message body: expected at most {limit} bytes, found {found}")]
    BodyTooLarge {
        /// Limit in bytes.
        limit: usize,
        /// Length in bytes.
        found: usize,
    },
    /// Property string beyond what its length field can say.
    #[error("message properties: expected at most {} bytes, found {found}", properties::MAX_LEN)]
    PropertiesTooLong {
        /// Length in bytes.
        found: usize,
    },
    /// Topic beyond what its length field can say, or empty.
    #[error("topic: expected 1 to 32767 bytes, found {found}")]
    TopicLength {
        /// Length in bytes.
        found: usize,
    },
    /// Records beyond what one log file holds.
    #[error("record: expected at most {limit} bytes, what one log file holds, found {found}")]
    RecordTooLarge {
        /// Limit in bytes.
        limit: u64,
        /// Length in bytes.
        found: u64,
    },
}

/// What is to stand behind a message's own properties. It is known only once the record has its place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PropertyTail {
    /// Properties that [`RecordLayout::place`] is given.
    pub late: bool,
    /// The CRC of the whole record.
    pub record_crc: bool,
}

/// Where the fields lie that are filled in once the record's place is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordLayout {
    /// Bytes that [`encode`] made.
    encoded_len: usize,
    /// Bytes of the properties, without late ones.
    properties_len: usize,
    /// Position of the store timestamp.
    store_timestamp_at: usize,
    /// Position of the length of the properties.
    properties_length_at: usize,
    record_crc: bool,
}

/// Where a record goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordPlace {
    /// Position in its queue.
    pub queue_offset: u64,
    /// Position in the log.
    pub phy_offset: u64,
    /// When it is stored.
    pub store_timestamp: i64,
}

/// Appends the record of `message` to `out`, up to the end of the message's own properties. Sizes, queue offset,
/// physical offset and store timestamp are settled by [`RecordLayout::place`], which also puts the `tail` behind it.
///
/// Properties that something is put behind get the separator that they may lack, and so do those that end in a zero byte:
/// a record that ends so looks like one whose end never reached the disk (see [`super::Checksum::Record`]).
///
/// # Errors
///
/// [`EncodeError`], with `out` unchanged.
pub fn encode(
    message: &Message<'_>,
    max_body: usize,
    tail: PropertyTail,
    out: &mut Vec<u8>,
) -> Result<RecordLayout, EncodeError> {
    let open_end = tail.late || tail.record_crc || message.properties.ends_with('\0');
    let separator = open_end && properties::needs_separator(message.properties);
    let crc_len = if tail.record_crc { record_crc::LEN } else { 0 };
    let properties_len = message.properties.len() + usize::from(separator) + crc_len;
    let v2 = check_lengths(message, max_body, properties_len)?;
    let born_host = host::canonical(message.born_host);
    let store_host = host::canonical(message.store_host);
    let hosts = host::encoded_len(&born_host) + host::encoded_len(&store_host);
    let total_size = fixed_len(hosts, v2) + message.body.len() + message.topic.len() + properties_len;
    let v6_bits = v6_bit(&born_host, sys_flag::BORN_HOST_V6) | v6_bit(&store_host, sys_flag::STORE_HOST_V6);

    let begin = out.len();
    out.reserve(total_size);
    out.extend_from_slice(&(total_size as u32).to_be_bytes());
    out.extend_from_slice(&if v2 { MAGIC_V2 } else { MAGIC_V1 }.to_be_bytes());
    out.extend_from_slice(&crc32(message.body).to_be_bytes());
    out.extend_from_slice(&message.queue_id.to_be_bytes());
    out.extend_from_slice(&message.flag.to_be_bytes());
    out.extend_from_slice(&[0; 16]); // queue offset and physical offset
    out.extend_from_slice(&(message.sys_flag | v6_bits).to_be_bytes());
    out.extend_from_slice(&message.born_timestamp.to_be_bytes());
    host::encode(&born_host, out);
    out.extend_from_slice(&[0; 8]); // store timestamp
    host::encode(&store_host, out);
    out.extend_from_slice(&message.reconsume_times.to_be_bytes());
    out.extend_from_slice(&message.prepared_transaction_offset.to_be_bytes());
    out.extend_from_slice(&(message.body.len() as u32).to_be_bytes());
    out.extend_from_slice(message.body);
    encode_topic(message.topic, v2, out);
    let properties_length_at = out.len() - begin;
    out.extend_from_slice(&(properties_len as u16).to_be_bytes());
    out.extend_from_slice(message.properties.as_bytes());
    if separator {
        out.push(properties::PROPERTY_SEPARATOR as u8);
    }
    Ok(RecordLayout {
        encoded_len: out.len() - begin,
        properties_len,
        store_timestamp_at: BORN_HOST_AT + host::encoded_len(&born_host),
        properties_length_at,
        record_crc: tail.record_crc,
    })
}

/// The whole record of `message` at `place`, with the CRC of the whole record if `record_crc` says so.
///
/// # Errors
///
/// [`EncodeError`].
pub fn encode_whole(
    message: &Message<'_>,
    max_body: usize,
    record_crc: bool,
    place: &RecordPlace,
) -> Result<Vec<u8>, EncodeError> {
    let mut encoded = Vec::new();
    let layout = encode(message, max_body, PropertyTail { late: false, record_crc }, &mut encoded)?;
    let mut record = vec![0; layout.total_size(0)];
    layout.place(&mut encoded, &[], place, &mut record);
    Ok(record)
}

/// Whether the record is of version 2.
fn check_lengths(message: &Message<'_>, max_body: usize, properties_len: usize) -> Result<bool, EncodeError> {
    if message.body.len() > max_body {
        return Err(EncodeError::BodyTooLarge { limit: max_body, found: message.body.len() });
    }
    check_properties(properties_len)?;
    let topic = message.topic.len();
    if topic == 0 || topic > i16::MAX as usize {
        return Err(EncodeError::TopicLength { found: topic });
    }
    Ok(topic > MAX_V1_TOPIC)
}

fn check_properties(len: usize) -> Result<(), EncodeError> {
    if len > properties::MAX_LEN { Err(EncodeError::PropertiesTooLong { found: len }) } else { Ok(()) }
}

fn v6_bit(host: &SocketAddr, bit: i32) -> i32 {
    if host.is_ipv6() { bit } else { 0 }
}

fn encode_topic(topic: &str, v2: bool, out: &mut Vec<u8>) {
    if v2 {
        out.extend_from_slice(&(topic.len() as u16).to_be_bytes());
    } else {
        out.push(topic.len() as u8);
    }
    out.extend_from_slice(topic.as_bytes());
}

impl RecordLayout {
    /// Bytes that [`encode`] made of the record.
    pub fn encoded_len(&self) -> usize {
        self.encoded_len
    }

    /// Bytes of the whole record with `late` bytes of late properties.
    pub fn total_size(&self, late: usize) -> usize {
        self.encoded_len + late + if self.record_crc { record_crc::LEN } else { 0 }
    }

    /// Refuses late properties that the record has no room for.
    ///
    /// # Errors
    ///
    /// [`EncodeError::PropertiesTooLong`].
    pub fn check_late(&self, late: usize) -> Result<(), EncodeError> {
        check_properties(self.properties_len + late)
    }

    /// Finishes the record in `target`: `encoded` is what [`encode`] made, `late` the properties behind it (pairs, each
    /// with its separator; [`RecordLayout::check_late`] has let them pass).
    ///
    /// # Panics
    ///
    /// If `encoded` is not of this layout, or `target` has not exactly [`RecordLayout::total_size`] bytes.
    pub fn place(&self, encoded: &mut [u8], late: &[u8], place: &RecordPlace, target: &mut [u8]) {
        if !late.is_empty() {
            encoded[..4].copy_from_slice(&(self.total_size(late.len()) as u32).to_be_bytes());
            let properties_len = (self.properties_len + late.len()) as u16;
            let at = self.properties_length_at;
            encoded[at..at + 2].copy_from_slice(&properties_len.to_be_bytes());
        }
        encoded[QUEUE_OFFSET_AT..QUEUE_OFFSET_AT + 8].copy_from_slice(&place.queue_offset.to_be_bytes());
        encoded[PHYSICAL_OFFSET_AT..PHYSICAL_OFFSET_AT + 8].copy_from_slice(&place.phy_offset.to_be_bytes());
        let at = self.store_timestamp_at;
        encoded[at..at + 8].copy_from_slice(&place.store_timestamp.to_be_bytes());

        let (own, rest) = target.split_at_mut(self.encoded_len);
        own.copy_from_slice(encoded);
        let (behind, crc) = rest.split_at_mut(late.len());
        behind.copy_from_slice(late);
        if self.record_crc {
            crc.copy_from_slice(&record_crc::encode(crate::bytes::crc32_of(&[encoded, late])));
        }
    }
}
