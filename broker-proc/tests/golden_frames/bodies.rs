//! JSON bodies of the recorded frames.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use broker_proc::remoting::RemotingCommand;
use broker_proc::remoting::protocol::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use store_core::java_json;

use crate::decode;
use crate::recording::recorded_frames;

/// Properties that Java writes and nobody reads.
const UNREAD: [&str; 3] = ["minTimeStampStr", "maxTimeStampStr", "consumeTimeStampStr"];

/// Makes documents comparable: lists sorted, as most of them are sets, and unread properties removed.
pub fn normalized(mut value: Value) -> Value {
    match &mut value {
        Value::Array(list) => {
            let mut sorted: Vec<_> = list.drain(..).map(normalized).collect();
            sorted.sort_by_cached_key(Value::to_string);
            Value::Array(sorted)
        }
        Value::Object(map) => {
            let kept = std::mem::take(map).into_iter().filter(|(key, _)| !UNREAD.contains(&key.as_str()));
            Value::Object(kept.map(|(key, value)| (key, normalized(value))).collect())
        }
        _ => value,
    }
}

/// Reads a body into its type and checks that writing it gives the same document.
fn check<T: DeserializeOwned + Serialize>(command: &RemotingCommand) -> Result<(), String> {
    let body = command.body.to_bytes();
    let typed: T = command.decode_body().map_err(|error| error.to_string())?;
    let written = java_json::to_vec(&typed).map_err(|error| error.to_string())?;
    let recorded = java_json::parse(&body).map_err(|error| error.to_string())?;
    let again = java_json::parse(&written).map_err(|error| error.to_string())?;
    let (recorded, again) = (normalized(recorded), normalized(again));
    if missing(&recorded, &again) {
        return Err(format!("read {recorded}\nwrote {again}"));
    }
    Ok(())
}

/// Whether something recorded is lost or changed. What is written may hold more: defaults of absent
/// properties.
fn missing(recorded: &Value, written: &Value) -> bool {
    match (recorded, written) {
        (Value::Object(recorded), Value::Object(written)) => {
            recorded.iter().any(|(key, value)| written.get(key).is_none_or(|written| missing(value, written)))
        }
        (Value::Array(recorded), Value::Array(written)) => {
            recorded.len() != written.len()
                || recorded.iter().zip(written).any(|(recorded, written)| missing(recorded, written))
        }
        (recorded, written) => recorded != written,
    }
}

type Check = fn(&RemotingCommand) -> Result<(), String>;

fn request_bodies() -> HashMap<i32, Check> {
    HashMap::from([
        (18, check::<CreateTopicListRequestBody> as Check),
        (34, check::<HeartbeatData>),
        (41, check::<LockBatchRequestBody>),
        (42, check::<LockBatchRequestBody>),
        (46, check::<CheckClientRequestBody>),
        (103, check::<RegisterBrokerBody>),
        (200, check::<SubscriptionGroupConfig>),
        (225, check::<SubscriptionGroupList>),
        (400, check::<QueryAssignmentRequestBody>),
        (401, check::<SetMessageRequestModeRequestBody>),
        (513, check::<TopicQueueMappingDetail>),
    ])
}

fn response_bodies() -> HashMap<i32, Check> {
    HashMap::from([
        (21, check::<TopicConfigAndMappingSerializeWrapper> as Check),
        (28, check::<KvTable>),
        (38, check::<GetConsumerListByGroupResponseBody>),
        (41, check::<LockBatchResponseBody>),
        (43, check::<ConsumerOffsetSerializeWrapper>),
        (45, check::<DelayOffsetSerializeWrapper>),
        (103, check::<KvTable>),
        (105, check::<TopicRouteData>),
        (106, check::<ClusterInfo>),
        (201, check::<SubscriptionGroupWrapper>),
        (202, check::<TopicStatsTable>),
        (203, check::<ConsumerConnection>),
        (204, check::<ProducerConnection>),
        (206, check::<TopicList>),
        (208, check::<ConsumeStats>),
        (219, check::<KvTable>),
        (221, check::<ConsumerStatusBody>),
        (222, check::<ResetOffsetBody>),
        (223, check::<ConsumerStatusBody>),
        (224, check::<TopicList>),
        (300, check::<GroupList>),
        (303, check::<QueryConsumeTimeSpanBody>),
        (304, check::<TopicList>),
        (305, check::<TopicList>),
        (307, check::<ConsumerRunningInfo>),
        (309, check::<ConsumeMessageDirectlyResult>),
        (311, check::<TopicList>),
        (312, check::<TopicList>),
        (313, check::<TopicList>),
        (315, check::<BrokerStatsData>),
        (317, check::<ConsumeStatsList>),
        (321, check::<QueryConsumeQueueResponseBody>),
        (328, check::<ProducerTableInfo>),
        (343, check::<TopicList>),
        (345, check::<QuerySubscriptionResponseBody>),
        (351, check::<TopicConfigAndQueueMapping>),
        (353, check::<GroupForbidden>),
        (400, check::<QueryAssignmentResponseBody>),
        (402, check::<MessageRequestModeSerializeWrapper>),
        (901, check::<GetBrokerMemberGroupResponseBody>),
    ])
}

#[test]
fn bodies_are_read_into_their_types_and_written_back() {
    let (requests, responses) = (request_bodies(), response_bodies());
    let mut seen: BTreeMap<bool, BTreeSet<i32>> = BTreeMap::new();
    let mut unreadable = Vec::new();
    for recorded in recorded_frames().iter().filter(|frame| frame.is_frame()) {
        let (table, code) = match recorded.is_response() {
            false => (&requests, recorded.number("code")),
            true if recorded.number("code") == 0 => (&responses, recorded.number("requestCode")),
            true => continue,
        };
        let command = decode(recorded);
        let Some(check) = table.get(&code).filter(|_| !command.body.is_empty()) else {
            continue;
        };
        seen.entry(recorded.is_response()).or_default().insert(code);
        if let Err(error) = check(&command) {
            unreadable.push(format!("{}: {error}", recorded.place()));
        }
    }
    // Odd heartbeats: broken JSON was sent on purpose, and one client writes the enum constants its own way.
    unreadable.retain(|place| !place.starts_with("odd-clients"));
    assert!(unreadable.is_empty(), "{}", unreadable.join("\n"));
    for (response, table) in [(false, requests), (true, responses)] {
        let unseen: Vec<_> = table.keys().filter(|code| !seen[&response].contains(code)).collect();
        assert!(unseen.is_empty(), "no body for {unseen:?}");
    }
}

#[test]
fn every_json_body_parses() {
    let mut bodies = 0;
    for recorded in recorded_frames().iter().filter(|frame| frame.is_frame()) {
        let body = decode(recorded).body.to_bytes();
        let looks_like_json = body.starts_with(b"{") || body.starts_with(b"[");
        if looks_like_json && recorded.text("file") != "odd-clients" {
            let parsed =
                java_json::parse(&body).unwrap_or_else(|error| panic!("{}: {error}", recorded.place()));
            let pretty = java_json::to_string_pretty(&parsed).unwrap();
            assert_eq!(java_json::parse(pretty.as_bytes()).unwrap(), parsed, "{}", recorded.place());
            bodies += 1;
        }
    }
    assert!(bodies > 1000, "{bodies}");
}

#[test]
fn checksums_of_registrations_are_right() {
    let mut registrations = 0;
    for recorded in
        recorded_frames().iter().filter(|frame| frame.number("code") == 103 && !frame.is_response())
    {
        let command = decode(recorded);
        let expected = crc32fast::hash(&command.body.to_bytes()) & 0x7FFF_FFFF;
        assert_eq!(command.field("bodyCrc32"), Some(expected.to_string().as_str()), "{}", recorded.place());
        registrations += 1;
    }
    assert!(registrations > 100, "{registrations}");
    assert_eq!(crc32fast::hash(b"hello") & 0x7FFF_FFFF, 907_060_870);
}
