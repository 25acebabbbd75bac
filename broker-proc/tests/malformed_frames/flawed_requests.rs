//! Frames that are whole and whose content is wrong. None of them stores a message, whatever the broker makes of it.

use crate::bodies;
use crate::in_process::Noise;
use crate::templates::{BODIES, TEMPLATES};
use broker_proc::remoting::{ExtFields, RemotingCommand, SerializeType, request_code as code};

/// Values that are wrong in most fields, and at the limit in others.
const VALUES: &[&str] = &[
    "",
    " ",
    "abc",
    "-1",
    "1",
    "99",
    "2147483647",
    "-2147483648",
    "2147483648",
    "9223372036854775807",
    "-9223372036854775808",
    "99999999999999999999",
    "1e3",
    "0x10",
    "1.5",
    "NaN",
    "null",
    "true",
    "a\u{1}b\u{2}",
    "%RETRY%flawed",
    "%DLQ%",
    "%RETRY%",
    "../../etc",
    "a@b",
    "标签 😀",
    "||",
    "{\"counter\":{}}",
    "+a=,-,=",
];

/// A request with something wrong in it.
pub fn flawed_request(noise: &mut Noise) -> RemotingCommand {
    let request = match noise.below(8) {
        0 => random_fields(noise),
        1 => RemotingCommand::request(random_code(noise)),
        2..=4 => {
            let (code, body) = BODIES[noise.below(BODIES.len())];
            RemotingCommand::request(code).with_body(bodies::spoiled(noise, code, body))
        }
        _ => spoiled_field(noise),
    };
    sent_somehow(noise, request)
}

/// A request in one of the encodings, sometimes one that wants no answer or is an answer itself.
pub fn sent_somehow(noise: &mut Noise, mut request: RemotingCommand) -> RemotingCommand {
    request.serialize = if noise.once_in(3) { SerializeType::RocketMq } else { SerializeType::Json };
    request.version = [0, 120, 121, 513, i32::MAX, i32::MIN][noise.below(6)];
    if noise.once_in(20) {
        request = request.oneway();
    }
    if noise.once_in(50) {
        request.flag = [1, 3, -1][noise.below(3)];
    }
    request
}

fn spoiled_field(noise: &mut Noise) -> RemotingCommand {
    let (code, right) = TEMPLATES[noise.below(TEMPLATES.len())];
    let mut fields = ExtFields::from_iter(right.iter().copied());
    if !right.is_empty() {
        let (name, _) = right[noise.below(right.len())];
        match noise.below(4) {
            0 => {
                fields.remove(name);
            }
            1 => fields.insert(name, &noise.one_of(&["x", "9", "é", "%"]).repeat(20_000)),
            _ => fields.insert(name, noise.one_of(VALUES)),
        }
    }
    let mut request = RemotingCommand::request(code);
    request.ext_fields = if noise.once_in(30) { None } else { Some(fields) };
    if noise.once_in(10) {
        let len = noise.below(100);
        request = request.with_body(noise.bytes(len));
    }
    request
}

/// Any number but those whose requests store messages or have no answer.
fn random_code(noise: &mut Noise) -> i32 {
    let code = match noise.below(4) {
        0 => i32::try_from(noise.below(400)).unwrap(),
        1 => 200_000 + i32::try_from(noise.below(200)).unwrap(),
        2 => [i32::MIN, -1, i32::MAX][noise.below(3)],
        _ => TEMPLATES[noise.below(TEMPLATES.len())].0,
    };
    let left_out = [
        code::SEND_MESSAGE,
        code::SEND_MESSAGE_V2,
        code::SEND_BATCH_MESSAGE,
        code::SEND_REPLY_MESSAGE,
        code::SEND_REPLY_MESSAGE_V2,
        code::END_TRANSACTION,
        code::CONSUMER_SEND_MSG_BACK,
    ];
    if left_out.contains(&code) { code::GET_MAX_OFFSET } else { code }
}

/// Names from other requests with values at random; a pull with them does not wait.
fn random_fields(noise: &mut Noise) -> RemotingCommand {
    let mut fields = ExtFields::new();
    for _ in 0..noise.below(20) {
        let (_, other) = TEMPLATES[noise.below(TEMPLATES.len())];
        if !other.is_empty() {
            fields.insert(other[noise.below(other.len())].0, noise.one_of(VALUES));
        }
    }
    fields.insert("suspendTimeoutMillis", "never");
    let mut request = RemotingCommand::request(random_code(noise));
    request.ext_fields = Some(fields);
    request
}
