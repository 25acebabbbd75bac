//! A client's batch: several messages in one body, all for one queue.
//!
//! In a topic with batch queues it is stored as it came, in one record (an inner batch), provided that it has a unique id
//! of its own; else each message gets its record.
//!
//! Each entry: total length, two ignored fields, flag (4 bytes each), body length (4) and body, properties length (2) and
//! properties (`MessageDecoder.encodeMessage`).

use super::answer::Answering;
use super::{Incoming, illegal, sys_flag_of};
use crate::broker_context::BrokerContext;
use crate::processor::Refusal;
use crate::topic_config_manager::queue_type;
use crate::topic_validator::{RETRY_GROUP_TOPIC_PREFIX, TOPIC_MAX_LENGTH};
use store_core::properties::{Properties, get, names};
use store_core::{Message, PutTicket, QueueType, sys_flag};

/// One message of a client's batch.
#[derive(Debug, PartialEq, Eq)]
pub struct BatchEntry<'a> {
    /// The application's flag.
    pub flag: i32,
    /// Content.
    pub body: &'a [u8],
    /// Property string.
    pub properties: &'a str,
}

pub(super) fn put(
    context: &BrokerContext,
    incoming: &Incoming,
    answering: &mut Answering,
) -> Result<PutTicket, Refusal> {
    let header = &incoming.header;
    if header.topic.len() > TOPIC_MAX_LENGTH {
        return Err(illegal(format!("message topic length too long {}", header.topic.len())));
    }
    if header.topic.starts_with(RETRY_GROUP_TOPIC_PREFIX) {
        return Err(illegal(format!("batch request does not support retry group {}", header.topic)));
    }
    refuse_delayed(header.properties.as_deref().unwrap_or(""))?;
    let entries = decode_batch(&incoming.body).map_err(illegal)?;
    let mut queue_id = header.queue_id;
    if queue_id < 0 {
        queue_id = context.random_below(incoming.topic.write_queue_nums);
    }
    answering.queue_id = queue_id;
    if queue_type(&incoming.topic) == QueueType::BatchCq {
        let properties = Properties::parse(header.properties.as_deref().unwrap_or(""));
        if let Some(id) = properties.get(names::UNIQ_CLIENT_MESSAGE_ID_KEYIDX).map(str::to_owned) {
            answering.transaction_id = Some(id.clone());
            answering.batch_uniq_id = Some(id);
            return put_inner(context, incoming, queue_id, properties, entries.len());
        }
    }
    let messages: Vec<Message<'_>> = entries
        .iter()
        .map(|entry| Message {
            topic: &header.topic,
            queue_id,
            flag: entry.flag,
            sys_flag: sys_flag_of(header, &incoming.topic),
            born_timestamp: header.born_timestamp,
            born_host: incoming.peer,
            store_host: context.store_host,
            reconsume_times: header.reconsume_times,
            prepared_transaction_offset: 0,
            body: entry.body,
            properties: entry.properties,
        })
        .collect();
    Ok(context.store.put_batch(&messages))
}

/// Puts the whole batch as one record.
fn put_inner(
    context: &BrokerContext,
    incoming: &Incoming,
    queue_id: i32,
    mut properties: Properties,
    count: usize,
) -> Result<PutTicket, Refusal> {
    let header = &incoming.header;
    if i16::try_from(count).is_err() {
        return Err(illegal(format!("a batch: expected at most {} messages, found {count}", i16::MAX)));
    }
    properties.set(names::CLUSTER, &context.config.broker_cluster_name);
    properties.set(names::INNER_NUM, &count.to_string());
    Ok(context.store.put(&Message {
        topic: &header.topic,
        queue_id,
        flag: header.flag,
        sys_flag: sys_flag_of(header, &incoming.topic) | sys_flag::NEED_UNWRAP | sys_flag::INNER_BATCH,
        born_timestamp: header.born_timestamp,
        born_host: incoming.peer,
        store_host: context.store_host,
        reconsume_times: header.reconsume_times,
        prepared_transaction_offset: 0,
        body: &incoming.body,
        properties: &properties.encode(),
    }))
}

/// Delays and transactions are of single messages.
fn refuse_delayed(properties: &str) -> Result<(), Refusal> {
    let delayed = get(properties, names::DELAY_TIME_LEVEL).is_some_and(|level| level != "0");
    let timed = [names::TIMER_DELAY_SEC, names::TIMER_DELAY_MS, names::TIMER_DELIVER_MS]
        .into_iter()
        .any(|name| get(properties, name).is_some());
    if delayed || timed {
        return Err(illegal("a batch cannot be delayed"));
    }
    Ok(())
}

/// Takes the body of a client's batch apart.
///
/// # Errors
///
/// The entry that is cut off, for people; a batch without entries.
pub fn decode_batch(body: &[u8]) -> Result<Vec<BatchEntry<'_>>, String> {
    let mut entries = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        let at = body.len() - rest.len();
        let entry = decode_entry(&mut rest)
            .ok_or_else(|| format!("batch entry {} at byte {at}: cut off", entries.len()))?;
        entries.push(entry);
    }
    if entries.is_empty() {
        return Err("a batch without messages".to_owned());
    }
    Ok(entries)
}

fn decode_entry<'a>(rest: &mut &'a [u8]) -> Option<BatchEntry<'a>> {
    let total = usize::try_from(i32_at(rest, 0)?).ok()?;
    let entry = rest.get(..total)?;
    let flag = i32_at(entry, 12)?;
    let body_len = usize::try_from(i32_at(entry, 16)?).ok()?;
    let body = entry.get(20..)?.get(..body_len)?;
    let tail = &entry[20 + body_len..];
    let properties_len = usize::from(u16::from_be_bytes(tail.get(..2)?.try_into().ok()?));
    let properties = std::str::from_utf8(tail.get(2..)?.get(..properties_len)?).ok()?;
    *rest = &rest[total..];
    Some(BatchEntry { flag, body, properties })
}

fn i32_at(bytes: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entry of a message `hi` with the tag TagA, as Java's client writes it.
    fn java_entry() -> Vec<u8> {
        let mut bytes =
            vec![0, 0, 0, 0x22, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, b'h', b'i', 0, 10];
        bytes.extend_from_slice(b"TAGS\x01TagA\x02");
        bytes
    }

    #[test]
    fn reads_what_java_writes() {
        let mut body = java_entry();
        body.extend(java_entry());
        let entries = decode_batch(&body).unwrap();
        let expected = BatchEntry { flag: 0, body: b"hi", properties: "TAGS\u{1}TagA\u{2}" };
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[1], expected);
    }

    #[test]
    fn every_truncation_is_refused() {
        let body = java_entry();
        for len in 0..body.len() {
            assert!(decode_batch(&body[..len]).is_err(), "{len}");
        }
        let mut huge = body;
        huge[16..20].copy_from_slice(&i32::MAX.to_be_bytes());
        assert!(decode_batch(&huge).is_err());
    }
}
