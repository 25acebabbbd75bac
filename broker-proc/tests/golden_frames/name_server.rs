//! The recorded traffic of a Java name server, replayed to ours: same requests, same answers.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use broker_proc::namesrv::{NamesrvProcessor, NamesrvSettings, ORDER_TOPIC_CONFIG};
use broker_proc::remoting::{Channel, RemotingCommand, Reply, RequestHandler};
use store_core::java_json;

use crate::bodies::normalized;
use crate::decode;
use crate::recording::{Recorded, recorded_frames};

/// Answers of ours that differ on purpose: the settings have other keys, and a request without its required
/// fields is refused instead of being answered with nothing.
const DIFFERENT: [i32; 2] = [319, 901];

/// The two recordings whose brokers registered over a recorded connection; the numbers of their connections
/// start here. Running numbers are independent.
const SESSIONS: [i32; 2] = [0, 20_000];

fn is_of(session: i32, recorded: &Recorded) -> bool {
    (session..session + 10_000).contains(&recorded.number("conn"))
}

/// One name server with the connections that the recording had.
struct Replay {
    processor: NamesrvProcessor,
    channels: HashMap<i32, Arc<Channel>>,
    /// Connections of brokers by the running number of their last frame.
    broker_connections: BTreeMap<i32, i32>,
}

impl Replay {
    fn new() -> Self {
        let processor = NamesrvProcessor::new(NamesrvSettings::default(), Arc::new(|| 0), None).unwrap();
        // The name server had kept this from before the recordings.
        processor.kv_config().put(ORDER_TOPIC_CONFIG, "TopicMade2", "broker-a:3").unwrap();
        let mut last_frames: BTreeMap<i32, i32> = BTreeMap::new();
        let of_brokers = |recorded: &&Recorded| recorded.text("link") == "broker-namesrv";
        for recorded in recorded_frames().iter().filter(of_brokers) {
            let last = last_frames.entry(recorded.number("conn")).or_default();
            *last = recorded.number("t").max(*last);
        }
        let broker_connections =
            last_frames.into_iter().map(|(connection, last)| (last, connection)).collect();
        Self { processor, channels: HashMap::new(), broker_connections }
    }

    fn answer(&mut self, recorded: &Recorded) -> RemotingCommand {
        while let Some(entry) = self.broker_connections.first_entry() {
            if *entry.key() >= recorded.number("t") {
                break;
            }
            if let Some(channel) = self.channels.get(&entry.remove()) {
                self.processor.channel_closed(channel);
            }
        }
        let connection = recorded.number("conn");
        let peer = "127.0.0.1:1".parse().unwrap();
        let channel = self.channels.entry(connection).or_insert_with(|| Arc::new(Channel::detached(peer)));
        match self.processor.handle(channel, decode(recorded)) {
            Reply::Now(answer) => answer,
            other => panic!("{}: {other:?}", recorded.place()),
        }
    }
}

/// What is different between an answer and the recorded one.
fn difference(ours: &RemotingCommand, java: &RemotingCommand, code: i32) -> Option<String> {
    let remark = |command: &RemotingCommand| command.remark.clone().filter(|_| command.code != 0);
    if (ours.code, remark(ours)) != (java.code, remark(java)) && code != 322 {
        return Some(format!("{} {:?} for {} {:?}", ours.code, ours.remark, java.code, java.remark));
    }
    let mut java = java.clone();
    if java.field("haServerAddr") == Some("127.0.0.1:22862") {
        // The recording replaced this address to lead the replica through itself.
        java = java.with_field("haServerAddr", "127.0.0.1:22812");
    }
    if ours.fields() != java.fields() {
        return Some(format!("{:?} for {:?}", ours.fields(), java.fields()));
    }
    let [ours, java] = [ours, &java].map(|command| command.body.to_bytes());
    let same = match (java_json::parse(&ours), java_json::parse(&java)) {
        (Ok(ours), Ok(java)) => normalized(ours) == normalized(java),
        _ => ours == java,
    };
    (!same).then(|| format!("{}\n for {}", ours.escape_ascii(), java.escape_ascii()))
}

#[test]
fn our_name_server_answers_like_that_of_java() {
    let (mut same, mut different) = (0, Vec::new());
    for session in SESSIONS {
        let frames =
            || recorded_frames().iter().filter(|recorded| recorded.is_frame() && is_of(session, recorded));
        let answers: HashMap<_, _> = frames()
            .filter(|recorded| recorded.is_response())
            .map(|recorded| (recorded.number("requestT"), recorded))
            .collect();
        let mut requests: Vec<_> = frames()
            .filter(|recorded| recorded.text("link").ends_with("-namesrv") && !recorded.is_response())
            .collect();
        requests.sort_by_key(|recorded| recorded.number("t"));
        let mut server = Replay::new();
        for recorded in requests {
            let ours = server.answer(recorded);
            let code = recorded.number("code");
            let Some(answer) = answers.get(&recorded.number("t")).filter(|_| !DIFFERENT.contains(&code))
            else {
                continue;
            };
            match difference(&ours, &decode(answer), code) {
                None => same += 1,
                Some(text) => different.push(format!("{} code {code}: {text}", recorded.place())),
            }
        }
    }
    // Java takes a broker off in the background, some time after the answer; here it still showed it.
    different.retain(|text: &String| !text.starts_with("broker-namesrv t=5925 code 106"));
    assert!(different.is_empty(), "{} of {}:\n{}", different.len(), same, different.join("\n"));
    assert!(same > 900, "only {same} requests");
}
