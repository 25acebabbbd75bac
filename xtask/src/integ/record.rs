//! The records of a pull's answer, as the protocol hands them out.

use anyhow::{Context, Result, ensure};

/// What a check compares of a stored message.
#[derive(Debug, PartialEq, Eq)]
pub struct Record {
    pub queue_id: i64,
    pub queue_offset: i64,
    pub body: Vec<u8>,
}

/// Where the fields of a record begin whose hosts are IPv4 addresses.
const QUEUE_ID: usize = 12;
const QUEUE_OFFSET: usize = 20;
const BODY_LENGTH: usize = 84;
const BODY: usize = 88;

/// Takes an answer's body apart.
///
/// # Errors
/// When a length leads beyond the end.
pub fn read_all(mut bytes: &[u8]) -> Result<Vec<Record>> {
    let mut records = Vec::new();
    while !bytes.is_empty() {
        let total = number(bytes, 0)? as usize;
        ensure!(
            (BODY..=bytes.len()).contains(&total),
            "expected a record of {BODY} to {} bytes, found {total}",
            bytes.len()
        );
        let (record, rest) = bytes.split_at(total);
        let length = number(record, BODY_LENGTH)? as usize;
        let body =
            record.get(BODY..BODY.saturating_add(length)).context("a body is longer than its record")?;
        records.push(Record {
            queue_id: i64::from(number(record, QUEUE_ID)?),
            queue_offset: i64::from(number(record, QUEUE_OFFSET)?) << 32
                | i64::from(number(record, QUEUE_OFFSET + 4)?),
            body: body.to_owned(),
        });
        bytes = rest;
    }
    Ok(records)
}

fn number(bytes: &[u8], at: usize) -> Result<u32> {
    let bytes = bytes.get(at..at + 4).context("a record is cut off")?;
    Ok(u32::from_be_bytes(bytes.try_into()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(queue_offset: u64, body: &[u8]) -> Vec<u8> {
        let mut record = vec![0; BODY];
        record[..4].copy_from_slice(&(BODY as u32 + body.len() as u32 + 3).to_be_bytes());
        record[QUEUE_ID..QUEUE_ID + 4].copy_from_slice(&3_u32.to_be_bytes());
        record[QUEUE_OFFSET..QUEUE_OFFSET + 8].copy_from_slice(&queue_offset.to_be_bytes());
        record[BODY_LENGTH..BODY].copy_from_slice(&(body.len() as u32).to_be_bytes());
        record.extend_from_slice(body);
        record.extend_from_slice(&[0; 3]);
        record
    }

    #[test]
    fn records_follow_each_other() {
        let bytes = [record(1 << 33, b"first"), record(7, b"")].concat();
        let found = read_all(&bytes).unwrap();
        let expected = [
            Record { queue_id: 3, queue_offset: 1 << 33, body: b"first".to_vec() },
            Record { queue_id: 3, queue_offset: 7, body: Vec::new() },
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_record_cut_off_is_an_error() {
        let bytes = record(1, b"body");
        for end in 1..bytes.len() {
            assert!(read_all(&bytes[..end]).is_err(), "{end} of {} bytes", bytes.len());
        }
    }
}
