//! The text fields of a header, as a set and under their types.

use crate::values::cases;
use broker_proc::remoting::headers::{
    PullMessageRequestHeader, PullMessageResponseHeader, SendMessageRequestHeader,
};
use broker_proc::remoting::{CommandHeader, ExtFields, request_code};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Change {
    Insert(String, String),
    Remove(String),
}

/// Names so few that they meet.
fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => ("[ab]{0,2}|é", ".{0,4}").prop_map(|(name, value)| Change::Insert(name, value)),
        1 => "[ab]{0,2}|é".prop_map(Change::Remove),
    ]
}

fn send_header() -> impl Strategy<Value = SendMessageRequestHeader> {
    let texts = any::<(String, String, String, Option<String>)>();
    let numbers = any::<(i32, i32, i32, i64, i32, i32, Option<i32>)>();
    (texts, numbers, any::<(bool, bool)>()).prop_map(|(texts, numbers, flags)| SendMessageRequestHeader {
        producer_group: texts.0,
        topic: texts.1,
        default_topic: texts.2,
        default_topic_queue_nums: numbers.0,
        queue_id: numbers.1,
        sys_flag: numbers.2,
        born_timestamp: numbers.3,
        flag: numbers.4,
        properties: texts.3,
        reconsume_times: numbers.5,
        unit_mode: flags.0,
        max_reconsume_times: numbers.6,
        batch: flags.1,
    })
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn fields_are_a_list_with_each_name_once(changes in prop::collection::vec(change(), 0..20)) {
        let mut fields = ExtFields::new();
        let mut expected: Vec<(String, String)> = Vec::new();
        for change in changes {
            match change {
                Change::Insert(name, value) => {
                    fields.insert(&name, &value);
                    match expected.iter_mut().find(|field| field.0 == name) {
                        Some(field) => field.1 = value,
                        None => expected.push((name, value)),
                    }
                }
                Change::Remove(name) => {
                    let before = expected.len();
                    expected.retain(|field| field.0 != name);
                    prop_assert_eq!(fields.remove(&name), expected.len() < before);
                }
            }
            prop_assert!(fields.iter().eq(expected.iter().map(|(name, value)| (&name[..], &value[..]))));
            prop_assert_eq!((fields.len(), fields.is_empty()), (expected.len(), expected.is_empty()));
            for (name, value) in &expected {
                prop_assert_eq!(fields.get(name), Some(&value[..]));
            }
        }
        let backwards: ExtFields = expected.iter().rev().map(|(name, value)| (name, value)).collect();
        prop_assert_eq!(fields, backwards);
    }

    #[test]
    fn the_header_of_a_send_comes_back_in_both_spellings(header in send_header()) {
        for code in [request_code::SEND_MESSAGE, request_code::SEND_MESSAGE_V2, request_code::SEND_BATCH_MESSAGE] {
            let fields = header.encode_for(code);
            prop_assert_eq!(&SendMessageRequestHeader::decode_for(code, &fields).unwrap(), &header);
            prop_assert_eq!(SendMessageRequestHeader::decode_for(code, &fields).unwrap().encode_for(code), fields);
        }
    }

    #[test]
    fn the_answer_to_a_pull_comes_back(places: (i64, i64, i64, i64), more: (Option<i64>, Option<i32>, Option<i32>)) {
        let header = PullMessageResponseHeader {
            suggest_which_broker_id: places.0,
            next_begin_offset: places.1,
            min_offset: places.2,
            max_offset: places.3,
            offset_delta: more.0,
            topic_sys_flag: more.1,
            group_sys_flag: more.2,
            forbidden_type: None,
        };
        prop_assert_eq!(PullMessageResponseHeader::decode(&header.encode()).unwrap(), header);
    }

    #[test]
    fn any_fields_are_a_header_that_comes_back_or_none(
        fields in prop::collection::vec((
            prop::sample::select(&[
                "consumerGroup", "topic", "queueId", "queueOffset", "maxMsgNums", "sysFlag", "commitOffset",
                "suspendTimeoutMillis", "subscription", "subVersion", "expressionType", "a", "b", "e",
            ][..]),
            "-?[0-9]{1,12}|[a-z*]{0,4}",
        ), 0..16),
    ) {
        let fields: ExtFields = fields.into_iter().collect();
        if let Ok(header) = PullMessageRequestHeader::decode(&fields) {
            prop_assert_eq!(PullMessageRequestHeader::decode(&header.encode()).unwrap(), header);
        }
        let _ = SendMessageRequestHeader::decode_v2(&fields);
    }
}
