use bytes::Bytes;
use store_core::properties::Properties;

use super::{MessageField, received_json, received_line, sent_json, sent_line};
use crate::client::{Compression, ReceivedMessage, SendResult, SendStatus};
use crate::remoting::protocol::MessageQueue;

fn queue() -> MessageQueue {
    MessageQueue { topic: "T".to_owned(), broker_name: "b".to_owned(), queue_id: 3 }
}

fn received(body: &'static [u8], compression: Option<Compression>) -> ReceivedMessage {
    ReceivedMessage {
        topic: "T".to_owned(),
        queue_id: 3,
        queue_offset: 9_007_199_254_740_993,
        msg_id: "ID".to_owned(),
        offset_msg_id: "OFFSET".to_owned(),
        flag: 0,
        reconsume_times: 0,
        born_timestamp: 1_700_000_000_000,
        born_host: "10.0.0.9:40000".parse().unwrap(),
        store_timestamp: 1_700_000_000_001,
        properties: Properties::parse("TAGS\u{1}TagA\u{2}"),
        body: Bytes::from_static(body),
        compression,
    }
}

#[test]
fn sent_messages() {
    let result = SendResult {
        status: SendStatus::FlushDiskTimeout,
        msg_id: "ID".to_owned(),
        offset_msg_id: "OFFSET".to_owned(),
        queue: queue(),
        queue_offset: 9_007_199_254_740_993,
    };
    assert_eq!(sent_line(&result), "ID 3 9007199254740993 FLUSH_DISK_TIMEOUT");
    assert_eq!(
        sent_json(&result),
        r#"{"msgId":"ID","offsetMsgId":"OFFSET","topic":"T","brokerName":"b","queueId":3,"queueOffset":"9007199254740993","status":"FLUSH_DISK_TIMEOUT"}"#
    );
}

#[test]
fn a_message_is_one_line_whatever_it_contains() {
    let line = |body: &'static [u8]| received_line(&received(body, None), &queue(), &[]);
    assert_eq!(line("grün".as_bytes()), "grün");
    assert_eq!(line(b"one\ntwo\r\tthree\x1b[31m"), r"one\ntwo\r\tthree\u{1b}[31m");
    assert_eq!(line(b"\xff\x00"), "base64:/wA=");
}

#[test]
fn fields_stand_before_the_body() {
    use MessageField::{Id, Keys, Offset, Queue, Tag, Time};
    let line = received_line(&received(b"x", None), &queue(), &[Id, Queue, Offset, Tag, Keys, Time]);
    assert_eq!(line, "ID\tT@b:3\t9007199254740993\tTagA\t-\t2023-11-14T22:13:20.001Z\tx");
}

#[test]
fn bodies_that_stay_compressed_say_so() {
    let message = received(b"x", Some(Compression::Lz4));
    assert_eq!(received_line(&message, &queue(), &[]), "base64(LZ4):eA==");
    let json = received_json(&message, &queue());
    assert!(json.ends_with(r#""bodyBase64":"eA==","compression":"LZ4"}"#), "{json}");
}

#[test]
fn json_is_exact() {
    assert_eq!(
        received_json(&received(b"one\ntwo", None), &queue()),
        concat!(
            r#"{"msgId":"ID","offsetMsgId":"OFFSET","topic":"T","brokerName":"b","queueId":3,"#,
            r#""queueOffset":"9007199254740993","bornTimestamp":"1700000000000","#,
            r#""storeTimestamp":"1700000000001","bornHost":"10.0.0.9:40000","reconsumeTimes":0,"flag":0,"#,
            r#""properties":{"TAGS":"TagA"},"body":"one\ntwo"}"#
        )
    );
    let json = received_json(&received(b"\xff", None), &queue());
    assert!(json.ends_with(r#""bodyBase64":"/w=="}"#), "{json}");
}
