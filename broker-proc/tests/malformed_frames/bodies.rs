//! JSON bodies that are broken, or right JSON of the wrong form.

use crate::in_process::Noise;
use broker_proc::remoting::request_code;

/// Values put in the place of a right one.
const WRONG: &[&str] =
    &["null", "[]", "{}", "[null]", "\"text\"", "-1", "99", "1e400", "true", "\"\"", "2147483648"];

/// Heartbeats that some client might send.
const HEARTBEATS: &[&str] = &[
    r#"{"clientID":null,"producerDataSet":null,"consumerDataSet":null}"#,
    r#"{"clientID":"c","consumerDataSet":[null]}"#,
    r#"{"clientID":"c","producerDataSet":[{"groupName":null},{}]}"#,
    r#"{"clientID":"c","consumerDataSet":[{"groupName":"flawed","subscriptionDataSet":[{"topic":"T","subString":"a"}]}]}"#,
    r#"{"clientID":"c","consumerDataSet":[{"groupName":"flawed","subscriptionDataSet":[{"topic":null,"subString":null}]}]}"#,
    r#"{"clientID":"c","consumerDataSet":[{"groupName":"flawed","subscriptionDataSet":[null]}]}"#,
    r#"{"clientID":"c","consumerDataSet":[{"groupName":"flawed","consumeType":77,"messageModel":-1}]}"#,
    r#"{"clientID":"c","consumerDataSet":[{"groupName":"","subscriptionDataSet":[]}]}"#,
    r#"{"clientID":"c","consumerDataSet":{"groupName":"flawed"}}"#,
    r#"{"clientID":7,"consumerDataSet":[{"groupName":8,"subscriptionDataSet":[{"codeSet":["x"],"subVersion":"y"}]}]}"#,
];

/// A body for requests of `code`, made from a right one.
pub fn spoiled(noise: &mut Noise, code: i32, right: &str) -> Vec<u8> {
    match noise.below(8) {
        0 if code == request_code::HEART_BEAT => noise.one_of(HEARTBEATS).into(),
        0 | 1 => {
            noise.one_of(&["", "{", "null", "[]", "0", "\"text\"", "{}", "{}}", "\u{feff}{}", "nul"]).into()
        }
        2 => nested(noise, right),
        3 => right.as_bytes()[..noise.below(right.len())].to_vec(),
        4 => {
            let mut bytes = right.as_bytes().to_vec();
            let at = noise.below(bytes.len());
            bytes[at] = noise.bytes(1)[0];
            bytes
        }
        5 => many(noise, right),
        _ => replaced(noise, right).into_bytes(),
    }
}

/// The value behind one of the colons replaced by another.
fn replaced(noise: &mut Noise, right: &str) -> String {
    let colons: Vec<usize> = right.match_indices("\":").map(|(at, _)| at + 2).collect();
    let start = colons[noise.below(colons.len())];
    let end = value_end(&right[start..]) + start;
    format!("{}{}{}", &right[..start], noise.one_of(WRONG), &right[end..])
}

/// Length of the JSON value at the front of `text`; strings hold no brackets here.
fn value_end(text: &str) -> usize {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '[' | '{' => depth += 1,
            ']' | '}' if depth == 0 => return at,
            ']' | '}' => depth -= 1,
            ',' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

/// Containers within containers, far deeper than any stack could follow.
fn nested(noise: &mut Noise, right: &str) -> Vec<u8> {
    let opening = noise.one_of(&["[", "{\"a\":", "[[{\"consumerDataSet\":"]);
    let deep = opening.repeat(100 + noise.below(60_000));
    match noise.below(3) {
        0 => deep.into_bytes(),
        _ => right.replacen("\":", &format!("\":{deep}"), 1).into_bytes(),
    }
}

/// The first list of the body with very many elements.
fn many(noise: &mut Noise, right: &str) -> Vec<u8> {
    let element = noise.one_of(&["{}", "null", "0", "\"\"", "[]"]);
    let elements = vec![element; 20_000].join(",");
    right.replacen(":[", &format!(":[{elements},"), 1).into_bytes()
}
