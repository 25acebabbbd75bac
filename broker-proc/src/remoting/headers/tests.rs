use super::*;
use crate::remoting::{CommandHeader, ExtFields, RemotingCommand, request_code};

fn send() -> SendMessageRequestHeader {
    SendMessageRequestHeader {
        producer_group: "pg".to_owned(),
        topic: "T".to_owned(),
        default_topic: "TBW102".to_owned(),
        default_topic_queue_nums: 4,
        queue_id: -1,
        sys_flag: 1,
        born_timestamp: 1_700_000_000_000,
        flag: -7,
        properties: Some("TAGS\u{1}a\u{2}".to_owned()),
        reconsume_times: 2,
        unit_mode: true,
        max_reconsume_times: Some(3),
        batch: true,
    }
}

#[test]
fn both_name_sets_of_a_send_are_one_header() {
    let long = send().encode();
    let short = send().encode_v2();
    assert_eq!((long.get("queueId"), short.get("e")), (Some("-1"), Some("-1")));
    assert_eq!(short.iter().map(|(name, _)| name).collect::<String>(), "abcdefghijklm");
    for (code, fields) in [(10, &long), (324, &long), (310, &short), (320, &short), (325, &short)] {
        assert_eq!(SendMessageRequestHeader::decode_for(code, fields), Ok(send()), "{code}");
        assert_eq!(&send().encode_for(code), fields, "{code}");
    }
}

#[test]
fn absent_fields_get_their_defaults() {
    let mut short = send().encode_v2();
    for name in ["i", "j", "k", "l", "m"] {
        short.remove(name);
    }
    let read = SendMessageRequestHeader::decode_v2(&short).unwrap();
    assert_eq!((read.properties, read.reconsume_times, read.max_reconsume_times), (None, 0, None));
    assert!(!read.unit_mode && !read.batch);
    let reset = ResetOffsetRequestHeader::decode(&ExtFields::from_iter([
        ("topic", "T"),
        ("group", "g"),
        ("timestamp", "-1"),
        ("isForce", "TRUE"),
    ]));
    let expected = ResetOffsetRequestHeader {
        topic: "T".to_owned(),
        group: "g".to_owned(),
        timestamp: -1,
        is_force: true,
        ..Default::default()
    };
    assert_eq!(reset, Ok(expected.clone()));
    assert_eq!(expected.queue_id, -1);
}

#[test]
fn errors_name_the_field() {
    let mut fields = send().encode_v2();
    fields.remove("e");
    let missing = SendMessageRequestHeader::decode_v2(&fields).unwrap_err();
    assert_eq!(missing.to_string(), "SendMessageRequestHeaderV2: the field e is missing");
    fields.insert("e", "x\n");
    let malformed = SendMessageRequestHeader::decode_v2(&fields).unwrap_err();
    assert_eq!(
        malformed.to_string(),
        "SendMessageRequestHeaderV2: the field e must be a 32-bit integer, found `x\\n`"
    );
    fields.insert("e", "2147483648");
    assert!(SendMessageRequestHeader::decode_v2(&fields).is_err(), "beyond 32 bits");
    fields.insert("e", "");
    let empty = SendMessageRequestHeader::decode_v2(&fields).unwrap_err();
    assert_eq!(empty, HeaderError::Missing { header: "SendMessageRequestHeaderV2", field: "e" });
}

#[test]
fn commands_carry_headers() {
    let header = ConsumerGroupRequestHeader { consumer_group: "g".to_owned() };
    let request = RemotingCommand::request_with(request_code::GET_CONSUMER_LIST_BY_GROUP, &header);
    assert_eq!(request.decode_header(), Ok(header));
    let without = RemotingCommand::request(request_code::GET_CONSUMER_LIST_BY_GROUP);
    assert_eq!(
        without.decode_header::<ConsumerGroupRequestHeader>(),
        Err(HeaderError::Missing { header: "ConsumerGroupRequestHeader", field: "consumerGroup" })
    );
    assert_eq!(without.decode_header::<()>(), Ok(()));
}

#[test]
fn values_without_text_are_left_out() {
    let fields = RegisterBrokerResponseHeader::default().encode();
    assert!(fields.is_empty());
    let header = PullMessageResponseHeader { next_begin_offset: 5, ..Default::default() };
    let expected = ExtFields::from_iter([
        ("suggestWhichBrokerId", "0"),
        ("nextBeginOffset", "5"),
        ("minOffset", "0"),
        ("maxOffset", "0"),
    ]);
    assert_eq!(header.encode(), expected);
}
