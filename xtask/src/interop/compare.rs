//! Compares what arrived with what was sent, field by field.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::net::{IpAddr, SocketAddr};

use anyhow::{Context, Result, bail, ensure};

use super::messages::{Acknowledged, Planned, Received};
use super::stamp::hex;

/// How many differences of one kind are shown.
const SHOWN: usize = 3;

/// Properties that clients and brokers add to what the user set.
const SYSTEM_PROPERTIES: [&str; 25] = [
    "id",
    "KEYS",
    "TAGS",
    "WAIT",
    "DELAY",
    "RETRY_TOPIC",
    "REAL_TOPIC",
    "REAL_QID",
    "PGROUP",
    "MIN_OFFSET",
    "MAX_OFFSET",
    "ORIGIN_MESSAGE_ID",
    "RECONSUME_TIME",
    "MSG_REGION",
    "TRACE_ON",
    "UNIQ_KEY",
    "MAX_RECONSUME_TIMES",
    "CONSUME_START_TIME",
    "INSTANCE_ID",
    "CLUSTER",
    "TRAN_MSG",
    "CORRECTION_FLAG",
    "MSG_TYPE",
    "INNER_MULTI_QUEUE_OFFSET",
    "__CRC32#",
];

/// A message of a plan and where the broker said it put it.
#[derive(Clone)]
pub struct Sent {
    pub topic: String,
    pub planned: Planned,
    pub acknowledged: Acknowledged,
}

/// Joins a plan with the acknowledgements of its producer and checks these: each message once, status
/// `SEND_OK`, queue offsets without a hole from `first_offsets` (0 for a queue not in it), distinct offset
/// ids that name the broker's address.
///
/// # Errors
/// The first thing that is not so.
pub fn join(
    topic: &str,
    plan: &[Planned],
    acknowledged: Vec<Acknowledged>,
    broker: SocketAddr,
    first_offsets: &BTreeMap<i64, i64>,
) -> Result<Vec<Sent>> {
    let mut queues: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
    let mut offset_ids = BTreeSet::new();
    let mut by_id = BTreeMap::new();
    for line in acknowledged {
        ensure!(line.status == "SEND_OK", "{}: expected status SEND_OK, found {}", line.id, line.status);
        physical_offset(&line.offset_id, broker).with_context(|| line.id.clone())?;
        ensure!(offset_ids.insert(line.offset_id.clone()), "offset id {} was given twice", line.offset_id);
        ensure!(
            queues.entry(line.queue_id).or_default().insert(line.queue_offset),
            "queue {} offset {} was given twice",
            line.queue_id,
            line.queue_offset
        );
        by_id.insert(line.id.clone(), line);
    }
    for (queue, offsets) in &queues {
        let first = first_offsets.get(queue).copied().unwrap_or(0);
        for (expected, found) in (first..).zip(offsets) {
            ensure!(expected == *found, "queue {queue}: expected offset {expected}, found {found}");
        }
    }
    let total = by_id.len();
    let sent: Vec<Sent> = plan
        .iter()
        .filter_map(|planned| {
            let acknowledged = by_id.remove(&planned.id)?;
            Some(Sent { topic: topic.to_owned(), planned: planned.clone(), acknowledged })
        })
        .collect();
    ensure!(sent.len() == plan.len(), "expected {} acknowledgements, found {total}", plan.len());
    Ok(sent)
}

/// The offset after the last one of each queue.
pub fn next_offsets(sent: &[Sent]) -> BTreeMap<i64, i64> {
    let mut next = BTreeMap::new();
    for Sent { acknowledged, .. } in sent {
        let offset = next.entry(acknowledged.queue_id).or_insert(0);
        *offset = (*offset).max(acknowledged.queue_offset + 1);
    }
    next
}

/// Checks that exactly the sent messages arrived, each once and unchanged.
///
/// # Errors
/// Names what is missing, what came too often, what came uninvited, or the first field that differs.
pub fn same<'a>(
    sent: impl IntoIterator<Item = &'a Sent>,
    received: &[Received],
    broker: SocketAddr,
) -> Result<()> {
    let mut wanted: BTreeMap<(&str, &str), &Sent> =
        sent.into_iter().map(|sent| ((sent.topic.as_str(), sent.planned.id.as_str()), sent)).collect();
    let count = wanted.len();
    let mut seen = BTreeSet::new();
    let (mut repeated, mut uninvited) = (Vec::new(), Vec::new());
    for message in received {
        let name = (message.topic.as_str(), message.id());
        if let Some(sent) = wanted.remove(&name) {
            unchanged(sent, message, broker)
                .with_context(|| format!("{} of {}", message.id(), message.topic))?;
            ensure!(
                message.reconsume_times == 0,
                "{}: expected reconsumeTimes 0, found {}",
                message.id(),
                message.reconsume_times
            );
            seen.insert(name);
        } else if seen.contains(&name) {
            repeated.push(name);
        } else {
            uninvited.push(name);
        }
    }
    let missing: Vec<_> = wanted.keys().collect();
    if missing.is_empty() && repeated.is_empty() && uninvited.is_empty() {
        return Ok(());
    }
    bail!(
        "of {count} messages {} are missing{}, {} came again{}, {} came that should not{}",
        missing.len(),
        examples(&missing),
        repeated.len(),
        examples(&repeated),
        uninvited.len(),
        examples(&uninvited)
    )
}

fn examples<T: Debug>(names: &[T]) -> String {
    if names.is_empty() { String::new() } else { format!(" {:?}", &names[..names.len().min(SHOWN)]) }
}

/// Checks every field of a first delivery, the place in the store included.
///
/// # Errors
/// The first field that differs.
pub fn unchanged(sent: &Sent, received: &Received, broker: SocketAddr) -> Result<()> {
    same_content(sent, received)?;
    let acknowledged = &sent.acknowledged;
    equal("offset id", &acknowledged.offset_id, &received.offset_id)?;
    equal("queue id", &acknowledged.queue_id, &received.queue_id)?;
    equal("queue offset", &acknowledged.queue_offset, &received.queue_offset)?;
    equal("physical offset", &physical_offset(&received.offset_id, broker)?, &received.physical_offset)?;
    equal("store host", &broker, &host(&received.store_host).context("store host")?)?;
    ensure!(
        received.born_timestamp > 0 && received.store_timestamp > 0,
        "no timestamps: born {}, stored {}",
        received.born_timestamp,
        received.store_timestamp
    );
    Ok(())
}

/// Checks what the user set, which stays the same over every redelivery.
///
/// # Errors
/// The first field that differs.
pub fn same_content(sent: &Sent, received: &Received) -> Result<()> {
    let planned = &sent.planned;
    let system = |name: &str| received.properties.get(name).map(String::as_str);
    equal("topic", &sent.topic, &received.topic)?;
    equal("tag", &planned.tag, &system("TAGS"))?;
    let keys = planned.keys.join(" ");
    equal("keys", &keys.as_str(), &system("KEYS").unwrap_or_default())?;
    let found: BTreeMap<&str, &str> = received
        .properties
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .filter(|(name, _)| !SYSTEM_PROPERTIES.contains(name))
        .collect();
    let expected = planned.properties.iter().map(|(name, value)| (*name, value.as_str())).collect();
    equal("user properties", &expected, &found)?;
    equal("body length", &planned.body.len(), &received.body_length)?;
    equal("body", &planned.body_sha256(), &received.body_sha256)?;
    if let Some(unique_key) = &sent.acknowledged.unique_key {
        equal("unique key", unique_key, &received.unique_key)?;
    }
    Ok(())
}

fn equal<T: PartialEq + Debug>(field: &str, expected: &T, found: &T) -> Result<()> {
    ensure!(expected == found, "{field}: expected {expected:?}, found {found:?}");
    Ok(())
}

/// Reads an address as Java prints it: an IPv6 address has no brackets.
///
/// # Errors
/// When it is none.
pub fn host(text: &str) -> Result<SocketAddr> {
    let address = text.rsplit_once(':').and_then(|(ip, port)| {
        let ip: IpAddr = ip.parse().ok()?;
        Some(SocketAddr::new(ip, port.parse().ok()?))
    });
    address.with_context(|| format!("expected address:port, found {text:?}"))
}

/// Reads the physical offset out of an offset id: IP address (4 or 16 bytes), port (4 bytes), offset (8 bytes), all in hex.
///
/// # Errors
/// When it is not such an id of a broker at this address.
pub fn physical_offset(offset_id: &str, broker: SocketAddr) -> Result<i64> {
    let ip = match broker.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let prefix = format!("{}{:08X}", hex(&ip).to_uppercase(), broker.port());
    let digits = offset_id.strip_prefix(&prefix).filter(|digits| digits.len() == 16);
    digits
        .and_then(|digits| i64::from_str_radix(digits, 16).ok())
        .with_context(|| format!("expected an offset id {prefix} + 16 hex digits, found {offset_id:?}"))
}

#[cfg(test)]
mod tests;
