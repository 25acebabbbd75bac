use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    JavaJsonError, Reader, ValueKind, WriteOptions, from_slice, parse, parse_with_depth, to_string_pretty,
    to_vec,
};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Queue {
    broker_name: String,
    queue_id: i32,
    topic: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Mode {
    Broadcasting,
    Clustering,
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Bean {
    name: Option<String>,
    mode: Option<Mode>,
    sub_version: i64,
    enabled: bool,
    codes: Vec<i32>,
    ratio: f64,
}

fn queue(id: i32) -> Queue {
    Queue { broker_name: "b".to_owned(), queue_id: id, topic: "t".to_owned() }
}

fn syntax(input: &str) -> (usize, &'static str, String) {
    match parse(input.as_bytes()) {
        Err(JavaJsonError::Syntax { offset, expected, found }) => (offset, expected, found),
        other => panic!("{input}: expected a syntax error, got {other:?}"),
    }
}

#[test]
fn reads_bare_quoted_and_named_keys_alike() {
    let expected = json!({"0": 250, "1": 251, "name": "x"});
    for input in [
        r#"{0:250,1:251,"name":"x"}"#,
        r#"{"0":250,"1":251,"name":"x"}"#,
        "{'0':250, '1' : 251,\n name :'x'}",
        "{0:250,1:251\n\t,name:\"x\"\n}",
    ] {
        assert_eq!(parse(input.as_bytes()).unwrap(), expected, "{input}");
    }
    assert_eq!(parse(b"{-1:2,true:3,a.b-c_d$:4}").unwrap(), json!({"-1": 2, "true": 3, "a.b-c_d$": 4}));
}

#[test]
fn object_keys_become_their_compact_text() {
    let bare =
        parse(br#"{{"topic":"t", "queueId":0,"brokerName":"b"}:5,{"queueId":1,brokerName:'b',topic:'t'}:6}"#)
            .unwrap();
    let stringified = parse(br#"{"{\"brokerName\":\"b\",\"queueId\":0,\"topic\":\"t\"}":5,"{\"brokerName\":\"b\",\"queueId\":1,\"topic\":\"t\"}":6}"#).unwrap();
    assert_eq!(bare, stringified);
}

#[test]
fn maps_with_struct_keys_go_both_ways() {
    let table = BTreeMap::from([(queue(0), 5_i64), (queue(1), 6)]);
    let text = to_vec(&table).unwrap();
    assert_eq!(
        String::from_utf8(text.clone()).unwrap(),
        r#"{{"brokerName":"b","queueId":0,"topic":"t"}:5,{"brokerName":"b","queueId":1,"topic":"t"}:6}"#
    );
    assert_eq!(from_slice::<BTreeMap<Queue, i64>>(&text).unwrap(), table);
}

#[test]
fn strings_understand_every_escape() {
    let read = parse(
        br#"["a\"b\\c\/d\b\f\n\r\t\u00e9\uD83D\uDE00", 'it\'s "so"', "\x41\v\0", "\ud83d!", "\ude00\ud83d"]"#,
    )
    .unwrap();
    let expected =
        json!(["a\"b\\c/d\u{8}\u{c}\n\r\té😀", "it's \"so\"", "A\u{b}\0", "\u{fffd}!", "\u{fffd}\u{fffd}"]);
    assert_eq!(read, expected);
    assert_eq!(parse(b"\"a\xFFb\n\"").unwrap(), json!("a\u{fffd}b\n"));
    assert_eq!(parse("\u{feff} \"x\" ".as_bytes()).unwrap(), json!("x"));
}

#[test]
fn numbers_keep_their_value() {
    let read = parse(b"[0,-7,007,+3,9223372036854775807,18446744073709551615,1.5,-2e3,1E+2]").unwrap();
    let expected = json!([
        0,
        -7,
        7,
        3,
        9_223_372_036_854_775_807_i64,
        18_446_744_073_709_551_615_u64,
        1.5,
        -2000.0,
        100.0
    ]);
    assert_eq!(read, expected);
}

#[test]
fn errors_name_place_expectation_and_finding() {
    assert_eq!(syntax("{\"a\" 1}"), (5, "`:` behind a key", "`1}`".to_owned()));
    assert_eq!(syntax("{\"a\":1 \"b\":2}"), (7, "`,` or `}`", "`\\\"b\\\":2}`".to_owned()));
    assert_eq!(syntax("[1 2]"), (3, "`,` or `]`", "`2]`".to_owned()));
    assert_eq!(syntax("[1,]"), (3, "a value", "`]`".to_owned()));
    assert_eq!(syntax("{,}"), (1, "a key", "`,}`".to_owned()));
    assert_eq!(syntax("\"abc"), (4, "the closing quote of a string", "the end of the text".to_owned()));
    assert_eq!(syntax("\"a\\"), (3, "the closing quote of a string", "the end of the text".to_owned()));
    assert_eq!(syntax("\"a\\q\""), (2, "an escape sequence", "`\\\\q\\\"`".to_owned()));
    assert_eq!(syntax("\"\\u12\""), (1, "an escape sequence", "`\\\\u12\\\"`".to_owned()));
    assert_eq!(syntax("{} x"), (3, "the end of the document", "`x`".to_owned()));
    assert_eq!(syntax(""), (0, "a value", "the end of the text".to_owned()));
    for word in ["nul", "NaN", "inf", "-", "1.2.3", "1e999", "--1"] {
        assert_eq!(syntax(word).1, "a value", "{word}");
    }
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(parse(nested(64).as_bytes()).is_ok());
    let (offset, expected, found) = syntax(&nested(65));
    assert_eq!(
        (offset, expected, found.as_str()),
        (64, "less deeply nested values", "`[]]]]]]]]]]]]]]]]]]]]]]]`")
    );
    assert!(parse_with_depth(nested(3).as_bytes(), 2).is_err());
    // Siblings do not count as depth, keys that are objects do.
    assert!(parse_with_depth(b"[[],[],[]]", 2).is_ok());
    assert!(parse_with_depth(b"{{\"a\":1}:2}", 1).is_err());
}

#[test]
fn references_are_replaced_within_reason() {
    let read = parse(br#"{"a":[{"x":1},{"$ref":"$.a[0]"}],"b":{"$ref":"$.a"},"c":{"$ref":"$.none"},"%R%g":2,"d":{"$ref":"$.\\%R\\%g"}}"#).unwrap();
    assert_eq!(read["a"][1], json!({"x": 1}));
    assert_eq!(read["b"][0], json!({"x": 1}));
    assert_eq!(read["c"], json!({"$ref": "$.none"}));
    assert_eq!(read["d"], json!(2));
    // Many references to one large part: copying stops before memory does.
    let large = format!("[{}]", vec!["0"; 50_000].join(","));
    let many = format!("{{\"a\":{large},\"b\":[{}]}}", vec![r#"{"$ref":"$.a"}"#; 100].join(","));
    let copied =
        parse(many.as_bytes()).unwrap()["b"].as_array().unwrap().iter().filter(|b| b.is_array()).count();
    assert_eq!(copied, 1);
}

#[test]
fn beans_are_read_like_java_reads_them() {
    let expected = Bean {
        name: Some("12".to_owned()),
        mode: Some(Mode::Clustering),
        sub_version: 7,
        enabled: true,
        codes: vec![2_598_919, -3],
        ratio: 1.5,
    };
    for input in [
        r#"{"name":"12","mode":"CLUSTERING","subVersion":7,"enabled":true,"codes":[2598919,-3],"ratio":1.5}"#,
        r#"{"name":12,"mode":1,"subVersion":"7","enabled":"TRUE","codes":["2598919","-3"],"ratio":"1.5","new":{0:1}}"#,
        r#"{"name":"12","mode":"1","subVersion":" 7 ","enabled":1,"codes":[2598919,"-3"],"ratio":1.5,"other":null}"#,
    ] {
        assert_eq!(from_slice::<Bean>(input.as_bytes()).unwrap(), expected, "{input}");
    }
    let nulls = r#"{"name":null,"mode":null,"subVersion":null,"enabled":null,"codes":null}"#;
    assert_eq!(from_slice::<Bean>(nulls.as_bytes()).unwrap(), Bean::default());
    let unknown: Bean = from_slice(br#"{"mode":"Clustering"}"#).unwrap();
    assert_eq!(unknown.mode, Some(Mode::Unknown));
    let unknown: Bean = from_slice(br#"{"mode":99}"#).unwrap();
    assert_eq!(unknown.mode, Some(Mode::Unknown));
}

#[test]
fn misfits_name_their_path() {
    let error = from_slice::<BTreeMap<String, Bean>>(br#"{"t":{"codes":[1,"x"]}}"#).unwrap_err();
    assert_eq!(error.to_string(), "JSON value at t.codes.1: invalid type: string \"x\", expected i32");
    let error = from_slice::<Vec<i32>>(br#"{"a":1}"#).unwrap_err();
    assert_eq!(error.to_string(), "JSON value at the top: invalid type: map, expected a sequence");
    let error = from_slice::<BTreeMap<i32, i32>>(br#"{"a":1}"#).unwrap_err();
    assert_eq!(error.to_string(), "JSON value at a: invalid type: string \"a\", expected i32");
    let error = from_slice::<u8>(b"256").unwrap_err();
    assert_eq!(error.to_string(), "JSON value at the top: invalid value: integer `256`, expected u8");
}

#[test]
fn pretty_form_equals_that_of_java() {
    let document = json!({
        "offsetTable": {"TopicTest@g": {"0": 250}, "a@g": {}},
        "dataVersion": {"timestamp": 1_700_000_000_000_i64, "counter": 3, "stateVersion": 0},
        "gone": null,
        "bitPos": [102, 32, 8],
        "groupTopicMap": {"g": ["TopicTest", "%RETRY%g"]},
        "list": []
    });
    let expected = "{\n\t\"bitPos\":[102,32,8],\n\t\"dataVersion\":{\n\t\t\"counter\":3,\n\t\t\"stateVersion\":0,\n\t\t\"timestamp\":1700000000000\n\t},\n\t\"groupTopicMap\":{\n\t\t\"g\":[\n\t\t\t\"TopicTest\",\n\t\t\t\"%RETRY%g\"\n\t\t]\n\t},\n\t\"list\":[],\n\t\"offsetTable\":{\n\t\t\"TopicTest@g\":{\n\t\t\t\"0\":250\n\t\t},\n\t\t\"a@g\":{}\n\t}\n}";
    assert_eq!(to_string_pretty(&document).unwrap(), expected);
    assert_eq!(parse(expected.as_bytes()).unwrap()["offsetTable"], document["offsetTable"]);
}

#[test]
fn integer_keys_sort_by_value_and_are_quoted_unless_asked_otherwise() {
    let table = BTreeMap::from([("T", BTreeMap::from([(10_i32, 1_i64), (9, 2), (-1, 3)]))]);
    assert_eq!(to_vec(&table).unwrap(), br#"{"T":{"-1":3,"9":2,"10":1}}"#);
    assert_eq!(WriteOptions::BARE_KEYS.to_vec(&table).unwrap(), br#"{"T":{-1:3,9:2,10:1}}"#);
    let unsigned = BTreeMap::from([(u64::MAX, true), (3, false)]);
    assert_eq!(to_vec(&unsigned).unwrap(), br#"{"3":false,"18446744073709551615":true}"#);
}

#[test]
fn text_is_escaped_and_can_be_plain_ascii() {
    let text = "a/b \"q\" \\ \u{1}\n标😀";
    assert_eq!(String::from_utf8(to_vec(text).unwrap()).unwrap(), "\"a/b \\\"q\\\" \\\\ \\u0001\\n标😀\"");
    let ascii = WriteOptions::BROWSER_COMPATIBLE.to_text(text).unwrap();
    assert_eq!(ascii, r#""a\/b \"q\" \\ \u0001\n\u6807\uD83D\uDE00""#);
    assert_eq!(parse(ascii.as_bytes()).unwrap(), json!(text));
}

#[test]
fn doubles_have_a_decimal_and_nan_is_null() {
    assert_eq!(to_vec(&[0.0, 1.5, f64::NAN, f64::INFINITY]).unwrap(), b"[0.0,1.5,null,null]");
}

#[test]
fn keys_that_cannot_be_written_are_refused() {
    let error = to_vec(&BTreeMap::from([(vec![1], 2)])).unwrap_err();
    assert!(matches!(error, JavaJsonError::Write { .. }), "{error}");
    assert_eq!(error.offset(), None);
}

#[test]
fn reader_hands_out_pieces() {
    let mut reader = Reader::new(
        br#" {"code":"105",n:7, "ext":{"a":3,"b":false,"c":1.50,"d":null,"e":{"f":[1]},"g":"h"}}"#,
        16,
    );
    let mut seen = Vec::new();
    assert_eq!(reader.peek().unwrap(), ValueKind::Object);
    reader
        .object(|reader, key| {
            if key == "ext" {
                return reader.object(|reader, key| {
                    seen.push((key.into_owned(), reader.text()?.map(|text| text.into_owned())));
                    Ok(())
                });
            }
            let number = reader.integer()?.map(|number| number.to_string());
            seen.push((key.into_owned(), number));
            Ok(())
        })
        .unwrap();
    reader.end().unwrap();
    let expected = [
        ("code", Some("105")),
        ("n", Some("7")),
        ("a", Some("3")),
        ("b", Some("false")),
        ("c", Some("1.50")),
        ("d", None),
        ("e", Some("{\"f\":[1]}")),
        ("g", Some("h")),
    ];
    let expected: Vec<_> =
        expected.iter().map(|(key, value)| ((*key).to_owned(), value.map(str::to_owned))).collect();
    assert_eq!(seen, expected);
}

/// A small generator of repeatable noise; quality is of no concern.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next()).unwrap_or(0) % bound
    }
}

#[test]
fn noise_never_panics_and_what_is_read_can_be_written_and_read_again() {
    let alphabet = b"{}[]:,\"'\\/0123456789-+.eEaxu$ref truefalsnl\n\t \xC3\xA9\xFF\0";
    let mut noise = Noise(42);
    let mut readable = 0;
    for _ in 0..200_000 {
        let len = noise.below(24);
        let input: Vec<u8> = (0..len).map(|_| alphabet[noise.below(alphabet.len())]).collect();
        check_round_trip(&input, &mut readable);
    }
    assert!(readable > 1_000, "only {readable} inputs were readable");
}

#[test]
fn damaged_documents_never_panic() {
    let document = br#"{"dataVersion":{"counter":1,"timestamp":1},"t":{0:[1,'a'],{"q":1}:2.5},"s":"\u00e9\n","r":{"$ref":"$.t"}}"#;
    let mut noise = Noise(7);
    let mut readable = 0;
    for _ in 0..50_000 {
        let mut input = document.to_vec();
        for _ in 0..=noise.below(3) {
            let at = noise.below(input.len().max(1)).min(input.len() - 1);
            match noise.below(3) {
                0 => input[at] = noise.next() as u8,
                1 if input.len() > 1 => drop(input.remove(at)),
                _ => input.truncate(at.max(1)),
            }
        }
        check_round_trip(&input, &mut readable);
    }
    assert!(readable > 1_000, "only {readable} inputs were readable");
}

fn check_round_trip(input: &[u8], readable: &mut usize) {
    let Ok(value) = parse(input) else {
        return;
    };
    *readable += 1;
    let written = to_vec(&value).unwrap();
    let again: Value = parse_with_depth(&written, 64).unwrap();
    assert_eq!(to_vec(&again).unwrap(), written, "{}", input.escape_ascii());
    let pretty = to_string_pretty(&value).unwrap();
    assert_eq!(to_vec(&parse(pretty.as_bytes()).unwrap()).unwrap(), written);
}
