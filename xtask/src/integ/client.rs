//! A client with one connection: sends, pulls, asks for offsets.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail, ensure};
use serde_json::json;

use super::record::{self, Record};
use crate::harness::remoting::Connection;

/// Request codes.
const PULL_MESSAGE: u32 = 11;
const GET_MAX_OFFSET: u32 = 30;
const GET_MIN_OFFSET: u32 = 31;
const SEND_MESSAGE_V2: u32 = 310;
/// Answer codes.
const SUCCESS: i64 = 0;
const FLUSH_DISK_TIMEOUT: i64 = 10;
const PULL_NOT_FOUND: i64 = 19;
const PULL_RETRY_IMMEDIATELY: i64 = 20;
/// The bit of a pull that says it brings its subscription.
const WITH_SUBSCRIPTION: &str = "4";
/// How long a broker may take to answer: longer than its own limit for a sync.
const PATIENCE: Duration = Duration::from_secs(20);
/// Queues of a topic that is made by sending to it.
pub const QUEUES: i64 = 4;

/// How a broker answered a send.
#[derive(Debug)]
pub enum Sent {
    /// It is responsible for the message now.
    Acknowledged { queue_offset: i64 },
    /// The message is in the log, but may not survive.
    Doubtful { code: i64, remark: String },
    /// The message is not stored.
    Refused { code: i64, remark: String },
}

pub struct Client {
    connection: Connection,
}

impl Client {
    /// # Errors
    /// When nobody listens there.
    pub fn connect(address: &str) -> Result<Self> {
        Ok(Client { connection: Connection::open(address, PATIENCE)? })
    }

    /// Sends a message with a key.
    ///
    /// # Errors
    /// When no answer comes: the message may be stored or not.
    pub fn send(&mut self, topic: &str, queue: i64, key: &str, body: &[u8]) -> Result<Sent> {
        let born = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis().to_string();
        let fields = json!({
            "a": "integ", "b": topic, "c": "TBW102", "d": QUEUES.to_string(), "e": queue.to_string(),
            "f": "0", "g": born, "h": "0", "i": format!("KEYS\u{1}{key}\u{2}"), "j": "0", "k": "false", "m": "false",
        });
        let answer = self.connection.ask(SEND_MESSAGE_V2, &fields, body)?;
        let (code, remark) = (answer.code, answer.remark.clone());
        let has_id = answer.fields.get("msgId").and_then(|id| id.as_str()).is_some_and(|id| !id.is_empty());
        match code {
            SUCCESS => {
                let stored_in = answer.number("queueId")?;
                ensure!(stored_in == queue, "sent to queue {queue}, stored in queue {stored_in}");
                Ok(Sent::Acknowledged { queue_offset: answer.number("queueOffset")? })
            }
            FLUSH_DISK_TIMEOUT => Ok(Sent::Doubtful { code, remark }),
            _ if has_id => Ok(Sent::Doubtful { code, remark }),
            _ => Ok(Sent::Refused { code, remark }),
        }
    }

    /// The messages from an offset on, as many as the broker likes to give; none at the end of the queue.
    ///
    /// # Errors
    /// When no answer comes or it is another one.
    pub fn pull(&mut self, topic: &str, queue: i64, offset: i64) -> Result<Vec<Record>> {
        let fields = json!({
            "consumerGroup": "integ", "topic": topic, "queueId": queue.to_string(),
            "queueOffset": offset.to_string(), "maxMsgNums": "1000", "sysFlag": WITH_SUBSCRIPTION,
            "commitOffset": "0", "suspendTimeoutMillis": "0", "subscription": "*", "subVersion": "0",
            "expressionType": "TAG",
        });
        let answer = self.connection.ask(PULL_MESSAGE, &fields, &[])?;
        match answer.code {
            SUCCESS => record::read_all(&answer.body),
            PULL_NOT_FOUND | PULL_RETRY_IMMEDIATELY => Ok(Vec::new()),
            code => bail!("{topic} queue {queue} offset {offset}: pull answered {code}: {}", answer.remark),
        }
    }

    /// The offsets of the first message of a queue and behind its last.
    ///
    /// # Errors
    /// When no answer comes or it is a refusal.
    pub fn offsets(&mut self, topic: &str, queue: i64) -> Result<(i64, i64)> {
        let fields = json!({ "topic": topic, "queueId": queue.to_string() });
        let mut ask = |code| {
            let answer = self.connection.ask(code, &fields, &[])?;
            ensure!(answer.code == SUCCESS, "{topic} queue {queue}: {}: {}", answer.code, answer.remark);
            answer.number("offset")
        };
        Ok((ask(GET_MIN_OFFSET)?, ask(GET_MAX_OFFSET)?))
    }
}
