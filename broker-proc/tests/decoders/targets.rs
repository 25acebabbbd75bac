//! Decoders of this layer, each as a function of any bytes: it returns, whatever it gets, and what it asserts holds. Run
//! over seeds and mutated seeds by `tests/decoders.rs`, and by `cargo xtask fuzz` as long as one likes.

use broker_proc::broker_config::BrokerConfig;
use broker_proc::processors::decode_batch;
use broker_proc::remoting::headers::{
    PullMessageRequestHeader, QueryMessageRequestHeader, SendMessageRequestHeader,
};
use broker_proc::remoting::protocol::{
    CreateTopicListRequestBody, HeartbeatData, LockBatchRequestBody, RegisterBrokerBody,
    SubscriptionGroupConfig,
};
use broker_proc::remoting::{
    FrameLimits, RemotingCommand, SerializeType, binary_header, frame, json_header, request_code,
};
use bytes::BytesMut;

use super::no_machine::NoMachine;
use super::recording::recorded_frames;

/// A target: its name, and what is done with the input.
pub type Target = (&'static str, fn(&[u8]));

/// Name and function of each.
pub const TARGETS: [Target; 6] = [
    ("frame", frame),
    ("json_header", json),
    ("binary_header", binary),
    ("request_body", request_body),
    ("client_batch", client_batch),
    ("broker_conf", broker_conf),
];

/// Takes frames until there is none or one is broken. What was taken goes into a frame again and comes out the same.
fn frame(bytes: &[u8]) {
    let mut received = BytesMut::from(bytes);
    while let Ok(Some(command)) = frame::decode(&mut received, FrameLimits::CLIENT) {
        assert!(command.body.len() < bytes.len());
        again(&command);
        typed_headers(&command);
    }
}

fn again(command: &RemotingCommand) {
    let Ok(encoded) = frame::encode(command) else { return };
    let mut encoded = BytesMut::from(&encoded[..]);
    match frame::decode(&mut encoded, FrameLimits::CLIENT) {
        Ok(Some(decoded)) => {
            // A header that has no room in the binary form goes as JSON.
            let decoded = RemotingCommand { serialize: command.serialize, ..decoded };
            assert_eq!(plain(decoded), plain(command.clone()));
        }
        other => panic!("{command:?} was written and read as {other:?}"),
    }
    assert!(encoded.is_empty());
}

/// What the two forms do not tell apart: no fields and an empty table, no remark and an empty one.
fn plain(mut command: RemotingCommand) -> RemotingCommand {
    command.ext_fields = command.ext_fields.filter(|fields| !fields.is_empty());
    command.remark = command.remark.filter(|remark| !remark.is_empty());
    command
}

fn typed_headers(command: &RemotingCommand) {
    let _ = command.decode_header::<SendMessageRequestHeader>();
    let _ = command.decode_header::<PullMessageRequestHeader>();
    let _ = command.decode_header::<QueryMessageRequestHeader>();
}

fn json(bytes: &[u8]) {
    if let Ok(command) = json_header::decode(bytes) {
        assert_eq!(command.serialize, SerializeType::Json);
        again(&command);
    }
}

fn binary(bytes: &[u8]) {
    if let Ok(command) = binary_header::decode(bytes) {
        assert_eq!(command.serialize, SerializeType::RocketMq);
        again(&command);
    }
}

fn request_body(bytes: &[u8]) {
    let command = RemotingCommand::request(request_code::HEART_BEAT).with_body(bytes.to_vec());
    let _ = command.decode_body::<CreateTopicListRequestBody>();
    let _ = command.decode_body::<HeartbeatData>();
    let _ = command.decode_body::<LockBatchRequestBody>();
    let _ = command.decode_body::<RegisterBrokerBody>();
    let _ = command.decode_body::<SubscriptionGroupConfig>();
}

fn client_batch(bytes: &[u8]) {
    let Ok(entries) = decode_batch(bytes) else { return };
    let content: usize = entries.iter().map(|entry| entry.body.len() + entry.properties.len() + 22).sum();
    assert!(!entries.is_empty() && content <= bytes.len());
}

/// A configuration is told, or refused with a reason.
fn broker_conf(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match BrokerConfig::parse(&text, "broker.conf", &NoMachine) {
        Ok(loaded) => assert!(loaded.effective_properties().contains("brokerName")),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Good inputs of each target, to begin with.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    // Every thirtieth: all kinds of codes, in a moment.
    let frames = || recorded_frames().iter().step_by(30).filter(|recorded| recorded.is_frame());
    let headers = |serialize: u8| {
        let of_kind = frames().filter(move |recorded| recorded.frame[4] == serialize);
        of_kind.map(|recorded| {
            let len =
                u32::from_be_bytes([0, recorded.frame[5], recorded.frame[6], recorded.frame[7]]) as usize;
            recorded.frame[8..8 + len].to_vec()
        })
    };
    match target {
        "frame" => frames().map(|recorded| recorded.frame.to_vec()).collect(),
        "json_header" => headers(0).collect(),
        "binary_header" => headers(1).collect(),
        "request_body" => {
            let decoded = frames().filter_map(|recorded| {
                frame::decode(&mut BytesMut::from(recorded.frame), FrameLimits::CLIENT).ok().flatten()
            });
            decoded.map(|command| command.body.to_bytes().to_vec()).filter(|body| body.starts_with(b"{")).collect()
        }
        "client_batch" => {
            let mut entry = vec![0, 0, 0, 0x22, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, b'h', b'i', 0, 10];
            entry.extend_from_slice(b"TAGS\x01TagA\x02");
            vec![[&entry[..], &entry].concat(), entry]
        }
        "broker_conf" => vec![
            b"# a comment\nbrokerName=a\nlistenPort = 10911\nflushDiskType:SYNC_FLUSH\nstorePathRootDir=data\\u0041\n"
                .to_vec(),
            b"messageDelayLevel=1s 5s 10s 1m\ndeleteWhen=04;05\nfileReservedTime=72\nmaxMessageSize=4194304\n".to_vec(),
            b"brokerIP1=127.0.0.1\nnamesrvAddr=127.0.0.1:9876\\\n;127.0.0.1:9877\nautoCreateTopicEnable=true\n".to_vec(),
        ],
        _ => panic!("no target {target}"),
    }
}
