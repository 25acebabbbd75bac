//! `GET_MAX_OFFSET`, `GET_MIN_OFFSET`, `SEARCH_OFFSET_BY_TIMESTAMP`, `GET_EARLIEST_MSG_STORETIME`.

use crate::in_process::{TestBroker, requests};
use broker_proc::remoting::headers::{
    OffsetResponseHeader, SearchOffsetRequestHeader, TimestampResponseHeader,
};
use broker_proc::remoting::{RemotingCommand, request_code};
use std::time::Duration;

#[tokio::test]
async fn an_unknown_queue_is_an_empty_one() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.ok(requests::create_topic("Empty", 1)).await;
    for (topic, queue_id) in [("Unknown", 0), ("Empty", 0), ("Empty", 99), ("Empty", -1)] {
        for code in [request_code::GET_MAX_OFFSET, request_code::GET_MIN_OFFSET] {
            let answer = client.ok(requests::queue(code, topic, queue_id)).await;
            assert_eq!(
                answer.decode_header::<OffsetResponseHeader>().unwrap().offset,
                0,
                "{topic} {queue_id}"
            );
        }
        let code = request_code::GET_EARLIEST_MSG_STORETIME;
        let answer = client.ok(requests::queue(code, topic, queue_id)).await;
        assert_eq!(
            answer.decode_header::<TimestampResponseHeader>().unwrap().timestamp,
            -1,
            "{topic} {queue_id}"
        );
    }
    broker.stop().await;
}

#[tokio::test]
async fn offsets_by_time_from_both_sides() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    for body in ["a", "b", "c"] {
        client.send("Times", 0, body, "").await;
        broker.skip(Duration::from_secs(10));
    }
    client.until_dispatched("Times", 0, 3).await;
    let (_, messages) = client.pull(&requests::pull_header("readers", "Times", 0, 0), 0).await;
    let times: Vec<i64> = messages.iter().map(|message| message.store_timestamp).collect();

    let earliest = client.ok(requests::queue(request_code::GET_EARLIEST_MSG_STORETIME, "Times", 0)).await;
    assert_eq!(earliest.decode_header::<TimestampResponseHeader>().unwrap().timestamp, times[0]);
    let cases = [
        (times[0] - 1, 0, 0, "older than all"),
        (times[0], 0, 0, "the first"),
        (times[1] - 1, 1, 0, "before the second"),
        (times[1], 1, 1, "the second"),
        (times[1] + 1, 2, 1, "behind the second"),
        (times[2], 2, 2, "the last"),
        (times[2] + 1, 3, 2, "newer than all"),
        (i64::MAX, 3, 2, "the end of time"),
        (i64::MIN, 0, 0, "before time"),
    ];
    for (timestamp, lower, upper, what) in cases {
        for (boundary_type, expected) in [(None, lower), (Some("LOWER"), lower), (Some("UPPER"), upper)] {
            let header = SearchOffsetRequestHeader {
                topic: "Times".to_owned(),
                queue_id: 0,
                timestamp,
                boundary_type: boundary_type.map(str::to_owned),
            };
            let code = request_code::SEARCH_OFFSET_BY_TIMESTAMP;
            let answer = client.ok(RemotingCommand::request_with(code, &header)).await;
            let found = answer.decode_header::<OffsetResponseHeader>().unwrap().offset;
            assert_eq!(found, expected, "{what}, {boundary_type:?}");
        }
    }
    broker.stop().await;
}
