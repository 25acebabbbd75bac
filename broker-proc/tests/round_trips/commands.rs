//! Frames and the two forms of their header.

use crate::damage::{flipped, truncated};
use crate::values::{bytes, cases};
use broker_proc::remoting::{
    Body, ExtFields, FrameLimits, LanguageCode, RemotingCommand, SerializeType, binary_header, frame,
    json_header,
};
use bytes::BytesMut;
use proptest::prelude::*;

fn fields() -> impl Strategy<Value = ExtFields> {
    let pairs = prop::collection::vec(("[a-z]{1,3}|[^x]{0,6}", any::<String>()), 0..6);
    pairs.prop_map(|pairs| pairs.into_iter().collect())
}

/// Any command that both forms can hold. What the forms do not tell apart is left out: an empty remark and none.
fn command() -> impl Strategy<Value = RemotingCommand> {
    let numbers = any::<(i16, u8, i16, i32, i32)>();
    let form = prop_oneof![Just(SerializeType::Json), Just(SerializeType::RocketMq)];
    let remark = prop::option::of("\\PC{1,12}|[\0-\x1f\"\\\\]{1,6}");
    (numbers, remark, prop::option::of(fields()), form, bytes(40)).prop_map(
        |((code, language, version, opaque, flag), remark, ext_fields, serialize, body)| RemotingCommand {
            code: code.into(),
            language: LanguageCode::from_code(language),
            version: version.into(),
            opaque,
            flag,
            remark,
            ext_fields,
            serialize,
            body: Body::from(body),
        },
    )
}

/// What comes back: JSON answers always have a map, and the binary form does not tell an empty map from none.
fn as_received(mut command: RemotingCommand) -> RemotingCommand {
    let is_empty = command.fields().is_empty();
    if command.serialize == SerializeType::RocketMq && is_empty {
        command.ext_fields = None;
    } else if command.serialize == SerializeType::Json && command.is_response() {
        command.ext_fields.get_or_insert_with(ExtFields::new);
    }
    command
}

fn take(received: &mut BytesMut) -> Option<RemotingCommand> {
    frame::decode(received, FrameLimits::CLIENT).unwrap()
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn a_frame_comes_back_and_is_written_the_same(command in command()) {
        let bytes = frame::encode(&command).unwrap();
        let mut received = BytesMut::from(&bytes[..]);
        let decoded = take(&mut received).unwrap();
        prop_assert!(received.is_empty());
        prop_assert_eq!(&decoded, &as_received(command));
        prop_assert_eq!(frame::encode(&decoded).unwrap(), bytes);
    }

    #[test]
    fn frames_come_out_of_a_stream_however_it_is_cut(
        commands in prop::collection::vec(command(), 1..4), cuts in prop::collection::vec(1_usize..60, 1..40),
    ) {
        let mut stream = BytesMut::new();
        commands.iter().for_each(|command| stream.extend_from_slice(&frame::encode(command).unwrap()));
        let (mut received, mut decoded) = (BytesMut::new(), Vec::new());
        for cut in cuts.iter().cycle() {
            received.extend_from_slice(&stream.split_to((*cut).min(stream.len())));
            while let Some(command) = take(&mut received) {
                decoded.push(command);
            }
            if stream.is_empty() {
                break;
            }
        }
        prop_assert!(received.is_empty());
        prop_assert_eq!(decoded, commands.into_iter().map(as_received).collect::<Vec<_>>());
    }

    #[test]
    fn headers_alone_come_back(command in command()) {
        let command = RemotingCommand { body: Body::empty(), ..command };
        for serialize in [SerializeType::Json, SerializeType::RocketMq] {
            let command = RemotingCommand { serialize, ..command.clone() };
            let mut header = Vec::new();
            let decoded = if serialize == SerializeType::Json {
                json_header::encode(&command, &mut header);
                json_header::decode(&header)
            } else {
                prop_assert!(binary_header::fits(&command));
                binary_header::encode(&command, &mut header);
                binary_header::decode(&header)
            };
            prop_assert_eq!(decoded.unwrap(), as_received(command));
        }
    }

    #[test]
    fn what_the_binary_form_cannot_hold_goes_as_json(command in command(), code in 32_768_i32.., above: bool) {
        let code = if above { code } else { !code };
        let command = RemotingCommand { code, serialize: SerializeType::RocketMq, ..command };
        prop_assert!(!binary_header::fits(&command));
        let mut received = BytesMut::from(&frame::encode(&command).unwrap()[..]);
        let expected = as_received(RemotingCommand { serialize: SerializeType::Json, ..command });
        prop_assert_eq!(take(&mut received), Some(expected));
    }
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn a_damaged_frame_waits_ends_or_differs(command in command()) {
        let bytes = frame::encode(&command).unwrap();
        for cut in truncated(&bytes) {
            prop_assert_eq!(take(&mut BytesMut::from(cut)), None, "{} bytes", cut.len());
        }
        for (_, damaged) in flipped(&bytes) {
            let mut received = BytesMut::from(&damaged[..]);
            if let Ok(Some(command)) = frame::decode(&mut received, FrameLimits::SERVER) {
                // Whatever it is now, it can be sent on.
                frame::encode(&command).unwrap();
            }
        }
        for header in [json_header::decode as fn(&[u8]) -> _, binary_header::decode] {
            for cut in truncated(&bytes[8..]) {
                let _: Result<RemotingCommand, _> = header(cut);
            }
        }
    }
}
