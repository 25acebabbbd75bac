//! `QUERY_MESSAGE` by key, `VIEW_MESSAGE_BY_ID` by place.

use crate::in_process::{StoredMessage, TestBroker, TestClient, requests, stored_messages};
use broker_proc::remoting::headers::{
    QueryMessageRequestHeader, QueryMessageResponseHeader, UNIQUE_KEY_QUERY, ViewMessageRequestHeader,
};
use broker_proc::remoting::{RemotingCommand, request_code, response_code};
use store_core::message_id;

fn by_key(key: &str, max_num: i32, begin: i64, end: i64) -> RemotingCommand {
    let header = QueryMessageRequestHeader {
        topic: "Keys".to_owned(),
        key: key.to_owned(),
        max_num,
        begin_timestamp: begin,
        end_timestamp: end,
        index_type: None,
    };
    RemotingCommand::request_with(request_code::QUERY_MESSAGE, &header).with_field(UNIQUE_KEY_QUERY, "false")
}

fn by_id(offset: i64) -> RemotingCommand {
    let header = ViewMessageRequestHeader { offset, topic: None };
    RemotingCommand::request_with(request_code::VIEW_MESSAGE_BY_ID, &header)
}

async fn found(client: &TestClient, request: RemotingCommand) -> Vec<StoredMessage> {
    stored_messages(&client.ok(request).await.body)
}

fn bodies(messages: &[StoredMessage]) -> Vec<&str> {
    messages.iter().map(|message| message.body.as_str()).collect()
}

#[tokio::test]
async fn by_keys_and_unique_key() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    for (body, keys, unique) in [("a", "k1 k2", "U1"), ("b", "k2", "U2"), ("c", "k3", "U3")] {
        client.send("Keys", 0, body, &requests::properties(&[("KEYS", keys), ("UNIQ_KEY", unique)])).await;
    }
    client.send("Others", 0, "d", &requests::properties(&[("KEYS", "k2")])).await;
    client.until_dispatched("Keys", 0, 3).await;
    let all = i64::MAX;
    let answer = client.ok(by_key("k2", 32, 0, all)).await;
    let messages = stored_messages(&answer.body);
    assert_eq!(bodies(&messages), ["a", "b"]);
    let fields: QueryMessageResponseHeader = answer.decode_header().unwrap();
    assert!(fields.index_last_update_timestamp > 0 && fields.index_last_update_phyoffset > 0, "{fields:?}");
    assert_eq!(bodies(&found(&client, by_key("k1", 32, 0, all)).await), ["a"]);
    assert_eq!(bodies(&found(&client, by_key("U3", 32, 0, all)).await), ["c"]);
    assert_eq!(found(&client, by_key("k2", 1, 0, all)).await.len(), 1);
    let unique = by_key("U2", 0, 0, all).with_field(UNIQUE_KEY_QUERY, "true");
    assert_eq!(bodies(&found(&client, unique).await), ["b"]);

    let stored = messages[0].store_timestamp;
    for nothing in
        [by_key("k9", 32, 0, all), by_key("k1", 32, 0, stored - 1), by_key("k1", 32, stored + 1, all)]
    {
        let answer = client.call(nothing).await;
        assert_eq!(answer.code, response_code::QUERY_NOT_FOUND);
        assert_eq!(answer.remark.as_deref(), Some("can not find message, maybe time range not correct"));
        assert_eq!(answer.field("indexLastUpdatePhyoffset"), Some("0"));
    }
    broker.stop().await;
}

#[tokio::test]
async fn by_the_place_in_an_id() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.send("Ids", 0, "before", "").await;
    let sent = client.send("Ids", 0, "this", "").await;
    let (_, offset) = message_id::decode(&sent.msg_id).unwrap();
    let offset = i64::try_from(offset).unwrap();
    let messages = found(&client, by_id(offset)).await;
    assert_eq!((bodies(&messages), messages[0].physical_offset), (vec!["this"], offset));
    for nowhere in [offset + 1, i64::MAX, -1] {
        let remark = format!("can not find message by the offset, {nowhere}");
        assert_eq!(client.outcome(by_id(nowhere)).await, (response_code::SYSTEM_ERROR, remark));
    }
    broker.stop().await;
}
