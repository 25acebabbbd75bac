//! Bytes that are no frame.

use crate::in_process::{Noise, requests};
use crate::malicious_client::Input;
use broker_proc::remoting::{RemotingCommand, SerializeType, frame, request_code};

/// Largest frame that a broker accepts, without its length field.
const MAX_LENGTH: u32 = 16 * 1024 * 1024 - 4;

/// A frame of the given prefix and content.
fn frame(length: u32, serialize: u8, header_len: u32, content: &[u8]) -> Vec<u8> {
    let mut bytes = length.to_be_bytes().to_vec();
    bytes.extend_from_slice(&(u32::from(serialize) << 24 | header_len).to_be_bytes());
    bytes.extend_from_slice(content);
    bytes
}

/// A frame whose lengths are right.
fn whole(serialize: u8, header: &[u8]) -> Vec<u8> {
    let len = u32::try_from(header.len()).unwrap();
    frame(len + 4, serialize, len, header)
}

/// Some request, encoded.
fn some_frame(noise: &mut Noise) -> Vec<u8> {
    let mut request = match noise.below(3) {
        0 => requests::send("Cut", 0, "body", &requests::properties(&[("TAGS", "TagA")])),
        1 => requests::heartbeat("cut", &["p"], vec![requests::consumer("cut", vec![])]),
        _ => RemotingCommand::request(request_code::GET_BROKER_RUNTIME_INFO),
    };
    request.serialize = if noise.once_in(2) { SerializeType::Json } else { SerializeType::RocketMq };
    frame::encode(&request).unwrap()
}

/// The beginning of a frame.
pub fn cut_off(noise: &mut Noise) -> Input {
    let mut bytes = match noise.below(3) {
        // Announces much and sends little.
        0 => {
            let len = noise.below(40);
            frame(MAX_LENGTH, 0, 100, &noise.bytes(len))
        }
        _ => some_frame(noise),
    };
    bytes.truncate(noise.below(bytes.len()));
    Input::CutOff(bytes)
}

/// Bytes over which the broker must close the connection.
pub fn refused(noise: &mut Noise) -> Input {
    let bytes = match noise.below(8) {
        0 => frame(MAX_LENGTH + 1 + u32::try_from(noise.below(1000)).unwrap(), 0, 0, b""),
        // Negative for a reader of signed numbers.
        1 => frame(u32::MAX - u32::try_from(noise.below(1 << 30)).unwrap(), 0, 0, b""),
        2 => frame(u32::try_from(noise.below(4)).unwrap(), 0, 0, b"rest"),
        3 => whole(2 + u8::try_from(noise.below(254)).unwrap(), b"{\"code\":34}"),
        4 => frame(20, 0, 17 + u32::try_from(noise.below(1 << 20)).unwrap(), &[b' '; 16]),
        5 => whole(0, &garbage_json(noise)),
        6 => whole(1, &garbage_binary(noise)),
        _ => noise
            .one_of(&["GET / HTTP/1.1\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0", "SSH-2.0-x\r\n"])
            .into(),
    };
    Input::Refused(bytes)
}

fn garbage_json(noise: &mut Noise) -> Vec<u8> {
    let texts = [
        "{",
        "nonsense",
        "{\"code\":34,\"extFields\":{\"a\":\"b\"",
        "{\"code\":\"thirty-four\"}",
        "{\"code\":99999999999999999999}",
        "{\"code\":34}}",
        "{\"code\":34,\"flag\":{\"a\":1}}",
        "{\"extFields\":[1,2,3],\"code\":",
        "\u{feff}",
        "{\"code\":34,\"remark\":\"\\u12\"}",
    ];
    match noise.below(4) {
        0 => [b"{\"x\":".to_vec(), "[".repeat(20_000).into_bytes()].concat(),
        1 => {
            let fields: Vec<String> = (0..1100).map(|number| format!("\"f{number}\":\"\"")).collect();
            format!("{{\"code\":34,\"extFields\":{{{}}}}}", fields.join(",")).into_bytes()
        }
        _ => noise.one_of(&texts).into(),
    }
}

/// Fixed fields of a binary header, then a remark and fields whose lengths lie.
fn garbage_binary(noise: &mut Noise) -> Vec<u8> {
    let fixed = [0, 34, 0, 1, 200, 0, 0, 0, 1, 0, 0, 0, 0];
    let lying = |remark: i32, fields: i32, rest: &[u8]| {
        let mut bytes = fixed.to_vec();
        bytes.extend_from_slice(&remark.to_be_bytes());
        bytes.extend_from_slice(&fields.to_be_bytes());
        bytes.extend_from_slice(rest);
        bytes
    };
    match noise.below(6) {
        0 => fixed[..noise.below(fixed.len())].to_vec(),
        1 => lying(i32::MAX, 0, b""),
        2 => lying(0, i32::MAX, b"\0\x01a"),
        3 => lying(0, 100, b"\0\x01a\0\0\0\x01b"),
        4 => lying(0, 7, &[0xff, 0xff, b'a', 0, 0, 0, 1]),
        _ => lying(0, 8, &[0, 1, b'a', 0x7f, 0xff, 0xff, 0xff, b'b']),
    }
}
