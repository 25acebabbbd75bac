use bytes::{Bytes, BytesMut};

use super::{FrameError, FrameLimits, MAX_FRAME_LEN, decode, encode, encode_head};
use crate::remoting::{Body, RemotingCommand, SerializeType};

/// The route query of the specification's test vectors.
fn route_query(serialize: SerializeType) -> RemotingCommand {
    let mut command = RemotingCommand::request(105).with_field("topic", "T1");
    command.opaque = 7;
    command.serialize = serialize;
    command
}

fn decode_all(bytes: &[u8]) -> Result<Option<RemotingCommand>, FrameError> {
    decode(&mut BytesMut::from(bytes), FrameLimits::SERVER)
}

#[test]
fn json_frame_equals_the_test_vector() {
    let frame = encode(&route_query(SerializeType::Json)).unwrap();
    assert_eq!(frame[..8], [0, 0, 0, 0x80, 0, 0, 0, 0x7C]);
    assert_eq!(frame.len(), 4 + 0x80);
    assert_eq!(decode_all(&frame).unwrap(), Some(route_query(SerializeType::Json)));
}

#[test]
fn binary_frame_equals_the_test_vector() {
    let frame = encode(&route_query(SerializeType::RocketMq)).unwrap();
    let expected = b"\0\0\0\x26\x01\0\0\x22\x00\x69\x00\x01\xDF\0\0\0\x07\0\0\0\0\0\0\0\0\0\0\0\x0D\0\x05topic\0\0\0\x02T1";
    assert_eq!(frame, expected);
    assert_eq!(decode_all(&frame).unwrap(), Some(route_query(SerializeType::RocketMq)));
}

#[test]
fn frames_arrive_in_any_pieces() {
    let with_body = route_query(SerializeType::Json).with_body(b"body".to_vec());
    let stream =
        [encode(&with_body).unwrap(), encode(&route_query(SerializeType::RocketMq)).unwrap()].concat();
    let mut received = BytesMut::new();
    let mut commands = Vec::new();
    for byte in stream {
        received.extend_from_slice(&[byte]);
        commands.extend(decode(&mut received, FrameLimits::SERVER).unwrap());
    }
    assert_eq!(commands, [with_body, route_query(SerializeType::RocketMq)]);
    assert!(received.is_empty());
}

#[test]
fn bodies_in_parts_are_written_one_after_the_other() {
    let parts = vec![Bytes::from_static(b"ab"), Bytes::from_static(b"cd")];
    let cut = route_query(SerializeType::Json).with_body(Body::from_parts(parts));
    assert_eq!(
        encode(&cut).unwrap(),
        encode(&route_query(SerializeType::Json).with_body(b"abcd".to_vec())).unwrap()
    );
}

#[test]
fn wrong_prefixes_are_refused_as_soon_as_they_are_there() {
    let cases: [(&[u8], FrameError); 6] = [
        (b"\x01\0\0\x01", FrameError::TooLong { len: 0x0100_0005, limit: MAX_FRAME_LEN }),
        (b"GET ", FrameError::TooLong { len: 0x4745_5424, limit: MAX_FRAME_LEN }),
        (b"\xff\xff\xff\xff", FrameError::TooLong { len: 0x1_0000_0003, limit: MAX_FRAME_LEN }),
        (b"\0\0\0\x03", FrameError::TooShort { len: 3 }),
        (b"\0\0\0\x40\x07\0\0\x10", FrameError::SerializeType { found: 7 }),
        (b"\0\0\0\x0f\0\0\x13\x88", FrameError::HeaderTooLong { len: 5000, limit: 11 }),
    ];
    for (prefix, expected) in cases {
        assert_eq!(decode_all(prefix), Err(expected), "{}", prefix.escape_ascii());
    }
    // The largest frame of all is only waited for.
    assert_eq!(decode_all(b"\0\xff\xff\xfc\0\0\0\x10"), Ok(None));
    let long_header = [b"\0\xff\xff\xfc\0\x10\0\x01".as_slice(), &[b' '; 100]].concat();
    assert!(matches!(decode_all(&long_header), Err(FrameError::HeaderTooLong { len: 0x10_0001, .. })));
    let mut received = BytesMut::from(&long_header[..]);
    assert_eq!(decode(&mut received, FrameLimits::CLIENT), Ok(None));
}

#[test]
fn announced_bytes_take_no_memory() {
    let mut received = BytesMut::from(&b"\0\xff\xff\xfc\0\0\0\x10"[..]);
    let before = received.capacity();
    assert_eq!(decode(&mut received, FrameLimits::SERVER), Ok(None));
    assert_eq!(received.capacity(), before);
}

#[test]
fn answers_beyond_the_frame_limit_cannot_be_written() {
    let command = route_query(SerializeType::Json).with_body(vec![0; MAX_FRAME_LEN]);
    let mut out = b"before".to_vec();
    assert!(matches!(encode_head(&command, &mut out), Err(FrameError::TooLong { .. })));
    assert_eq!(out, b"before");
    let header_len = encode(&route_query(SerializeType::Json)).unwrap().len();
    let largest = route_query(SerializeType::Json).with_body(vec![0; MAX_FRAME_LEN - header_len]);
    let frame = encode(&largest).unwrap();
    assert_eq!(frame.len(), MAX_FRAME_LEN);
    assert_eq!(decode_all(&frame).unwrap(), Some(largest));
}

#[test]
fn field_F106_codes_that_the_binary_header_cannot_hold_go_as_json() {
    let mut pop = RemotingCommand::request(200_050);
    pop.serialize = SerializeType::RocketMq;
    let frame = encode(&pop).unwrap();
    assert_eq!(frame[4], 0);
    assert_eq!(decode_all(&frame).unwrap().unwrap().code, 200_050);
}
