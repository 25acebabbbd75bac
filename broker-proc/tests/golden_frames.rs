//! Frames recorded from Java RocketMQ 5.5.0: every one must decode to what another program read in it, and
//! what is written back must mean the same.

#[path = "golden_frames/bodies.rs"]
mod bodies;
#[path = "golden_frames/headers.rs"]
mod headers;
#[path = "golden_frames/hostile.rs"]
mod hostile;
#[path = "golden_frames/name_server.rs"]
mod name_server;
#[path = "golden_frames/recording.rs"]
mod recording;

use broker_proc::remoting::{ExtFields, FrameLimits, LanguageCode, RemotingCommand, SerializeType, frame};
use bytes::BytesMut;
use recording::{Recorded, recorded_frames};
use serde_json::Value;

/// Decodes one whole frame.
fn decode(recorded: &Recorded) -> RemotingCommand {
    let mut received = BytesMut::from(recorded.frame);
    let command = frame::decode(&mut received, FrameLimits::CLIENT)
        .unwrap_or_else(|error| panic!("{}: {error}", recorded.place()))
        .unwrap_or_else(|| panic!("{}: incomplete", recorded.place()));
    assert!(received.is_empty(), "{}: {} bytes left", recorded.place(), received.len());
    command
}

/// The recorded header as the fields that the decoder must find.
fn expected_command(recorded: &Recorded) -> RemotingCommand {
    let header = recorded.meta["header"].as_object().unwrap();
    let integer = |name: &str| match header.get(name) {
        None | Some(Value::Null) => 0,
        Some(Value::String(text)) => text.parse().unwrap(),
        Some(number) => i32::try_from(number.as_i64().unwrap()).unwrap(),
    };
    let fields = header.get("extFields").and_then(Value::as_object).map(|fields| {
        let present = fields.iter().filter(|(_, value)| !value.is_null());
        present.map(|(name, value)| (name.clone(), text_of(value))).collect::<ExtFields>()
    });
    let mut expected = RemotingCommand::request(integer("code"));
    expected.version = integer("version");
    expected.opaque = integer("opaque");
    expected.flag = integer("flag");
    expected.language = header
        .get("language")
        .map_or(LanguageCode::Other, |language| LanguageCode::from_text(&text_of(language)));
    expected.remark = header.get("remark").and_then(Value::as_str).map(str::to_owned);
    expected.ext_fields = fields;
    expected.serialize = match recorded.meta["serialize"].as_str() {
        Some("JSON") => SerializeType::Json,
        Some("ROCKETMQ") => SerializeType::RocketMq,
        other => panic!("{}: serialize type {other:?}", recorded.place()),
    };
    expected
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[test]
fn every_frame_decodes_to_its_recorded_header() {
    let mut frames = 0;
    for recorded in recorded_frames().iter().filter(|recorded| recorded.is_frame()) {
        let mut command = decode(recorded);
        let body = std::mem::take(&mut command.body);
        assert_eq!(command, expected_command(recorded), "{}", recorded.place());
        assert_eq!(Some(body.len() as u64), recorded.meta["bodyLength"].as_u64(), "{}", recorded.place());
        frames += 1;
    }
    assert_eq!(frames, 5898);
}

#[test]
fn garbage_is_refused() {
    let mut refused = Vec::new();
    for recorded in recorded_frames().iter().filter(|recorded| !recorded.is_frame()) {
        let error = frame::decode(&mut BytesMut::from(recorded.frame), FrameLimits::SERVER);
        refused.push(error.expect_err(&recorded.place()).to_string());
    }
    let expected = [
        "header: JSON text at byte 11: expected a key, found the end of the text",
        "serialize type 7 found, 0 (JSON) or 1 (ROCKETMQ) expected",
        "header of 5000 bytes announced, at most 11 are possible here",
        "frame of 16777221 bytes announced, at most 16777216 are accepted",
        "frame of 4294967299 bytes announced, at most 16777216 are accepted",
        "frame of 1195725860 bytes announced, at most 16777216 are accepted",
        "frame of 369295620 bytes announced, at most 16777216 are accepted",
        "frame of 1347571548 bytes announced, at most 16777216 are accepted",
        "binary header at byte 21: 20 bytes expected for extFields, found 14",
    ];
    assert_eq!(refused, expected);
}

#[test]
fn binary_frames_are_written_back_byte_by_byte() {
    let mut frames = 0;
    for recorded in recorded_frames().iter().filter(|recorded| recorded.is_frame()) {
        let command = decode(recorded);
        if command.serialize == SerializeType::RocketMq {
            assert!(frame::encode(&command).unwrap() == recorded.frame, "{}", recorded.place());
            frames += 1;
        }
    }
    assert!(frames > 500, "{frames}");
}

#[test]
fn json_frames_are_written_back_with_the_same_meaning() {
    let (mut frames, mut same_bytes) = (0, 0);
    for recorded in recorded_frames().iter().filter(|recorded| recorded.is_frame()) {
        let mut command = decode(recorded);
        if command.serialize == SerializeType::RocketMq {
            continue;
        }
        let written = frame::encode(&command).unwrap();
        same_bytes += usize::from(written == recorded.frame);
        let again = frame::decode(&mut BytesMut::from(&written[..]), FrameLimits::CLIENT).unwrap().unwrap();
        if command.is_response() {
            // Answers always get a map of fields.
            command.ext_fields.get_or_insert_default();
        }
        assert_eq!(again, command, "{}", recorded.place());
        frames += 1;
    }
    assert!(frames > 5000, "{frames}");
    assert!(same_bytes > 3000, "only {same_bytes} of {frames} are equal to what Java wrote");
}
