//! `SEND_BATCH_MESSAGE`: several messages of one queue in one body.

use crate::in_process::{TestBroker, TestClient, requests};
use broker_proc::remoting::headers::{SendMessageRequestHeader, SendMessageResponseHeader};
use broker_proc::remoting::{RemotingCommand, request_code, response_code};
use store_core::message_id;

fn batch(topic: &str, properties: &str, body: Vec<u8>) -> RemotingCommand {
    let header = SendMessageRequestHeader {
        batch: true,
        properties: Some(properties.to_owned()),
        ..requests::send_header(topic, 1)
    };
    requests::send_with(request_code::SEND_BATCH_MESSAGE, &header, body)
}

#[tokio::test]
async fn field_F48_each_message_of_a_batch_has_its_own_id() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.send("Batch", 1, "before", "").await;
    let tagged = requests::properties(&[("TAGS", "TagA"), ("UNIQ_KEY", "U2")]);
    let body = requests::batch_body(&[("first", ""), ("second", &tagged), ("", "")]);
    let sent: SendMessageResponseHeader = client.ok(batch("Batch", "", body)).await.decode_header().unwrap();
    assert_eq!((sent.queue_id, sent.queue_offset), (1, 1));
    client.until_dispatched("Batch", 1, 4).await;
    let (_, stored) = client.pull(&requests::pull_header("readers", "Batch", 1, 1), 0).await;
    assert_eq!(
        stored.iter().map(|message| message.body.as_str()).collect::<Vec<_>>(),
        ["first", "second", ""]
    );
    assert!(stored.iter().all(|message| message.flag == 7 && message.topic == "Batch"), "{stored:?}");
    assert_eq!((stored[1].property("TAGS"), stored[1].property("UNIQ_KEY")), ("TagA", "U2"));
    assert_eq!(stored[0].properties, "", "what the header says is not copied into the messages");
    let ids: Vec<_> = sent.msg_id.split(',').map(|id| message_id::decode(id).unwrap().1).collect();
    let places: Vec<_> =
        stored.iter().map(|message| u64::try_from(message.physical_offset).unwrap()).collect();
    assert_eq!(ids, places, "one id a message");
    broker.stop().await;
}

async fn refused(client: &TestClient, request: RemotingCommand) -> String {
    let (code, remark) = client.outcome(request).await;
    assert_eq!(code, response_code::MESSAGE_ILLEGAL, "{remark}");
    remark
}

#[tokio::test]
async fn a_batch_is_stored_whole_or_not_at_all() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let whole = requests::batch_body(&[("first", ""), ("second", "")]);
    client.ok(requests::create_topic("Whole", 2)).await;
    for len in 0..whole.len() {
        let cut = whole[..len].to_vec();
        if len == whole.len() / 2 - 1 {
            assert!(
                refused(&client, batch("Whole", "", cut)).await.contains("batch entry 0 at byte 0: cut off")
            );
        } else if len != requests::batch_body(&[("first", "")]).len() {
            refused(&client, batch("Whole", "", cut)).await;
        }
    }
    let large = "b".repeat(65_537);
    refused(&client, batch("Whole", "", requests::batch_body(&[("fits", ""), (&large, "")]))).await;
    let delayed = requests::properties(&[("DELAY", "2")]);
    assert_eq!(refused(&client, batch("Whole", &delayed, whole.clone())).await, "a batch cannot be delayed");
    assert_eq!(
        refused(&client, batch("%RETRY%group", "", whole.clone())).await,
        "batch request does not support retry group %RETRY%group"
    );
    client.ok(batch("Whole", "", whole)).await;
    client.until_dispatched("Whole", 1, 2).await;
    broker.stop().await;
}

#[tokio::test]
async fn the_field_and_not_the_code_makes_a_batch() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    let body = requests::batch_body(&[("first", ""), ("second", "")]);
    let header = SendMessageRequestHeader { batch: true, ..requests::send_header("Field", 0) };
    client.ok(requests::send_with(request_code::SEND_MESSAGE, &header, body.clone())).await;
    client.until_dispatched("Field", 0, 2).await;
    let header = SendMessageRequestHeader { batch: false, ..header };
    client.ok(requests::send_with(request_code::SEND_BATCH_MESSAGE, &header, body)).await;
    client.until_dispatched("Field", 0, 3).await;
    broker.stop().await;
}
