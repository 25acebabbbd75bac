//! Sends with exactly one flaw, for which each of them must be refused.

use crate::flawed_requests::sent_somehow;
use crate::in_process::{Noise, requests};
use crate::templates::TOPIC;
use broker_proc::remoting::headers::SendMessageRequestHeader;
use broker_proc::remoting::{RemotingCommand, request_code as code};

/// Texts that are no number.
const NO_NUMBERS: &[&str] = &["abc", "1e1", " 1", "0x1", "1.0", "99999999999999999999", "--1", "１"];
/// Topics nobody may send to.
const NO_TOPICS: &[&str] = &["", "  ", "bad topic", "a/b", "SCHEDULE_TOPIC_XXXX", "OFFSET_MOVED_EVENT", "é"];

/// Fields by their names in both forms of the header.
const NUMBERS: &[(&str, &str)] = &[
    ("defaultTopicQueueNums", "d"),
    ("queueId", "e"),
    ("sysFlag", "f"),
    ("bornTimestamp", "g"),
    ("flag", "h"),
    ("reconsumeTimes", "j"),
    ("maxReconsumeTimes", "l"),
];
const REQUIRED: &[(&str, &str)] = &[
    ("producerGroup", "a"),
    ("topic", "b"),
    ("defaultTopic", "c"),
    ("defaultTopicQueueNums", "d"),
    ("queueId", "e"),
    ("sysFlag", "f"),
    ("bornTimestamp", "g"),
    ("flag", "h"),
];

/// A send that would store a message but for one thing.
pub fn flawed_send(noise: &mut Noise) -> RemotingCommand {
    let code = [code::SEND_MESSAGE, code::SEND_MESSAGE_V2, code::SEND_BATCH_MESSAGE][noise.below(3)];
    let long_name = code == code::SEND_MESSAGE;
    let name = |names: (&'static str, &'static str)| if long_name { names.0 } else { names.1 };
    let header = requests::send_header(TOPIC, 0);
    let right = requests::send_with(code, &header, "invented");
    let request = match noise.below(7) {
        0 => {
            let mut request = right;
            let missing = name(REQUIRED[noise.below(REQUIRED.len())]);
            request.ext_fields.as_mut().unwrap().remove(missing);
            request
        }
        1 => right.with_field(name(NUMBERS[noise.below(NUMBERS.len())]), noise.one_of(NO_NUMBERS)),
        2 => right.with_field(name(("topic", "b")), noise.one_of(NO_TOPICS)),
        3 => right.with_field(name(("topic", "b")), &"t".repeat(128 + noise.below(1000))),
        4 => right.with_field(name(("queueId", "e")), noise.one_of(&["1", "99", "2147483647"])),
        5 => too_much(noise, code, header),
        _ => broken_batch(noise, code, header),
    };
    sent_somehow(noise, request)
}

/// A body, property string or level beyond what is allowed.
fn too_much(noise: &mut Noise, code: i32, header: SendMessageRequestHeader) -> RemotingCommand {
    let properties = match noise.below(3) {
        0 => return requests::send_with(code, &header, vec![b'x'; 65_537 + noise.below(1000)]),
        1 => requests::properties(&[("long", &"v".repeat(32_768))]),
        _ => requests::properties(&[("DELAY", noise.one_of(&["abc", "1.5", "99999999999"]))]),
    };
    let header = SendMessageRequestHeader { properties: Some(properties), ..header };
    requests::send_with(code, &header, "invented")
}

/// A batch whose lengths lie; its first message alone would be right.
fn broken_batch(noise: &mut Noise, code: i32, header: SendMessageRequestHeader) -> RemotingCommand {
    let header = SendMessageRequestHeader { batch: true, ..header };
    let first = requests::batch_body(&[("invented", "TAGS\u{1}a\u{2}")]);
    let mut body = [first.clone(), first.clone()].concat();
    // Where the second message has its total length, and where that of its body.
    let length_at = first.len() + [0, 16][noise.below(2)];
    match noise.below(4) {
        0 => body.truncate(first.len() + 1 + noise.below(first.len() - 1)),
        1 => {
            let lie = [i32::MAX, -1, i32::MIN, 1 << 24, 4096][noise.below(5)];
            body[length_at..length_at + 4].copy_from_slice(&lie.to_be_bytes());
        }
        // Length 0 would never come to an end.
        2 => body[first.len()..first.len() + 4].fill(0),
        _ => body.clear(),
    }
    requests::send_with(code, &header, body)
}
