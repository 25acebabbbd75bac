//! Sends a plan by requests of the harness itself.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use crate::harness::remoting::{Answer, Connection};
use crate::interop::broker::Broker;
use crate::interop::messages::{Acknowledged, Planned};

/// `SEND_MESSAGE` of the remoting protocol.
const SEND_MESSAGE: u32 = 10;
/// The topic whose settings a topic that is made by a send gets.
const DEFAULT_TOPIC: &str = "TBW102";
const QUEUES: usize = 4;
const ANSWER: Duration = Duration::from_secs(10);
/// A broker under load asks to send again.
const SYSTEM_BUSY: i64 = 2;

/// Sends the messages one after the other to the queues by turns.
pub fn send(broker: &Broker<'_>, topic: &str, plan: &[Planned]) -> Result<Vec<Acknowledged>> {
    let mut connection = Connection::open(&broker.socket().to_string(), ANSWER)?;
    let mut acknowledged = Vec::with_capacity(plan.len());
    for (index, planned) in plan.iter().enumerate() {
        let queue = index % QUEUES;
        let line = send_one(&mut connection, topic, queue, planned).and_then(|answer| {
            Ok(Acknowledged {
                id: planned.id.clone(),
                status: "SEND_OK".to_owned(),
                unique_key: None,
                offset_id: answer.fields["msgId"].as_str().context("the answer has no msgId")?.to_owned(),
                queue_id: answer.number("queueId")?,
                queue_offset: answer.number("queueOffset")?,
                body_sha256: None,
            })
        });
        acknowledged.push(line.with_context(|| format!("{} to {topic}", planned.id))?);
    }
    Ok(acknowledged)
}

fn send_one(connection: &mut Connection, topic: &str, queue: usize, planned: &Planned) -> Result<Answer> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_millis();
    let fields = json!({
        "producerGroup": "interop_requests",
        "topic": topic,
        "defaultTopic": DEFAULT_TOPIC,
        "defaultTopicQueueNums": QUEUES.to_string(),
        "queueId": queue.to_string(),
        "sysFlag": "0",
        "bornTimestamp": now.to_string(),
        "flag": "0",
        "properties": properties(planned),
        "reconsumeTimes": "0",
        "unitMode": "false",
        "batch": "false",
    });
    for _ in 0..10 {
        let answer = connection.ask(SEND_MESSAGE, &fields, &planned.body)?;
        match answer.code {
            0 => return Ok(answer),
            SYSTEM_BUSY => {}
            code => bail!("answered {code}: {}", answer.remark),
        }
    }
    bail!("the broker stayed busy")
}

/// The property string of a record: name, 1, value, 2.
fn properties(planned: &Planned) -> String {
    let keys = planned.keys.join(" ");
    let mut all: BTreeMap<&str, &str> =
        planned.properties.iter().map(|(name, value)| (*name, value.as_str())).collect();
    all.insert("id", &planned.id);
    if let Some(tag) = planned.tag {
        all.insert("TAGS", tag);
    }
    if !keys.is_empty() {
        all.insert("KEYS", &keys);
    }
    all.into_iter().map(|(name, value)| format!("{name}\u{1}{value}\u{2}")).collect()
}
