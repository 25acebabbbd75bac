//! From bytes to a record.

use super::{BLANK_LEN, BLANK_MAGIC, Fault, MAGIC_V1, MAGIC_V2, MessageView, fixed_len, record_crc};
use crate::bytes::{Reader, crc32};
use crate::message::{host, sys_flag};
use std::net::SocketAddr;

/// What stands at a place of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decoded<'a> {
    /// A record.
    Record(MessageView<'a>),
    /// The rest of the file is unused.
    Blank,
}

/// What of a record is checked beyond its structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Checksum {
    /// Nothing.
    Skip,
    /// The body, against the body CRC.
    #[default]
    Body,
    /// The whole record, against the CRC at its end. A record without one is checked like [`Checksum::Body`], and its
    /// property string must not end in a zero byte: that is how a record looks whose end never reached the disk.
    Record,
}

/// Reads what stands at the beginning of `bytes`: the rest of a log file from some position on, or exactly one record.
///
/// A blank record must say that it is as long as `bytes`; a reader that does not have the whole rest at hand uses
/// [`check_blank`].
///
/// # Errors
///
/// The first [`Fault`] met; any input is fine.
pub fn decode(bytes: &[u8], check_body_crc: bool) -> Result<Decoded<'_>, Fault> {
    decode_checked(bytes, if check_body_crc { Checksum::Body } else { Checksum::Skip })
}

/// [`decode`] with a choice of what is checked.
///
/// # Errors
///
/// The first [`Fault`] met; any input is fine.
pub fn decode_checked(bytes: &[u8], checksum: Checksum) -> Result<Decoded<'_>, Fault> {
    let mut reader = Reader::new(bytes);
    let (Some(total_size), Some(magic)) = (reader.i32(), reader.u32()) else {
        return Err(Fault::Short { expected: BLANK_LEN as u64, found: bytes.len() as u64 });
    };
    let v2 = match magic {
        MAGIC_V1 => false,
        MAGIC_V2 => true,
        BLANK_MAGIC => return check_blank(bytes, bytes.len() as u64).map(|()| Decoded::Blank),
        0 if total_size == 0 => return Err(Fault::Nothing),
        found => return Err(Fault::Magic { found }),
    };
    let smallest = fixed_len(2 * host::V4_LEN, v2);
    let Some(record) = usize::try_from(total_size).ok().filter(|size| *size >= smallest) else {
        return Err(field("totalSize", format!("at least {smallest}"), total_size));
    };
    let Some(bytes) = bytes.get(..record) else {
        return Err(Fault::Short { expected: record as u64, found: bytes.len() as u64 });
    };
    decode_fields(bytes, v2, checksum).map(Decoded::Record)
}

/// Checks the blank record at the beginning of `head`, of which `rest` bytes are left in its file.
///
/// # Errors
///
/// Fewer than [`BLANK_LEN`] bytes, another magic, or a length that is not `rest`.
pub fn check_blank(head: &[u8], rest: u64) -> Result<(), Fault> {
    let mut reader = Reader::new(head);
    let (Some(total_size), Some(magic)) = (reader.i32(), reader.u32()) else {
        return Err(Fault::Short { expected: BLANK_LEN as u64, found: head.len() as u64 });
    };
    if magic != BLANK_MAGIC {
        return Err(Fault::Magic { found: magic });
    }
    if u64::try_from(total_size) != Ok(rest) {
        return Err(field(
            "totalSize of the blank record",
            format!("{rest}, the rest of the file"),
            total_size,
        ));
    }
    Ok(())
}

/// True when what stands at the beginning of `head` has the magic of a blank record.
pub fn has_blank_magic(head: &[u8]) -> bool {
    head.get(4..BLANK_LEN).is_some_and(|magic| magic == BLANK_MAGIC.to_be_bytes())
}

fn field(field: &'static str, expected: impl ToString, found: impl ToString) -> Fault {
    Fault::Field { field, expected: expected.to_string(), found: found.to_string() }
}

fn decode_fields(bytes: &[u8], v2: bool, checksum: Checksum) -> Result<MessageView<'_>, Fault> {
    let short =
        || Fault::Short { expected: fixed_len(2 * host::V6_LEN, v2) as u64, found: bytes.len() as u64 };
    let mut reader = Reader::new(bytes);
    reader.take(8).ok_or_else(short)?;
    let body_crc = reader.u32().ok_or_else(short)?;
    let queue_id = reader.i32().ok_or_else(short)?;
    let flag = reader.i32().ok_or_else(short)?;
    let queue_offset = reader.i64().ok_or_else(short)?;
    let physical_offset = reader.i64().ok_or_else(short)?;
    let sys_flag = reader.i32().ok_or_else(short)?;
    let born_timestamp = reader.i64().ok_or_else(short)?;
    let born_host = decode_host(&mut reader, sys_flag & sys_flag::BORN_HOST_V6 != 0, "bornHost")?;
    let store_timestamp = reader.i64().ok_or_else(short)?;
    let store_host = decode_host(&mut reader, sys_flag & sys_flag::STORE_HOST_V6 != 0, "storeHost")?;
    let reconsume_times = reader.i32().ok_or_else(short)?;
    let prepared_transaction_offset = reader.i64().ok_or_else(short)?;
    let body_len = i64::from(reader.i32().ok_or_else(short)?);
    let body = take(&mut reader, "bodyLength", body_len)?;
    let check_record = checksum == Checksum::Record && record_crc::stored(bytes).is_some();
    if checksum != Checksum::Skip && !check_record && !body.is_empty() {
        check_crc(body_crc, body)?;
    }
    let topic_len =
        if v2 { reader.i16().map(i64::from) } else { reader.u8().map(|len| i64::from(len as i8)) };
    let topic = take(&mut reader, "topicLength", topic_len.ok_or_else(short)?)?;
    let topic = std::str::from_utf8(topic).map_err(|_| field("topic", "UTF-8", "other bytes"))?;
    let properties_len = i64::from(reader.i16().ok_or_else(short)?);
    let properties_bytes = take(&mut reader, "propertiesLength", properties_len)?;
    if reader.remaining() != 0 {
        return Err(field("totalSize", reader.position(), bytes.len()));
    }
    if check_record {
        record_crc::check(bytes)?;
    } else if checksum == Checksum::Record && properties_bytes.last() == Some(&0) {
        return Err(field("properties", "a whole property string", "zeros at its end"));
    }
    Ok(MessageView {
        total_size: bytes.len() as u32,
        version: if v2 { 2 } else { 1 },
        body_crc,
        queue_id,
        flag,
        queue_offset,
        physical_offset,
        sys_flag,
        born_timestamp,
        born_host,
        store_timestamp,
        store_host,
        reconsume_times,
        prepared_transaction_offset,
        body,
        topic,
        properties: std::str::from_utf8(properties_bytes).unwrap_or(""),
        properties_bytes,
    })
}

fn decode_host(reader: &mut Reader<'_>, v6: bool, name: &'static str) -> Result<SocketAddr, Fault> {
    host::decode(reader, v6).ok_or_else(|| field(name, "an address and a port up to 65535", "other bytes"))
}

fn take<'a>(reader: &mut Reader<'a>, name: &'static str, len: i64) -> Result<&'a [u8], Fault> {
    let left = reader.remaining();
    let bytes = usize::try_from(len).ok().and_then(|len| reader.take(len));
    bytes.ok_or_else(|| field(name, format!("0 to {left}"), len))
}

fn check_crc(expected: u32, body: &[u8]) -> Result<(), Fault> {
    let found = crc32(body);
    if found == expected { Ok(()) } else { Err(Fault::BodyCrc { expected, found }) }
}
